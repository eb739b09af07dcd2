"""Drawings as files: DOT text, or pictures that the program ``dot`` makes of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tfprof.core.text.characters import escaped
from tfprof.errors import (
    InputError,
    MalformedProfileError,
    MissingDependencyError,
    TfprofError,
    UnknownFormatError,
    UsageError,
)
from tfprof.files.compression import decompressed
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.views import view_to_graphviz

PICTURES: Final = ("svg", "pdf", "png")
TEXTS: Final = ("dot", "gv")

_INSTALL: Final = "install Graphviz (apt install graphviz, brew install graphviz, or graphviz.org)"
_COMMENTS_OR_SPACE: Final = r"(?:\s|//[^\n]*\n|/\*[^*]*\*+(?:[^*/][^*]*\*+)*/|#[^\n]*\n)*"
_DOT_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?%b(?:strict\b%b)?(?:di)?graph\b"
    % (_COMMENTS_OR_SPACE.encode(), _COMMENTS_OR_SPACE.encode()),
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DrawnFile:
    """A drawing, ready to be written.

    Attributes:
        path: The file to write; a ``.dot`` file if no picture could be made.
        content: The content.
        message: A line for the user, or empty.
    """

    path: str
    content: bytes
    message: str = ""


class _NoPictureError(TfprofError):
    """The program ``dot`` is missing, or failed."""


class _NoProgramError(_NoPictureError):
    """It is missing."""


def draw_to_file(tree: ViewTree, path: str | os.PathLike[str]) -> DrawnFile:
    """Draw a view in the format that the name of a file ends in; nothing is written.

    Without the program ``dot`` pictures become DOT text in ``<path without suffix>.dot``, and
    the message says how to get the picture.

    Args:
        tree: A scope, graph or code view.
        path: Ends in ``.svg``, ``.pdf``, ``.png``, ``.dot`` or ``.gv``.

    Raises:
        UsageError: Another suffix, or as for ``view_to_graphviz``.
        MissingDependencyError: The package ``graphviz`` is not installed.
    """
    path = Path(path)
    kind = path.suffix[1:].lower()
    if kind not in PICTURES + TEXTS:
        endings = ", ".join(f".{name}" for name in PICTURES + TEXTS)
        raise UsageError(f"{path}: the name of a drawing must end in one of {endings}")
    text = view_to_graphviz(tree).source.encode()
    if kind in TEXTS:
        return DrawnFile(str(path), text)
    try:
        return DrawnFile(str(path), _picture(text, kind))
    except _NoPictureError as error:
        written = path.with_suffix(".dot")
        return DrawnFile(
            str(written),
            text,
            f"{written} was written instead of {path}: {error}; "
            f"then: dot -T{kind} {written} -o {path}\n",
        )


def render_dot_file(path: str | os.PathLike[str], kind: str) -> bytes:
    """Draw a DOT file, such as XLA's dumps of HLO graphs; ``.gz`` is unpacked.

    Args:
        path: The file.
        kind: ``svg``, ``pdf`` or ``png``.

    Raises:
        UsageError: Another kind of picture.
        InputError: The file cannot be read.
        UnknownFormatError: It is not a DOT file.
        MalformedProfileError: The file is broken.
        MissingDependencyError: The program ``dot`` is missing.
    """
    if kind not in PICTURES:
        raise UsageError(f"a picture of kind {kind!r}: use one of {', '.join(PICTURES)}")
    try:
        data = decompressed(Path(path).read_bytes(), str(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}. Check the path") from error
    if not _DOT_START.match(data):
        raise UnknownFormatError(
            f"{path}: not a DOT file: it does not start with 'graph' or 'digraph'. XLA writes "
            "such files with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_as_dot'"
        )
    try:
        return _picture(data, kind)
    except _NoProgramError as error:
        raise MissingDependencyError(f"{path}: cannot be drawn: {error}") from error
    except _NoPictureError as error:
        raise MalformedProfileError(
            f"{path}: a broken DOT file: {error}. Write the dump again"
        ) from error


def _picture(text: bytes, kind: str) -> bytes:
    """The picture that ``dot`` makes of a DOT text."""
    program = shutil.which("dot")
    if program is None:
        raise _NoProgramError(f"the program 'dot' is not installed; {_INSTALL}")
    try:
        done = subprocess.run([program, f"-T{kind}"], input=text, capture_output=True, check=False)
    except OSError as error:
        raise _NoProgramError(f"the program {program} cannot be started: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        reason = escaped(said[:200]) or f"exit status {done.returncode}"
        raise _NoPictureError(f"the program 'dot' failed: {reason}")
    return done.stdout
