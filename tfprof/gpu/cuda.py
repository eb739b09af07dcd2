"""Waits for the GPUs with CUDA's driver itself, whoever has given them work."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

_DRIVER = "libcuda.so.1"


def synchronize(load: Any = ctypes.CDLL) -> None:
    """Wait until all GPUs of this process have done what they were given.

    Does nothing where there is no driver. Python goes on meanwhile in other threads.

    Args:
        load: Opens a library.
    """
    try:
        driver = load(_DRIVER)
    except OSError:
        return
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return
    for ordinal in range(count.value):
        _wait(driver, ordinal)


def _wait(driver: Any, ordinal: int) -> None:
    """Wait for a device whose primary context is in use; none is made for it."""
    flags, is_active = ctypes.c_uint(0), ctypes.c_int(0)
    state = driver.cuDevicePrimaryCtxGetState(ordinal, ctypes.byref(flags), ctypes.byref(is_active))
    if state or not is_active.value:
        return
    context = ctypes.c_void_p(0)
    if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal):
        return
    try:
        if not driver.cuCtxPushCurrent_v2(context):
            try:
                driver.cuCtxSynchronize()
            finally:
                driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p(0)))
    finally:
        with contextlib.suppress(Exception):
            driver.cuDevicePrimaryCtxRelease_v2(ordinal)
