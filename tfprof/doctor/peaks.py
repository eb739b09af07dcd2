"""Measures the peak rates of this processor: products of matrices, and memory.

The best of several runs counts, as every disturbance only makes them slower.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Final

import numpy as np

from tfprof.doctor.report import Area, Check, Report
from tfprof.errors import InputError
from tfprof.files.measured_peaks import MeasuredPeaks, identifies, processor, write_peaks

_SIDE: Final = 2048
"""Rows and columns of the matrices: too large for caches, short enough for many runs."""

_WORDS: Final = 1 << 23
"""Float64 numbers in each array of the triad: 64 MiB, more than caches hold."""

_BLOCK: Final = 1 << 13
"""Numbers of a block that stays in a core's cache between the two operations of the triad."""

_LIMITS: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables with the number of threads, the first one that is set counts."""


def with_peaks(report: Report, measure: Callable[[], MeasuredPeaks] | None = None) -> Report:
    """A report with one more area: the measured peak rates, which are kept.

    Args:
        report: The report.
        measure: Measures them.
    """
    peaks = (measure or measured_peaks)()
    return replace(report, areas=(*report.areas, Area("Peak rates", tuple(_checks(peaks)))))


def _checks(peaks: MeasuredPeaks) -> Iterator[Check]:
    threads = f"{peaks.n_threads} threads of {peaks.processor or 'an unknown processor'}"
    for name, rate in peaks.flops_per_s.items():
        yield Check(
            f"peak-{name}", "ok",
            f"products in {name}: {rate / 1e9:,.1f} GFLOP/s by {peaks.library}, {threads}",
        )  # fmt: skip
    yield Check("peak-memory", "ok", f"memory: {peaks.bytes_per_s / 1e9:,.1f} GB/s (triad)")
    if not identifies(peaks.machine):
        yield Check(
            "peak-kept", "warning",
            f"not kept: the host name {peaks.machine or '(empty)'} does not tell which machine a "
            "capture is from",
            "Give this machine a host name of its own, or give the rates to the tool.",
            f"tfprof utilization logs/ --device {max(peaks.flops_per_s.values()):.4g},"
            f"{peaks.bytes_per_s:.4g}",
        )  # fmt: skip
        return
    try:
        path = write_peaks(peaks)
    except InputError as error:
        yield Check("peak-kept", "error", f"not kept: {error}")
        return
    yield Check("peak-kept", "ok", f"kept in {path} for captures of {peaks.machine}")


def measured_peaks(seconds: float = 1.5) -> MeasuredPeaks:
    """Measure the processor of this machine.

    Args:
        seconds: Time for each of the three measurements, at least one run.
    """
    n_threads = _n_threads()
    return MeasuredPeaks(
        machine=socket.gethostname(),
        processor=processor(),
        n_threads=n_threads,
        measured=datetime.now(timezone.utc).date().isoformat(),
        flops_per_s={
            name: _products_per_s(dtype, seconds)
            for name, dtype in (("f32", np.float32), ("f64", np.float64))
        },
        bytes_per_s=_triad_bytes_per_s(n_threads, seconds),
        library=_library(),
    )


def _n_threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for name in _LIMITS:
        limit = os.environ.get(name, "")
        if limit.isdecimal() and int(limit):
            return min(int(limit), usable or 1)
    return usable or 1


def _products_per_s(dtype: Any, seconds: float) -> float:
    left = np.full((_SIDE, _SIDE), 0.5, dtype)
    right, out = left.copy(), np.empty_like(left)
    shortest = _shortest(lambda: np.matmul(left, right, out=out), seconds)
    return 2 * _SIDE**3 / shortest


def _triad_bytes_per_s(n_threads: int, seconds: float) -> float:
    """Bytes per second of ``a = b + 3 c``: two arrays read, one written."""
    a, b, c = (np.full(_WORDS, 1.5) for _ in range(3))

    def part(number: int) -> None:
        end = _WORDS * (number + 1) // n_threads
        for begin in range(_WORDS * number // n_threads, end, _BLOCK):
            block = slice(begin, min(begin + _BLOCK, end))
            np.multiply(c[block], 3.0, out=a[block])
            np.add(a[block], b[block], out=a[block])

    with ThreadPoolExecutor(n_threads) as pool:
        shortest = _shortest(lambda: list(pool.map(part, range(n_threads))), seconds)
    return 3 * a.nbytes / shortest


def _shortest(work: Callable[[], object], seconds: float) -> float:
    """Seconds of the fastest run."""
    work()  # wakes threads, and touches memory
    shortest, end = float("inf"), time.perf_counter() + seconds
    while shortest == float("inf") or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest


def _library() -> str:
    try:
        config: Any = np.show_config(mode="dicts") or {}
    except TypeError:  # of NumPy before 1.25, which only prints it
        config = {}
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return f"NumPy {np.__version__} ({blas.get('name', 'unknown BLAS')})"
