"""Our JavaScript as one script, each module a function that returns its exports; our CSS as one.

There is no build step. A report is one file, in which modules cannot import each other by name; and
a browser of a served page would request one module after another, as it finds the imports. So their
texts are joined in order of dependency (ADR 0037 has the alternatives). Imports and exports must
have the forms of ``_IMPORT`` and ``_EXPORT``, without cycles, which a test checks.
"""

from __future__ import annotations

import gzip
import importlib.resources
import re
from functools import cache
from typing import Final

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
"""Comments and types: a fifth of the modules, which the joined script leaves out."""
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


JOINED: Final = "tfprof.js"
"""Name under which servers send the joined script."""

STYLE: Final = "style.css"
"""Name under which servers send the joined style."""

_STYLES: Final = ("base", "tables", "charts", "graphs", "trees", "memory", "code", "trace", "media")
"""Files in ``static/style``; later ones may change what earlier ones set."""

_LEVEL: Final = 9


def static_text(name: str) -> str:
    """The text of a file of the front end."""
    folder = importlib.resources.files("tfprof.ui.web") / "static"
    return (folder / name).read_text("utf-8")


@cache
def joined_script(entry: str = "app.js") -> str:
    """A module with all that it imports, directly or not, as one script.

    A module ``table.js`` is a constant ``$table`` there, with the names that it exports.
    """
    done: dict[str, str] = {}

    def add(name: str) -> None:
        text = _COMMENT.sub("", static_text(f"{name}.js"))
        for _, needed in _IMPORT.findall(text):
            if needed not in done:
                add(needed)
        exported = ", ".join(found for _, found in _EXPORT.findall(text))
        body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = $\2;", text))
        done[name] = f"const ${name} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"

    add(entry.removesuffix(".js"))
    return "\n".join(done.values())


@cache
def joined_style() -> str:
    """All rules of the pages."""
    return "\n".join(static_text(f"style/{name}.css") for name in _STYLES)


def served_text(name: str) -> str:
    """The file that a server sends for a name: what is joined, or a file of the front end.

    Raises:
        OSError: There is none.
    """
    joined = {JOINED: joined_script, STYLE: joined_style}.get(name)
    return joined() if joined else static_text(name)


@cache
def packed_text(name: str) -> bytes:
    """The file of a name, packed by gzip."""
    return gzip.compress(served_text(name).encode(), _LEVEL, mtime=0)
