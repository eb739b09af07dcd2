"""A stand-in for the module ``cupti.cupti``: the same names, and records with the same attributes.

Names and numbers are those of cupti-python 13.0.1; ``test_adapter.py`` compares them with the
package where it is installed. No record was taken from a GPU.
"""

from __future__ import annotations

import enum
import time
from types import SimpleNamespace


class ActivityKind(enum.IntEnum):
    MEMCPY = 1
    MEMSET = 2
    DRIVER = 4
    RUNTIME = 5
    DEVICE = 8
    CONCURRENT_KERNEL = 10
    OVERHEAD = 17
    MEMCPY2 = 22


class CallbackDomain(enum.IntEnum):
    DRIVER_API = 1
    RUNTIME_API = 2


class CuptiError(Exception):
    def __init__(self, status):
        super().__init__(f"ERROR ({status})")
        self.status = status


def kernel(start, end, correlation, *, name="gemm", device=0, stream=7, **changes):
    values = {
        "kind": ActivityKind.CONCURRENT_KERNEL, "start": start, "end": end, "device_id": device,
        "context_id": 1, "stream_id": stream, "correlation_id": correlation, "name": name,
        "grid_x": 80, "grid_y": 2, "grid_z": 1, "block_x": 256, "block_y": 1, "block_z": 1,
        "registers_per_thread": 64, "static_shared_memory": 1024, "dynamic_shared_memory": 512,
    }  # fmt: skip
    return SimpleNamespace(**values | changes)


def copy(start, end, correlation, *, kind=1, size=4096, device=0, stream=8):
    return SimpleNamespace(
        kind=ActivityKind.MEMCPY, start=start, end=end, device_id=device, context_id=1,
        stream_id=stream, correlation_id=correlation, bytes=size, copy_kind=kind, src_kind=2,
        dst_kind=3, flags_=1,
    )  # fmt: skip


def fill(start, end, correlation, *, device=0, stream=7):
    return SimpleNamespace(
        kind=ActivityKind.MEMSET, start=start, end=end, device_id=device, context_id=1,
        stream_id=stream, correlation_id=correlation, bytes=64, value=0, memory_kind=3, flags_=0,
    )  # fmt: skip


def call(start, end, correlation, *, thread=42, cbid=211, kind=ActivityKind.RUNTIME):
    return SimpleNamespace(
        kind=kind, start=start, end=end, thread_id=thread, process_id=1, cbid=cbid,
        correlation_id=correlation, return_value=0,
    )  # fmt: skip


def overhead(start, end, kind=1 << 16):
    return SimpleNamespace(
        kind=ActivityKind.OVERHEAD, start=start, end=end, overhead_kind=kind, correlation_id=0
    )


def device(number=0, name="NVIDIA A100-SXM4-40GB"):
    return SimpleNamespace(
        kind=ActivityKind.DEVICE, id=number, name=name, num_multiprocessors=108,
        core_clock_rate=1_410_000, global_memory_bandwidth=1_555_200_000,
        global_memory_size=40 << 30, compute_capability_major=8, compute_capability_minor=0,
        max_registers_per_multiprocessor=65536, max_shared_memory_per_multiprocessor=167936,
        max_warps_per_multiprocessor=64, max_blocks_per_multiprocessor=32,
    )  # fmt: skip


class Cupti:
    """The module, with what a GPU would deliver.

    Args:
        buffers: Records, buffer by buffer, that the last flush delivers.
        dropped: Records that CUPTI says it dropped.
        fails: What to raise from which function.
        without: Functions and kinds that these bindings do not have.
        ahead_ns: How much later it is on CUPTI's clock.
    """

    ActivityKind, CallbackDomain = ActivityKind, CallbackDomain
    ActivityThreadIdType = SimpleNamespace(DEFAULT=0, SYSTEM=1)
    SUBSCRIBER_PARAMS_SIZE = 40

    def __init__(self, *buffers, dropped=0, fails=None, without=(), ahead_ns=0):
        self._buffers, self._dropped, self._fails = buffers, dropped, fails or {}
        self._without, self._ahead_ns = without, ahead_ns
        self.log = []
        self.enabled = set()
        self._is_dumped = False
        self.subscribed = 0
        self._completed = None

    def __getattr__(self, name):
        if name in self.__dict__.get("_without", ()) or not hasattr(type(self), f"do_{name}"):
            raise AttributeError(name)

        def function(*args):
            self.log.append(name)
            if name in self._fails:
                raise self._fails[name]
            return getattr(self, f"do_{name}")(*args)

        return function

    class SubscriberParams:
        ptr = 1

    def do_subscribe_v2(self, callback, data, params):
        self.subscribed += 1
        return "subscriber"

    def do_subscribe(self, callback, data):
        self.subscribed += 1
        return "subscriber"

    def do_unsubscribe(self, subscriber):
        self.subscribed -= 1

    def do_set_thread_id_type(self, kind):
        pass

    def do_activity_register_callbacks(self, requested, completed):
        assert requested()[0] > 0
        self._completed = completed

    def do_activity_enable(self, kind):
        if kind.name in self._without:
            raise NotImplementedError(f"Activity Kind {kind.name} not supported")
        self.enabled.add(kind)

    def do_activity_enable_and_dump(self, kind):
        """As NVIDIA's header says: dumps what is there already, and needs the callbacks for it."""
        assert self._completed is not None
        self.do_activity_enable(kind)
        self._is_dumped |= kind == ActivityKind.DEVICE

    def do_activity_disable(self, kind):
        self.enabled.discard(kind)

    def do_activity_flush_all(self, flag):
        if flag == 1:
            for buffer in self._buffers:
                self._completed([one for one in buffer if self._is_delivered(one)])

    def _is_delivered(self, record):
        """Devices are recorded when the driver is initialised, long ago, and when dumped."""
        return record.kind != ActivityKind.DEVICE or self._is_dumped

    def do_activity_get_num_dropped_records(self, context, stream, address):
        import ctypes

        ctypes.c_size_t.from_address(address).value = self._dropped

    def do_get_timestamp(self):
        return time.time_ns() + self._ahead_ns

    def do_get_callback_name(self, domain, cbid):
        return f"{'cuda' if domain == 2 else 'cu'}LaunchKernel_v{cbid}"
