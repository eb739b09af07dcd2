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


_COUNT_SCALE = ((1, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P"))
_TIME_SCALE = ((1, "µs"), (1e3, "ms"), (1e6, "s"))
_BYTE_SCALE = ((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"))


def human_count(value: int) -> str:
    """A count to three digits: ``999``, ``25.6 M``, ``197 G``; decimal prefixes."""
    return _scaled(value, _COUNT_SCALE)


def human_time(micros: int) -> str:
    """Microseconds to three digits: ``87 µs``, ``541 ms``, ``1.78 s``."""
    return _scaled(micros, _TIME_SCALE)


def human_memory(size_bytes: int) -> str:
    """Bytes to three digits: ``860 B``, ``93.8 MB``, ``1.86 GB``; decimal, as in the original."""
    return _scaled(size_bytes, _BYTE_SCALE)


def human_share(part: int, whole: int) -> str:
    """``30.3 %``; ``<0.1 %`` for what is there but rounds to nothing."""
    percent = 100 * part / whole
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def _scaled(value: int, scale: tuple[tuple[float, str], ...]) -> str:
    text, unit = str(value), ""
    for factor, unit in scale:  # noqa: B007  (the last one tried is the result's)
        text = _three_digits(value / factor) if factor > 1 else str(value)
        # 999,999 rounds to "1000 k": it belongs to the next unit.
        if len(text.lstrip("-").split(".")[0]) <= 3:
            break
    return f"{text} {unit}".rstrip()


def _three_digits(value: float) -> str:
    size = abs(value)
    decimals = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:.{decimals}f}"
