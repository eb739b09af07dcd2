"""Queries and synchronizes NVIDIA's driver directly, for any program; no package is needed."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfprof.capture.cupti.status import Status, of_code

_DRIVER = "libcuda.so.1"
_NO_DEVICE = 100
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
_LEAST_CAPABILITY = (7, 5)


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """The driver, and the GPUs that this process may use.

    Attributes:
        cuda: Highest CUDA that the driver supports, ``13.0``; empty if unknown.
        capabilities: Compute capability of each GPU, major and minor.
        problem: Why nothing can be recorded; None if no problem was found.
    """

    cuda: str = ""
    capabilities: tuple[tuple[int, int], ...] = ()
    problem: Status | None = None


def driver_facts(load: Any = ctypes.CDLL) -> DriverFacts:
    """Query the driver, which starts in this process unless it is running.

    Args:
        load: Opens a library.
    """
    try:
        driver = load(_DRIVER)
    except OSError as error:
        return DriverFacts(problem=of_code("no_driver", str(error)))
    try:
        return _asked(driver)
    except AttributeError as error:  # another library of that name
        return DriverFacts(problem=of_code("driver_failed", str(error)))


def _asked(driver: Any) -> DriverFacts:
    version = _number(driver.cuDriverGetVersion)
    cuda = f"{version // 1000}.{version % 1000 // 10}" if version else ""
    started = driver.cuInit(0)
    if started:
        code = of_code(
            "no_gpu" if started == _NO_DEVICE else "driver_failed", f"cuInit answers {started}"
        )
        return DriverFacts(cuda, problem=code)
    found = tuple(
        (
            _number(driver.cuDeviceGetAttribute, _MAJOR, device),
            _number(driver.cuDeviceGetAttribute, _MINOR, device),
        )
        for device in range(_number(driver.cuDeviceGetCount))
    )
    if not found:
        return DriverFacts(cuda, problem=of_code("no_gpu", "cuDeviceGetCount gives 0"))
    problem = None
    if any(found) and all(each < _LEAST_CAPABILITY for each in found):
        shown = ", ".join(f"{major}.{minor}" for major, minor in found)
        problem = of_code("unsupported", f"compute capability {shown}")
    return DriverFacts(cuda, found, problem)


def _number(function: Any, *more: int) -> int:
    """The value that a function writes into its first argument; 0 if it fails."""
    value = ctypes.c_int(0)
    return 0 if function(ctypes.byref(value), *more) else value.value


def synchronize(load: Any = ctypes.CDLL) -> None:
    """Wait until all GPUs of this process have finished their work.

    Does nothing without a driver. Other Python threads go on meanwhile.

    Args:
        load: Opens a library.
    """
    try:
        driver = load(_DRIVER)
    except OSError:
        return
    if driver.cuInit(0):
        return
    for ordinal in range(_number(driver.cuDeviceGetCount)):
        _wait(driver, ordinal)


def _wait(driver: Any, ordinal: int) -> None:
    """Wait for a device whose primary context is in use; none is made for it."""
    flags, is_active = ctypes.c_uint(0), ctypes.c_int(0)
    state = driver.cuDevicePrimaryCtxGetState(ordinal, ctypes.byref(flags), ctypes.byref(is_active))
    if not state and is_active.value:
        with primary_context(driver, ordinal) as is_current:
            if is_current:
                driver.cuCtxSynchronize()


@contextlib.contextmanager
def primary_context(driver: Any, ordinal: int) -> Iterator[bool]:
    """A block in which the primary context of a device is current; whether it could be."""
    context = ctypes.c_void_p(0)
    if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal):
        yield False
        return
    is_current = not driver.cuCtxPushCurrent_v2(context)
    try:
        yield is_current
    finally:
        if is_current:
            driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p(0)))
        with contextlib.suppress(Exception):
            driver.cuDevicePrimaryCtxRelease_v2(ordinal)
