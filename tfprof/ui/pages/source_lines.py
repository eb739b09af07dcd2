"""Lines of Python files that a profile names, in folders that the user has chosen.

A profile may come from a stranger, and name any file and any line. So pages show files within two
limits (``docs/adr/0034-whose-source-lines-are-shown.md``):

* A text in the profile is shown unchanged: the author of the profile has it already.
* A file is read only if its real path is below folders that the user has chosen: links are
  resolved first, in the path and in the folders. It must be Python, and the line one that a call
  stack can name: in a function of the recorded name, or at least a statement that does something
  (not ``KEY = "…"``). Lines around it are shown only of the same function.
"""

from __future__ import annotations

import ast
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tfprof.core.columns.frames import Frame
from tfprof.core.text.characters import escaped
from tfprof.errors import UsageError

AROUND: Final = 2
"""Lines that are shown before and after a line."""

MAX_FILE_BYTES: Final = 1_000_000
MAX_FILES: Final = 200
MAX_LETTERS: Final = 300_000
"""Most letters of all lines together."""
MAX_LINE: Final = 200

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_ACTIVE: Final = (
    ast.Call, ast.BinOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Await, ast.Yield,
    ast.YieldFrom, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.While, ast.If, ast.Import,
    ast.ImportFrom, ast.Delete, ast.comprehension, *_Function.__args__, ast.ClassDef,
)  # fmt: skip
"""Syntax that may call something; a statement without any of it is in no call stack."""


def source_roots(folders: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Folders whose Python files may be read, without links.

    Raises:
        UsageError: One is not a folder.
    """
    roots = []
    for folder in folders:
        root = Path(os.path.realpath(folder))
        if not root.is_dir():
            raise UsageError(f"--sources {os.fspath(folder)}: not a folder")
        roots.append(root)
    return tuple(roots)


def source_texts(
    frames: Iterable[Frame], files: Sequence[str], roots: Sequence[Path] = ()
) -> dict[int, dict[int, str]]:
    """The lines of frames, from the profile and from their files.

    Args:
        frames: Lines, the most important ones first.
        files: Their files.
        roots: What ``source_roots`` gave; without any, no file is read.

    Returns:
        By place in ``files`` and by line number, in order.
    """
    place_of = {path: place for place, path in enumerate(files)}
    wanted: dict[int, list[Frame]] = {}
    for frame in frames:
        wanted.setdefault(place_of[frame.file], []).append(frame)
    found: dict[int, dict[int, str]] = {}
    room = MAX_LETTERS
    for place, lines in list(wanted.items())[:MAX_FILES]:
        source = _read(files[place], roots)
        texts: dict[int, str] = {}
        for frame in lines:
            if recorded := _shown(frame.line_text):
                texts[frame.line_number] = recorded
            if source is not None:
                for number in source.lines_of(frame):
                    texts.setdefault(number, _shown(source.lines[number - 1]))
        size = sum(map(len, texts.values()))
        if size > room:
            break
        room -= size
        if texts:
            found[place] = dict(sorted(texts.items()))
    return found


def why_no_text(path: str, roots: Sequence[Path] = ()) -> str:
    """Why no line of a file has a text.

    Only the text of the path counts, not what is on this machine: the page may go to others.
    """
    if not roots:
        return "Only numbers of lines: “--sources FOLDER” lets pages show files below a folder."
    if not Path(path).is_absolute():
        return "Only numbers of lines: the recorded path is relative to a folder that is unknown."
    return (
        "Only numbers of lines: the file is not below the folders of “--sources”, is not Python, "
        "or does not match what was recorded."
    )


def _shown(text: str) -> str:
    return escaped(text.rstrip().expandtabs(4)[:MAX_LINE])


@dataclass(frozen=True, slots=True)
class _Source:
    """A Python file: its lines, its functions, and the statements that do something."""

    lines: list[str]
    functions: list[tuple[int, int, str]]
    active: frozenset[int]

    def lines_of(self, frame: Frame) -> Iterable[int]:
        """The numbers of lines to show for a frame; none if the frame is not of this file."""
        here = frame.line_number
        if here not in self.active:
            return ()
        recorded = frame.line_text.strip()
        if recorded and self.lines[here - 1].strip() != recorded:
            return ()
        around = [each for each in self.functions if each[0] <= here <= each[1]]
        name = frame.function.rpartition(".")[2]
        if not around:
            return (here,) if name in ("", "<module>") else ()
        first, last, _ = max(around)  # the innermost one
        if name and not name.startswith("<") and name not in {each[2] for each in around}:
            return ()
        return range(max(here - AROUND, first), min(here + AROUND, last) + 1)


def _read(path: str, roots: Sequence[Path]) -> _Source | None:
    """A source file below one of the roots; None if it is not one that may be read."""
    if not roots or "\0" in path or not Path(path).is_absolute():
        return None
    real = Path(os.path.realpath(path))
    inside = [real.relative_to(root) for root in roots if real.is_relative_to(root)]
    is_hidden = all(any(part.startswith(".") for part in one.parts) for one in inside)
    if not inside or is_hidden or real.suffix != ".py":
        return None
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(real, flags), "rb") as content:
            status = os.fstat(content.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                return None
            text = content.read(MAX_FILE_BYTES).decode("utf-8")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return _Source(text.split("\n"), list(_functions(tree)), frozenset(_active(tree)))


def _functions(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    """First line (of decorators), last line and name of each function."""
    for node in ast.walk(tree):
        if isinstance(node, _Function):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(one.lineno for one in decorators)])
            yield first, node.end_lineno or node.lineno, getattr(node, "name", "<lambda>")


def _active(tree: ast.AST) -> Iterator[int]:
    """Lines of statements and expressions that may call something."""
    for node in ast.walk(tree):
        if isinstance(node, _ACTIVE) and hasattr(node, "lineno"):
            yield node.lineno
            if isinstance(node, ast.expr):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
            elif isinstance(node, _Function):
                yield from (one.lineno for one in getattr(node, "decorator_list", ()))
