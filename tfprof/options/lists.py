"""Lists as one typed text: ``.*Conv.*,Mat{1,2}``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LIST_PART = re.compile(r"\\.?|\{\d*,\d*\}|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def split_list(texts: Iterable[str]) -> list[str]:
    """Elements of a list option, which may be given several times.

    Quotes around a text are stripped as in the original, so that ``''`` is the empty list. Commas
    separate, but not those of a regex in ``{1,2}`` and ``[a,b]``; ``\\,`` is a comma; a backslash
    before anything else belongs to the regex.
    """
    elements = []
    for text in texts:
        element = ""
        for part in _LIST_PART.findall(text.strip("\"'")):
            if part == ",":
                elements.append(element)
                element = ""
            else:
                element += "," if part == "\\," else part
        elements.append(element)
    return [element for element in elements if element]


def joined_list(elements: Iterable[str]) -> str:
    """The inverse of ``split_list``, except for empty elements."""
    return ",".join(
        "".join("\\," if part == "," else part for part in _LIST_PART.findall(element))
        for element in elements
    )
