"""Numbers in texts of a profile, which may have too many digits for an int64."""

from __future__ import annotations

LARGEST = (1 << 63) - 1
"""Larger numbers count as this one."""

_MOST_DIGITS = len(str(LARGEST))


def whole_number(text: str, other: int = 0) -> int:
    """The number of decimal digits, at most ``LARGEST``; ``other`` for any other text.

    ``int`` refuses more than 4,300 digits, and accepts signs, blanks and digits of other scripts.

    >>> whole_number("007"), whole_number("x", -1), whole_number("9" * 5000) == LARGEST
    (7, -1, True)
    """
    if not (text.isascii() and text.isdigit()):
        return other
    digits = text.lstrip("0")
    return LARGEST if len(digits) > _MOST_DIGITS else min(int(digits or "0"), LARGEST)
