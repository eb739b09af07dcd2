"""Records a moment of work of the GPU, and reports the result: ``tfprof doctor --gpu``.

It runs in its own process (``python -m tfprof.capture.cupti.self_test``): mismatched bindings and
libraries have crashed, and callbacks that need Python's lock can hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import platform
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, get_args

from tfprof.capture.cupti.adapter import GpuError, GpuSession
from tfprof.capture.cupti.cuda import driver_facts, primary_context, synchronize
from tfprof.capture.cupti.records import Copy, Fill, Kernel, Records
from tfprof.capture.cupti.status import Code, Status, of_code, of_error

_PACKAGES = (
    "cupti-python", "nvidia-cuda-cupti", "nvidia-cuda-cupti-cu12", "cuda-bindings", "tensorflow",
    "jax", "torch",
)  # fmt: skip
_COMMAND = (sys.executable, "-m", "tfprof.capture.cupti.self_test")
_SIZE_BYTES = 1 << 20
_DONE = "done"
_MODULE = b""".version 6.4
.target sm_50
.address_size 64
.visible .entry tfprof_self_test() { ret; }
\x00"""
"""A kernel that does nothing, in NVIDIA's assembly language."""


@dataclass(frozen=True)
class SelfTest:
    """The result of a self-test.

    Attributes:
        status: Whether GPU activity can be recorded.
        facts: Descriptions of the GPU and of the records, for a report.
    """

    status: Status
    facts: dict[str, str] = field(default_factory=dict)


def self_test(seconds: float = 60.0, command: Sequence[str] = _COMMAND) -> SelfTest:
    """Run the self-test in a process of its own.

    Args:
        seconds: How long it may take.
        command: The command to run.
    """
    try:
        done = subprocess.run(
            list(command), capture_output=True, timeout=seconds, check=False, text=True,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return SelfTest(of_code("hangs", f"{seconds:g} s"))
    except OSError as error:
        return SelfTest(of_code("other", str(error)))
    try:
        told = json.loads(done.stdout.strip().rpartition("\n")[2])
        status = Status(**told["status"])
        if done.returncode == 0 and status.code in get_args(Code):
            return SelfTest(status, dict(told["facts"]))
    except (ValueError, KeyError, TypeError):
        pass  # it ended before it could say anything
    said = done.stderr.strip().rpartition("\n")[2]
    return SelfTest(of_code("crashed", f"exit code {done.returncode}: {said}"))


def run_here(session: GpuSession | None = None, load: Any = ctypes.CDLL) -> SelfTest:
    """Run the self-test in this process.

    Args:
        session: The session that records.
        load: Opens the driver's library.
    """
    facts = {"Python": platform.python_version(), "system": platform.platform()}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            facts[name] = metadata.version(name)
    driver = driver_facts(load)
    if driver.cuda:
        facts["driver's CUDA"] = driver.cuda
    if driver.capabilities:
        shown = ", ".join(f"{major}.{minor}" for major, minor in driver.capabilities)
        facts["compute capabilities"] = shown
    session = session or GpuSession()
    try:
        session.start()
    except GpuError as error:
        # The driver's error is better than CUPTI's; but problems of the bindings come first.
        own = error.status
        is_of_bindings = own.code in ("bindings_missing", "bindings_broken")
        known = own if is_of_bindings or driver.problem is None else driver.problem
        return SelfTest(known, facts | _libraries())
    try:
        facts["work"] = _work(load)
    finally:
        stopped = _stopped(session, load)
    facts |= _libraries()
    if isinstance(stopped, Status):
        return SelfTest(stopped, facts)
    facts |= _seen(stopped)
    return SelfTest(driver.problem or _verdict(stopped, facts["work"]), facts)


def _stopped(session: GpuSession, load: Any) -> Records | Status:
    try:
        return session.stop(lambda: synchronize(load))
    except GpuError as error:
        return error.status
    except Exception as error:
        return of_error(error)


def _verdict(records: Records, work: str) -> Status:
    """Whether all of the work was recorded, and the GPU with it."""
    if work != _DONE:
        return of_code("other", f"the work of the self-test failed: {work}")
    if records.n_unread:
        return of_code("other", f"{records.n_unread} records cannot be read: {records.problem}")
    timed = records.timed()
    for kind, what in ((Kernel, "kernel"), (Copy, "copy"), (Fill, "fill")):
        if not any(isinstance(one, kind) for one in timed):
            return of_code("other", f"it recorded no {what} with times")
    if not records.gpus:
        return of_code("other", "it did not record what the GPU is: name, clock, cores, bandwidth")
    return Status("ok", "GPU activity can be recorded")


def _work(load: Any) -> str:
    """Copy, set and copy back a megabyte, and launch a kernel; returns the failure, if any."""
    try:
        driver = load("libcuda.so.1")
        with primary_context(driver, 0) as is_current:
            return _in_context(driver) if is_current else "no context on GPU 0"
    except (OSError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def _in_context(driver: Any) -> str:
    there, here = ctypes.c_uint64(0), ctypes.create_string_buffer(_SIZE_BYTES)
    module, kernel = ctypes.c_void_p(0), ctypes.c_void_p(0)
    size, one, none = ctypes.c_size_t(_SIZE_BYTES), ctypes.c_uint(1), ctypes.c_uint(0)
    steps = (
        ("cuMemAlloc_v2", ctypes.byref(there), size),
        ("cuMemcpyHtoD_v2", there, here, size),
        ("cuMemsetD8_v2", there, ctypes.c_ubyte(7), size),
        ("cuMemcpyDtoH_v2", here, there, size),
        ("cuModuleLoadData", ctypes.byref(module), _MODULE),
        ("cuModuleGetFunction", ctypes.byref(kernel), module, b"tfprof_self_test"),
        ("cuLaunchKernel", kernel, one, one, one, one, one, one, none, None, None, None),
        ("cuCtxSynchronize",),
    )
    failed = ""
    for name, *arguments in steps:
        answer = getattr(driver, str(name))(*arguments)
        if answer:
            failed = f"{name} answers {answer}"
            break
    if there.value:
        driver.cuMemFree_v2(there)
    if failed:
        return failed
    return _DONE if here.raw == b"\x07" * _SIZE_BYTES else "done, but the copy came back wrong"


def _seen(records: Records) -> dict[str, str]:
    timed = records.timed()
    launches = records.launches()
    own = threading.get_ident() & 0xFFFFFFFF
    counts = ", ".join(
        f"{sum(isinstance(one, kind) for one in timed)} {what}"
        for kind, what in ((Kernel, "kernels"), (Copy, "copies"), (Fill, "fills"))
    )
    n_joined = sum(one.correlation in launches for one in timed)
    n_own = sum(call.thread == own for call in records.calls)
    return {
        "recorded": f"{counts}, {len(records.calls)} calls, {len(records.overheads)} overheads",
        "calls found": f"of {n_joined} of {len(timed)} activities",
        "calls of this thread": f"{n_own} of {len(records.calls)}",
        "GPUs": ", ".join(gpu.name for _, gpu in sorted(records.gpus.items())) or "none described",
        "lost": f"{records.n_dropped} dropped, {records.n_unread} unread {records.problem}".strip()
        + f", {records.n_without_time} without times",
    }


def _libraries() -> dict[str, str]:
    """The libcupti files in this process; two would disturb each other."""
    try:
        maps = Path("/proc/self/maps").read_text("utf-8", "replace")
    except OSError:
        return {}
    found = {line.rpartition(" ")[2] for line in maps.splitlines() if "libcupti.so" in line}
    return {"libcupti": ", ".join(sorted(found))} if found else {}


def main() -> None:
    """Write the result as the last line, for ``self_test``."""
    result = run_here()
    sys.stdout.write("\n" + json.dumps(asdict(result)) + "\n")


if __name__ == "__main__":
    main()
