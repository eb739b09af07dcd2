"""Numbers to text: the one place where counts, times and sizes are formatted.

The ``classic_*`` functions are a compatibility surface: they give the original tfprof's text
(``tensorflow/core/profiler/internal/tfprof_utils.cc``), decimal units and all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from tfprof.errors import UsageError


def classic_count(value: int) -> str:
    """``999`` → ``999``, ``1500`` → ``1.50k``, then ``m`` and ``b``."""
    return _classic(value, ("", "k", "m", "b"))


def classic_time(micros: int) -> str:
    """Microseconds as ``us``, ``ms`` or ``sec``."""
    return _classic(micros, ("us", "ms", "sec"))


def classic_memory(size_bytes: int) -> str:
    """Bytes as ``B``, ``KB`` or ``MB`` (decimal; there is no GB)."""
    return _classic(size_bytes, ("B", "KB", "MB"))


def _classic(value: int, units: tuple[str, ...]) -> str:
    """Plain below 1000 (negatives, too), else two decimals of the largest unit that fits."""
    power = 0
    while power + 1 < len(units) and value >= 1000 ** (power + 1):
        power += 1
    # A float divisor, as in C++: exact integers would round differently beyond 2^53.
    return f"{value / 1000.0**power:.2f}{units[power]}" if power else f"{value}{units[0]}"


_COUNT_SCALE = ((1, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P"))
_TIME_SCALE = ((1, "µs"), (1e3, "ms"), (1e6, "s"))
_BYTE_SCALE = ((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"))


def human_count(value: int) -> str:
    """A count to three digits: ``999``, ``25.6 M``, ``197 G``; decimal prefixes."""
    return _scaled(value, _COUNT_SCALE)


def human_time(micros: int) -> str:
    """Microseconds to three digits: ``87 µs``, ``541 ms``, ``1.78 s``."""
    return _scaled(micros, _TIME_SCALE)


_LEAST_MS = 0.1
"""Below it, three decimals of a millisecond have fewer than three digits."""


def milliseconds(value_ms: float) -> str:
    """Milliseconds to the microsecond; short times in a smaller unit.

    ``1,234.500 ms``, ``0.125 ms``, ``87.3 µs``, ``450 ns``, ``0 ms``.
    """
    if value_ms == 0:
        return "0 ms"
    # A time that rounds to the limit is in milliseconds: "0.100 ms", not "100 µs".
    if not abs(value_ms) < _LEAST_MS - 5e-5:
        return f"{value_ms:,.3f} ms"
    for factor, unit in ((1e3, "µs"), (1e6, "ns")):
        if abs(value_ms) * factor >= 0.9995:
            return f"{_three_digits(value_ms * factor)} {unit}"
    return f"{value_ms * 1e9:.0f} ps"


def milliseconds_between(low_ms: float, high_ms: float) -> str:
    """A range: ``1.000 to 2.500 ms``, ``450 ns to 1.000 ms``."""
    low, high = milliseconds(low_ms), milliseconds(high_ms)
    number, _, unit = low.rpartition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def short_time(value_ms: float) -> str:
    """Milliseconds with three digits in a suitable unit, for differences.

    >>> short_time(2.9), short_time(0.112), short_time(0.0)
    ('2.90 ms', '112 µs', '0 µs')
    """
    for factor, unit in ((1e-3, "s"), (1.0, "ms")):
        if value_ms * factor >= 1:
            return f"{_digits(value_ms * factor)} {unit}"
    return f"{_digits(value_ms * 1e3)} µs"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 or not value else f"{value:#.3g}".rstrip(".")


def human_memory(size_bytes: int) -> str:
    """Bytes to three digits: ``860 B``, ``93.8 MB``, ``1.86 GB``; decimal, as in the original."""
    return _scaled(size_bytes, _BYTE_SCALE)


_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([kKmMgGtT]?)(iB|B|)")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(text: str) -> int:
    """Bytes of a size: ``4G`` and ``4GiB`` count in powers of 1024, ``4GB`` in those of 1000.

    Raises:
        UsageError: The text is not a size above 0.
    """
    match = _SIZE.fullmatch(text.strip())
    size = 0
    if match is not None:
        number, prefix, unit = match.groups()
        size = int(float(number) * (1000 if unit == "B" else 1024) ** _POWERS[prefix.upper()])
    if size <= 0:
        raise UsageError(f"{text!r} is not a size of memory; write it as 4G, 512M or 2.5GB")
    return size


def human_share(part: int, whole: int) -> str:
    """``30.3 %``; ``<0.1 %`` for positive values that round to 0."""
    percent = 100 * part / whole
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


_MOST_SCALED = 10**300
"""Larger integers, from shapes of hostile files, may exceed a float."""


def _scaled(value: int, scale: tuple[tuple[float, str], ...]) -> str:
    if isinstance(value, int) and abs(value) >= _MOST_SCALED:
        return f"{Decimal(value):.2e} {scale[0][1]}".rstrip()
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


def some(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many others there are: ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
