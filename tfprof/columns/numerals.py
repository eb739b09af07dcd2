"""Numbers that texts of a profile spell; any of these texts may be too long to be one."""

from __future__ import annotations

LARGEST = (1 << 63) - 1
"""What digits that spell more are taken for."""

_MOST_DIGITS = len(str(LARGEST))


def whole_number(text: str, other: int = 0) -> int:
    """The number that decimal digits spell, at most ``LARGEST``; without digits ``other``.

    ``int`` refuses to read more than 4,300 digits, and takes signs, blanks and other scripts.

    >>> whole_number("007"), whole_number("x", -1), whole_number("9" * 5000) == LARGEST
    (7, -1, True)
    """
    if not (text.isascii() and text.isdigit()):
        return other
    digits = text.lstrip("0")
    return LARGEST if len(digits) > _MOST_DIGITS else min(int(digits or "0"), LARGEST)
