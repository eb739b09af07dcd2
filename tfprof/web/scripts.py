"""Our JavaScript as one script, for reports: modules one after the other, without imports.

There is no build step: a server sends the modules as they are. A report is one file, in which
modules cannot import each other by name; so their texts are joined, those that others need first.
That works as long as no two modules define the same name at their top level, which a test checks.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import cache

_IMPORT = re.compile(r'^import\s+\{[^}]*\}\s+from\s+"\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async |function |class |const |let )", re.MULTILINE)


def static_text(name: str) -> str:
    """The text of a file of the front end."""
    folder = importlib.resources.files("tfprof.web") / "static"
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
