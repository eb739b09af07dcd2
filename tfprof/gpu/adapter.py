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
import importlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from tfprof.errors import InputError
from tfprof.gpu.kernel_names import demangled, plain_call
from tfprof.gpu.occupancy import Multiprocessor
from tfprof.gpu.records import Api, Copy, Fill, Gpu, Kernel, Overhead, Records
from tfprof.gpu.status import Status, of_code, of_error, of_import

_BUFFER_BYTES = 8 << 20
_WANTED = (
    "DEVICE", "CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMSET", "RUNTIME", "DRIVER", "OVERHEAD",
)  # fmt: skip
_NEEDED = "CONCURRENT_KERNEL"
_LATER_SECONDS = 0.05
_SAME_CLOCK_NS = 1_000_000
_PEER_COPY = 10
_NAME = "tfprof"
_OLDEST_PARAMS_BYTES = 32
"""libcupti 13.0 takes exactly this size of ``SubscriberParams``, also from newer bindings."""
_INVALID_PARAMETER, _BUSY = 1, 39

_flush_all, _flush_complete = 1, 0
_THREAD_BITS = (1 << 32) - 1

Timed = TypeVar("Timed", bound=Any)


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
        raise GpuError(of_import(error)) from error


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
            for name in _WANTED:
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
        except Exception as error:
            if name == _NEEDED or isinstance(getattr(error, "status", None), int):
                raise
            return  # older bindings do not read RUNTIME
        self._kinds.append(kind)
        self._readers[int(kind)] = {
            "DEVICE": self._gpu, "CONCURRENT_KERNEL": self._kernel, "MEMCPY": self._copy,
            "MEMCPY2": self._peer_copy, "MEMSET": self._fill, "RUNTIME": self._runtime,
            "DRIVER": self._driver, "OVERHEAD": self._overhead,
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

    def _compared(self) -> int:
        """How much later it is on CUPTI's clock: nothing, but in WSL."""
        before_ns = time.time_ns()
        stamp_ns = int(self._cupti.get_timestamp())
        after_ns = time.time_ns()
        if before_ns - _SAME_CLOCK_NS <= stamp_ns <= after_ns + _SAME_CLOCK_NS:
            return 0
        return stamp_ns - (before_ns + after_ns) // 2

    def _finish(self) -> None:
        """Names and clocks, for which callbacks have no time."""
        records = self.records
        names: dict[tuple[bool, str], str] = {}
        for call in records.calls:
            key = call.is_runtime, call.name
            if key not in names:
                names[key] = self._name(*key)
        kernels: dict[str, str] = {}
        for one in records.activities:
            if isinstance(one, Kernel) and one.name not in kernels:
                kernels[one.name] = demangled(one.name)
        records.calls = [
            self._on_time(call)._replace(name=names[call.is_runtime, call.name])
            for call in records.calls
        ]
        records.overheads = [self._on_time(one) for one in records.overheads]
        records.activities = [
            self._on_time(one)._replace(name=kernels[one.name])
            if isinstance(one, Kernel)
            else self._on_time(one)
            for one in records.activities
        ]

    def _on_time(self, one: Timed) -> Timed:
        if not self._ahead_ns or not one.start_ns:
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
        try:
            for record in activities:
                self._read(record)
        except BaseException as error:
            self._count(error)
            if isinstance(error, KeyboardInterrupt):
                threading.Timer(_LATER_SECONDS, _thread.interrupt_main).start()

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
        self.records.calls.append(
            Api(
                int(record.start), int(record.end), int(record.thread_id) & _THREAD_BITS,
                int(record.correlation_id), str(int(record.cbid)), is_runtime,
            )
        )  # fmt: skip

    def _gpu(self, record: Any) -> None:
        self.records.gpus[int(record.id)] = Gpu(
            str(record.name), int(record.num_multiprocessors), int(record.core_clock_rate),
            int(record.global_memory_bandwidth) * 1000, int(record.global_memory_size),
            int(record.compute_capability_minor),
            Multiprocessor(
                int(record.compute_capability_major),
                int(record.max_registers_per_multiprocessor),
                int(record.max_shared_memory_per_multiprocessor),
                int(record.max_warps_per_multiprocessor),
                int(record.max_blocks_per_multiprocessor),
            ),
        )  # fmt: skip

    def _overhead(self, record: Any) -> None:
        self.records.overheads.append(
            Overhead(int(record.start), int(record.end), int(record.overhead_kind))
        )


def _holder(params: Any) -> str:
    """Who is CUPTI's client; the field is not always filled, and then may not be readable."""
    try:
        name = str(params.old_subscriber_name or "")
    except Exception:
        name = ""
    return f", held by {name}" if name.isprintable() and name else ""


def _place(record: Any) -> tuple[int, int, int, int, int, int]:
    """Times, device, context, stream and correlation, which all activities have."""
    return (
        int(record.start), int(record.end), int(record.device_id), int(record.context_id),
        int(record.stream_id), int(record.correlation_id),
    )  # fmt: skip
