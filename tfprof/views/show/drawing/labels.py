"""Names for boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof.core.text.characters import escaped
from tfprof.core.text.folding import folded

MAX_WIDTH = 32
"""Characters of a line in a box."""

MAX_SCOPES = 24
"""Levels of name scopes that count; names may have thousands."""

_NUMBERED = re.compile(r"_\d+$")


def scopes_of(name: str) -> Iterator[str]:
    """The name scopes that a name lies in, from the outermost: ``a`` and ``a/b`` of ``a/b/c``."""
    place = -1
    for _ in range(MAX_SCOPES):
        place = name.find("/", place + 1)
        if place < 0:
            return
        yield name[:place]


def relative(name: str, scope: str) -> str:
    """A name without the scope it lies in."""
    return name.removeprefix(f"{scope}/") if scope else name


def line(text: str) -> str:
    """Text as one line of a box: short, and with control characters shown."""
    return folded(escaped(text[:1000]), MAX_WIDTH)


def says(name: str, op_type: str) -> bool:
    """Whether a name ends in its op type already, as ``conv1/Conv2D_3`` does."""
    return _NUMBERED.sub("", name.rpartition("/")[2]) == op_type
