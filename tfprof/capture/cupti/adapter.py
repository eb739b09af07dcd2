"""The only module that touches cupti-python: a session that fills ``Records``.

CUPTI calls back from any thread that calls CUDA, with locks of its own held. So callbacks copy the
values of a record, which live in CUPTI's buffer, and do nothing else: they call no CUDA and never
raise; a Ctrl-C that meets one is handed on when it is over. Only attributes are read that the
oldest record layout has, as bindings that are newer than the library decode later ones from
foreign bytes.

Nothing here has run on a GPU yet (``docs/gpu.md``).
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import functools
import importlib
import re
import threading
import time
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, TypeVar, cast

from tfprof.capture.cupti.records import FIELDS, Kernel, Records, Row, add_row
from tfprof.capture.cupti.status import Status, of_code, of_error, of_import
from tfprof.errors import InputError

_BUFFER_BYTES = 8 << 20
_NEEDED, _DUMPED = "CONCURRENT_KERNEL", "DEVICE"
_NO_FUNCTION = "FunctionNotFoundError"
"""Error of the bindings if libcupti is older than they are."""
_LATER_SECONDS = 0.05
_SAME_CLOCK_NS = 1_000_000
_NAME = "tfprof"
_OLDEST_PARAMS_BYTES = 32
"""libcupti 13.0 takes exactly this size of ``SubscriberParams``, also from newer bindings."""
_INVALID_PARAMETER, _BUSY = 1, 39

_flush_all, _flush_complete = 1, 0

_VERSION = re.compile(r"_v\d{4,}(?=$|_)")

Timed = TypeVar("Timed", bound=Any)


class GpuError(InputError):
    """GPU activity cannot be recorded; ``status`` has the reason."""

    def __init__(self, status: Status) -> None:
        super().__init__(f"GPU activity cannot be recorded: {status}")
        self.status = status


def bindings() -> Any:
    """The module ``cupti``.

    Raises:
        GpuError: It is not installed, or does not load.
    """
    try:
        return importlib.import_module("cupti.cupti")
    except Exception as error:  # a missing part of it raises errors of other types
        raise GpuError(of_import(error)) from error


class GpuSession:
    """One session of CUPTI in this process; used once.

    Args:
        load: Loads the bindings.
        most_records: Records of a kind beyond these are counted as dropped.
    """

    def __init__(self, load: Callable[[], Any] = bindings, most_records: int = 1 << 20) -> None:
        self._load, self._room = load, most_records
        self.records = Records()
        self._cupti: Any = None
        self._kinds: list[Any] = []
        self._subscriber: Any = None
        self._rows: dict[str, list[Row]] = {name: [] for name in FIELDS}
        self._tables: dict[int, tuple[Callable[[Any], Row], list[Row]]] = {}
        self._ahead_ns = 0

    def start(self) -> None:
        """Claim CUPTI, and record from now on.

        Raises:
            GpuError: It cannot; the program goes on as before.
        """
        self._cupti = cupti = self._load()
        try:
            self._subscriber = self._claimed()
            with contextlib.suppress(Exception):  # the default, by which threads.py joins them
                cupti.set_thread_id_type(cupti.ActivityThreadIdType.DEFAULT)
            cupti.activity_register_callbacks(self._requested, self._completed)
            for name in FIELDS:
                self._enable(name)
            self._ahead_ns = self._compared()
        except Exception as error:
            self._abandon()
            if isinstance(error, GpuError):
                raise
            raise GpuError(of_error(error)) from error

    def stop(self, synchronize: Callable[[], None]) -> Records:
        """End the session.

        Args:
            synchronize: Waits until the GPU has finished its work; CUPTI does not.

        Returns:
            The records.

        Raises:
            GpuError: The records could not be fetched.
        """
        cupti = self._cupti
        try:
            synchronize()
            cupti.activity_flush_all(_flush_complete)
            for kind in self._kinds:
                cupti.activity_disable(kind)
            cupti.activity_flush_all(_flush_all)
            self.records.n_dropped += self._n_dropped()
        except Exception as error:
            raise GpuError(of_error(error)) from error
        finally:
            self._abandon()
        self._finish()
        timed = len(self.records.timed())
        self.records.n_without_time = len(self.records.activities) - timed
        return self.records

    def _claimed(self) -> Any:
        """Subscribe, so that another client is noticed instead of robbed of its records."""
        cupti = self._cupti
        self._callback = lambda *_: None  # must live as long as the subscription
        if not hasattr(cupti, "subscribe_v2"):
            return cupti.subscribe(self._callback, None)
        for size in dict.fromkeys((cupti.SUBSCRIBER_PARAMS_SIZE, _OLDEST_PARAMS_BYTES)):
            self._params = cupti.SubscriberParams()
            self._params.struct_size, self._params.subscriber_name = size, _NAME
            try:
                return cupti.subscribe_v2(self._callback, None, self._params.ptr)
            except Exception as error:
                status = getattr(error, "status", None)
                if status == _BUSY:
                    seen = f"{error}{_holder(self._params)}"
                    raise GpuError(of_code("busy", seen)) from error
                is_refused = status == _INVALID_PARAMETER
                if not is_refused and type(error).__name__ != _NO_FUNCTION:
                    raise
        return cupti.subscribe(self._callback, None)

    def _enable(self, name: str) -> None:
        cupti = self._cupti
        kind = getattr(cupti.ActivityKind, name, None)
        if kind is None:
            return
        try:
            if name == _DUMPED:
                self._enable_and_dump(kind)
            else:
                cupti.activity_enable(kind)
        except Exception as error:
            if name == _NEEDED or isinstance(getattr(error, "status", None), int):
                raise
            return  # older bindings do not read RUNTIME
        self._kinds.append(kind)
        self._tables[int(kind)] = attrgetter(*FIELDS[name]), self._rows[name]

    def _enable_and_dump(self, kind: Any) -> None:
        """CUPTI records devices when the driver is initialised; later they have to be dumped."""
        cupti = self._cupti
        try:
            cupti.activity_enable_and_dump(kind)
        except Exception as error:
            is_missing = isinstance(error, AttributeError)
            if not is_missing and type(error).__name__ != _NO_FUNCTION:
                raise
            cupti.activity_enable(kind)

    def _n_dropped(self) -> int:
        dropped = ctypes.c_size_t(0)
        try:
            self._cupti.activity_get_num_dropped_records(0, 0, ctypes.addressof(dropped))
        except Exception:  # not all libraries have it
            return 0
        return dropped.value

    def _abandon(self) -> None:
        """Release CUPTI; errors here must not hide the first one."""
        for kind in self._kinds:
            with contextlib.suppress(Exception):
                self._cupti.activity_disable(kind)
        self._kinds = []
        if self._subscriber is not None:
            with contextlib.suppress(Exception):
                self._cupti.unsubscribe(self._subscriber)
            self._subscriber = None

    def _compared(self) -> int:
        """How much CUPTI's clock is ahead: 0, except in WSL."""
        before_ns = time.time_ns()
        stamp_ns = int(self._cupti.get_timestamp())
        after_ns = time.time_ns()
        if before_ns - _SAME_CLOCK_NS <= stamp_ns <= after_ns + _SAME_CLOCK_NS:
            return 0
        return stamp_ns - (before_ns + after_ns) // 2

    def _finish(self) -> None:
        """Complete names and clocks, for which callbacks have no time."""
        records = self.records
        for kind, rows in self._rows.items():
            for row in rows:
                try:
                    add_row(records, kind, row)
                except (TypeError, ValueError) as error:
                    self._count(error)
            rows.clear()
        records.keep_outer_calls()
        name_of, plain = functools.cache(self._name), functools.cache(demangled)
        records.calls = [
            call._replace(name=name_of(call.is_runtime, call.name)) for call in records.calls
        ]
        records.activities = [
            one._replace(name=plain(one.name)) if isinstance(one, Kernel) else one
            for one in records.activities
        ]
        if self._ahead_ns:
            records.calls = [self._on_time(one) for one in records.calls]
            records.overheads = [self._on_time(one) for one in records.overheads]
            records.activities = [self._on_time(one) for one in records.activities]

    def _on_time(self, one: Timed) -> Timed:
        if not one.start_ns:
            return one
        start_ns, end_ns = one.start_ns - self._ahead_ns, one.end_ns - self._ahead_ns
        return cast(Timed, one._replace(start_ns=start_ns, end_ns=end_ns))

    def _name(self, is_runtime: bool, number: str) -> str:
        domains = self._cupti.CallbackDomain
        domain = domains.RUNTIME_API if is_runtime else domains.DRIVER_API
        try:
            name = str(self._cupti.get_callback_name(domain, int(number)))
        except Exception:
            return f"call {number}"
        return plain_call(name) if is_runtime else name

    # Called by CUPTI

    def _requested(self) -> tuple[int, int]:
        return _BUFFER_BYTES, 0

    def _completed(self, activities: Iterable[Any]) -> None:
        tables, room = self._tables, self._room
        try:
            for record in activities:
                try:
                    table = tables.get(record.kind)
                    if table is None:
                        continue
                    read, rows = table
                    if len(rows) < room:
                        rows.append(read(record))
                    else:
                        self.records.n_dropped += 1
                except Exception as error:
                    self._count(error)
        except BaseException as error:
            self._count(error)
            if isinstance(error, KeyboardInterrupt):
                threading.Timer(_LATER_SECONDS, _thread.interrupt_main).start()

    def _count(self, error: BaseException) -> None:
        self.records.n_unread += 1
        self.records.problem = self.records.problem or f"{type(error).__name__}: {error}"


def _holder(params: Any) -> str:
    """The name of CUPTI's client; the field is not always filled, and may be unreadable then."""
    try:
        name = str(params.old_subscriber_name or "")
    except Exception:
        name = ""
    return f", held by {name}" if name.isprintable() and name else ""


def plain_call(name: str) -> str:
    """``cudaLaunchKernel`` for ``cudaLaunchKernel_v7000``; ``_v2`` belongs to a name."""
    return _VERSION.sub("", name)


def demangled(name: str) -> str:
    """The name of a kernel in its source; unchanged if it is not mangled."""
    if not name.startswith("_Z"):  # "f" would become "float"
        return name
    demangle = _demangler()
    return name if demangle is None else demangle(name)


@functools.cache
def _demangler() -> Callable[[str], str] | None:
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError, TypeError):
        return None
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.argtypes = [ctypes.c_void_p]

    def plain(name: str) -> str:
        status = ctypes.c_int(0)
        text = demangle(name.encode("utf-8", "replace"), None, None, ctypes.addressof(status))
        if not text:
            return name
        try:
            return ctypes.string_at(text).decode("utf-8", "replace")
        finally:
            free(text)

    return plain
