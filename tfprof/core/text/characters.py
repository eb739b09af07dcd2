"""Which characters are shown: glyphs, and escapes of those that steer a terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

_ESCAPED_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What is drawn besides letters; ``ASCII`` is for terminals that have nothing else."""

    ellipsis: str = "…"
    rule: str = "─"
    branch: str = "├ "
    last_branch: str = "└ "
    line: str = "│ "
    bars: str = "▏▎▍▌▋▊▉█"
    missing: str = "–"
    is_ascii: bool = False

    def text(self, text: str) -> str:
        """Our own words (never a name) in these glyphs."""
        if not self.is_ascii:
            return text
        for fancy, plain in (("µ", "u"), ("–", "-"), ("·", "-"), ("×", "x"), ("…", "...")):
            text = text.replace(fancy, plain)
        return text


UNICODE = Glyphs()
ASCII = Glyphs("...", "-", "|-", "`-", "| ", "#", "-", True)


def escaped(text: str, keep: str = "") -> str:
    """The text with every control character of terminals as ``\\x1b`` or ``\\u202e``.

    Args:
        text: Any text.
        keep: Characters to leave as they are, such as newlines.
    """
    if text.isprintable():  # then it has none of the categories
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _ESCAPED_CATEGORIES and char not in keep
        else char
        for char in text
    )
