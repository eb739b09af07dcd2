"""Numbers to text: the one place where counts, times and sizes are formatted.

The ``classic_*`` functions are a compatibility surface: they give the original tfprof's text
(``tensorflow/core/profiler/internal/tfprof_utils.cc``), decimal units and all.
"""

from __future__ import annotations

_THOUSAND = 1_000
_MILLION = 1_000_000
_BILLION = 1_000_000_000


def classic_count(value: int) -> str:
    """``999`` → ``999``, ``1500`` → ``1.50k``, then ``m`` and ``b``; negatives stay plain."""
    if value < _THOUSAND:
        return str(value)
    if value < _MILLION:
        return f"{value / 1e3:.2f}k"
    if value < _BILLION:
        return f"{value / 1e6:.2f}m"
    return f"{value / 1e9:.2f}b"


def classic_time(micros: int) -> str:
    """Microseconds as ``us``, ``ms`` or ``sec``."""
    if micros < _THOUSAND:
        return f"{micros}us"
    if micros < _MILLION:
        return f"{micros / 1e3:.2f}ms"
    return f"{micros / 1e6:.2f}sec"


def classic_memory(size_bytes: int) -> str:
    """Bytes as ``B``, ``KB`` or ``MB`` (decimal; there is no GB)."""
    if size_bytes < _THOUSAND:
        return f"{size_bytes}B"
    if size_bytes < _MILLION:
        return f"{size_bytes / 1e3:.2f}KB"
    return f"{size_bytes / 1e6:.2f}MB"
