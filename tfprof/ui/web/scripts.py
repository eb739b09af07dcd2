"""Our JavaScript as one script: modules one after the other, without imports.

There is no build step. A report is one file, in which modules cannot import each other by name; and
a browser that is served would ask for one module after the other, as it reads who imports whom. So
their texts are joined, those that others need first. That works as long as no two modules define
the same name at their top level, which a test checks.
"""

from __future__ import annotations

import gzip
import importlib.resources
import re
from functools import cache
from typing import Final

_IMPORT = re.compile(r'^import\s+\{[^}]*\}\s+from\s+"\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async |function |class |const |let )", re.MULTILINE)


JOINED: Final = "tfprof.js"
"""Name under which servers send the joined script."""

_LEVEL: Final = 9


def static_text(name: str) -> str:
    """The text of a file of the front end."""
    folder = importlib.resources.files("tfprof.ui.web") / "static"
    return (folder / name).read_text("utf-8")


@cache
def joined_script(entry: str = "app.js") -> str:
    """A module with all that it imports, directly or not, as one script."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        text = static_text(name)
        done[name] = ""  # so that a circle ends
        for needed in _IMPORT.findall(text):
            add(needed)
        del done[name]
        done[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    add(entry)
    return "\n".join(done.values())


def served_text(name: str) -> str:
    """What a server sends under a name: the joined script, or a file of the front end.

    Raises:
        OSError: There is none.
    """
    return joined_script() if name == JOINED else static_text(name)


@cache
def packed_text(name: str) -> bytes:
    """The same, packed by gzip."""
    return gzip.compress(served_text(name).encode(), _LEVEL, mtime=0)
