"""The only module that touches cupti-python: a session that fills ``Records``.

CUPTI calls back from any thread that calls CUDA, with locks of its own held. So callbacks copy the
values of a record, which live in CUPTI's buffer, and do nothing else: they call no CUDA and never
raise. Only attributes are read that the oldest record layout has, as bindings that are newer than
the library decode later ones from foreign bytes.

Nothing here has run on a GPU yet (``docs/gpu.md``).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from collections.abc import Callable, Iterable
from typing import Any

from tfprof.errors import InputError
from tfprof.gpu.records import Api, Copy, Fill, Kernel, Overhead, Records
from tfprof.gpu.status import Status, of_code, of_error

_BUFFER_BYTES = 8 << 20
_WANTED = ("CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMSET", "RUNTIME", "DRIVER", "OVERHEAD")
_PEER_COPY = 10
_NAME = "tfprof"
_OLDEST_PARAMS_BYTES = 32
"""libcupti 13.0 takes exactly this size of ``SubscriberParams``, also from newer bindings."""
_INVALID_PARAMETER = 1

_flush_all, _flush_complete = 1, 0


class GpuError(InputError):
    """GPU activity cannot be recorded; ``status`` says why."""

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
    except Exception as error:  # a missing part of it is none of its own errors
        raise GpuError(of_code("bindings_missing", f"{type(error).__name__}: {error}")) from error


def probe(load: Callable[[], Any] = bindings) -> Status:
    """Whether GPU activity can be recorded now; records nothing.

    Args:
        load: Loads the bindings.
    """
    session = GpuSession(load)
    try:
        session.start()
    except GpuError as error:
        return error.status
    session.stop(lambda: None)
    return Status("ok", "GPU activity can be recorded")


class GpuSession:
    """One session of CUPTI in this process; used once.

    Args:
        load: Loads the bindings.
        most_records: Records beyond these are counted as dropped.
    """

    def __init__(self, load: Callable[[], Any] = bindings, most_records: int = 4_000_000) -> None:
        self._load, self._room = load, most_records
        self.records = Records()
        self._cupti: Any = None
        self._kinds: list[Any] = []
        self._subscriber: Any = None
        self._readers: dict[int, Callable[[Any], None]] = {}
        self._names: dict[tuple[bool, int], str] = {}

    def start(self) -> None:
        """Claim CUPTI, and record from now on.

        Raises:
            GpuError: It cannot; the program goes on as before.
        """
        self._cupti = cupti = self._load()
        try:
            self._subscriber = self._claimed()
            with contextlib.suppress(Exception):  # else threads have other numbers
                cupti.set_thread_id_type(cupti.ActivityThreadIdType.SYSTEM)
            cupti.activity_register_callbacks(self._requested, self._completed)
            for name in _WANTED:
                self._enable(name)
        except Exception as error:
            self._abandon()
            if isinstance(error, GpuError):
                raise
            raise GpuError(of_error(error)) from error

    def stop(self, synchronize: Callable[[], None]) -> Records:
        """End the session.

        Args:
            synchronize: Waits until the GPU has done what it was given; CUPTI does not.

        Returns:
            What was recorded.

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
                is_refused = getattr(error, "status", None) == _INVALID_PARAMETER
                if not is_refused and type(error).__name__ != "FunctionNotFoundError":
                    raise
        return cupti.subscribe(self._callback, None)

    def _enable(self, name: str) -> None:
        cupti = self._cupti
        kind = getattr(cupti.ActivityKind, name, None)
        if kind is None:
            return
        try:
            cupti.activity_enable(kind)
        except NotImplementedError:  # older bindings do not read RUNTIME
            return
        self._kinds.append(kind)
        self._readers[int(kind)] = {
            "CONCURRENT_KERNEL": self._kernel, "MEMCPY": self._copy, "MEMCPY2": self._peer_copy,
            "MEMSET": self._fill, "RUNTIME": self._runtime, "DRIVER": self._driver,
            "OVERHEAD": self._overhead,
        }[name]  # fmt: skip

    def _n_dropped(self) -> int:
        dropped = ctypes.c_size_t(0)
        try:
            self._cupti.activity_get_num_dropped_records(0, 0, ctypes.addressof(dropped))
        except Exception:  # not all libraries have it
            return 0
        return dropped.value

    def _abandon(self) -> None:
        """Give CUPTI back; what fails now must not hide why."""
        for kind in self._kinds:
            with contextlib.suppress(Exception):
                self._cupti.activity_disable(kind)
        self._kinds = []
        if self._subscriber is not None:
            with contextlib.suppress(Exception):
                self._cupti.unsubscribe(self._subscriber)
            self._subscriber = None

    # Called by CUPTI

    def _requested(self) -> tuple[int, int]:
        return _BUFFER_BYTES, 0

    def _completed(self, activities: Iterable[Any]) -> None:
        try:
            for record in activities:
                self._read(record)
        except BaseException as error:
            self._count(error)

    def _read(self, record: Any) -> None:
        if self._room <= 0:
            self.records.n_dropped += 1
            return
        try:
            reader = self._readers.get(int(record.kind))
            if reader is not None:
                reader(record)
                self._room -= 1
        except Exception as error:
            self._count(error)

    def _count(self, error: BaseException) -> None:
        self.records.n_unread += 1
        self.records.problem = self.records.problem or f"{type(error).__name__}: {error}"

    def _kernel(self, record: Any) -> None:
        self.records.activities.append(
            Kernel(
                *_place(record), str(record.name),
                (int(record.grid_x), int(record.grid_y), int(record.grid_z)),
                (int(record.block_x), int(record.block_y), int(record.block_z)),
                int(record.registers_per_thread), int(record.static_shared_memory),
                int(record.dynamic_shared_memory),
            )
        )  # fmt: skip

    def _copy(self, record: Any, kind: int | None = None) -> None:
        self.records.activities.append(
            Copy(
                *_place(record), int(record.bytes),
                int(record.copy_kind) if kind is None else kind,
                int(record.src_kind), int(record.dst_kind), bool(int(record.flags_) & 1),
            )
        )  # fmt: skip

    def _peer_copy(self, record: Any) -> None:
        self._copy(record, _PEER_COPY)

    def _fill(self, record: Any) -> None:
        self.records.activities.append(
            Fill(
                *_place(record), int(record.bytes), int(record.memory_kind),
                bool(int(record.flags_) & 1),
            )
        )  # fmt: skip

    def _runtime(self, record: Any) -> None:
        self._call(record, True)

    def _driver(self, record: Any) -> None:
        self._call(record, False)

    def _call(self, record: Any, is_runtime: bool) -> None:
        key = is_runtime, int(record.cbid)
        if key not in self._names:
            domains = self._cupti.CallbackDomain
            domain = domains.RUNTIME_API if is_runtime else domains.DRIVER_API
            try:
                self._names[key] = str(self._cupti.get_callback_name(domain, key[1]))
            except Exception:
                self._names[key] = f"call {key[1]}"
        self.records.calls.append(
            Api(
                int(record.start), int(record.end), int(record.thread_id),
                int(record.correlation_id), self._names[key], is_runtime,
            )
        )  # fmt: skip

    def _overhead(self, record: Any) -> None:
        self.records.overheads.append(
            Overhead(int(record.start), int(record.end), int(record.overhead_kind))
        )


def _place(record: Any) -> tuple[int, int, int, int, int, int]:
    """Times, device, context, stream and correlation, which all activities have."""
    return (
        int(record.start), int(record.end), int(record.device_id), int(record.context_id),
        int(record.stream_id), int(record.correlation_id),
    )  # fmt: skip
