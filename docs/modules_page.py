"""The page ``docs/modules.md``, made from the first sentences of the modules themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_HEAD = """\
<!-- Written by docs/generate_reference.py from the docstrings; do not edit. -->

# Modules

What each module is for, in its own words. [architecture.md](architecture.md) says how they belong
together.
"""
_COMPILED = (".pyx", ".pxi")


def modules_page(package: Path) -> str:
    """The whole page.

    Args:
        package: Folder of the package.
    """
    folders = sorted({path.parent for path in package.rglob("*.py")}, key=lambda path: path.parts)
    return _HEAD + "".join(part for folder in folders for part in _folder(folder, package))


def _folder(folder: Path, package: Path) -> Iterator[str]:
    yield f"\n## `{folder.relative_to(package.parent).as_posix()}`\n\n"
    own = folder / "__init__.py"
    yield f"{_about(own) if own.exists() else 'Files outside of any package'}\n"
    sources = [path for path in sorted(folder.iterdir()) if path.suffix in (".py", *_COMPILED)]
    rows = [f"| `{path.name}` | {_about(path)} |\n" for path in sources if path.stem != "__init__"]
    if rows:
        yield "\n| module | |\n| --- | --- |\n" + "".join(rows)


def _about(path: Path) -> str:
    """The first sentence of what a source says of itself."""
    source = path.read_text("utf-8")
    if path.suffix in _COMPILED:
        opening = re.match(r'(?:# cython:.*\n)*(?:"""(.*?)"""|# (.*))', source, re.DOTALL)
        text = (opening[1] or opening[2].splitlines()[0]) if opening else ""
    else:
        text = ast.get_docstring(ast.parse(source)) or ""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    sentence = re.match(r".*?\.(?= |$)", paragraph)
    words = (sentence[0] if sentence else paragraph).rstrip(".")
    return words.replace("``", "`").replace("|", "\\|")
