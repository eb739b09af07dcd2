"""Writes results to stdout or a file, with or without colours, and never partially."""

from __future__ import annotations

import errno
import os
import re
import select
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.files.disk import is_folder, is_ordinary_file, write_file
from tfprof.files.local_folder import local_folder

if TYPE_CHECKING:
    from rich.console import Console

    from tfprof.core.text.characters import Glyphs

ColourChoice = Literal["auto", "always", "never"]

T = TypeVar("T")

RECORDED = "tfprof.recorded"
"""Place in ``meta`` of click's context for what a command writes, if it is recorded."""

Recorded = tuple[Any, ...]
"""A part of what was written: ``text`` or ``note``, its text, and its look."""

PLAIN_WIDTH = 100_000
"""Width without a terminal: wide enough to fold nothing."""

_LINES_OF_A_SCREEN = 24
"""Lines of a terminal whose size is unknown."""

_MOST_NOTES = 20
"""Notes that are printed."""

_LESS = "-FRX"
"""Options of less, unless the user has set LESS: end at one screen, show colours, keep the text."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a result.

    Attributes:
        path: The file; None is stdout.
        force: Overwrite the file.
        colour: The value of ``--color``.
        pager: Page a text that is longer than the terminal.
    """

    path: Path | None = None
    force: bool = False
    colour: ColourChoice = "auto"
    pager: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether the result goes to a terminal."""
        return self.path is None and is_terminal(sys.stdout)

    @property
    def in_colour(self) -> bool:
        """Whether to use colours."""
        if self.path is not None:
            return self.colour == "always"
        return wants_colour(self.colour, self.is_terminal, os.environ)

    def check(self) -> None:
        """Check before the work that the result can be written.

        Raises:
            UsageError: The file exists, and ``force`` is off; or it is on another machine.
            InputError: There is no stdout, or no such folder.
        """
        if self.path is None:
            if sys.stdout is None:
                raise InputError("standard output is closed; open it, or give -o FILE")
            return
        local_folder(self.path)
        if is_folder(self.path):
            raise UsageError(f"{self.path}: is a folder; give the name of a file")
        if is_ordinary_file(self.path) and not self.force:
            raise UsageError(f"{self.path}: exists already; --force overwrites it")
        if not is_folder(self.path.parent):
            raise InputError(f"{self.path}: cannot be written: there is no such folder")

    def data(self, text: str) -> str:
        """A text without colours of ours as it may be written here: harmless to a terminal."""
        return harmless(text) if self.is_terminal else text

    def refuse_terminal(self) -> None:
        """Refuse to write binary data to a terminal.

        Raises:
            UsageError: The target is a terminal.
        """
        if self.is_terminal:
            raise UsageError("the result is binary and would go to a terminal; give -o FILE")

    def console(self, width: int | None = None) -> Console:
        """A console that keeps what is printed, for ``write``.

        Args:
            width: Cells, if neither ``COLUMNS`` nor a terminal gives a width.
        """
        import io

        from rich.console import Console

        return Console(
            file=io.StringIO(),
            width=self._width() or width or PLAIN_WIDTH,
            force_terminal=self.in_colour,
            color_system="auto" if self.in_colour else None,
            no_color=not self.in_colour,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def glyphs(self) -> Glyphs:
        """The characters that the target can show."""
        from tfprof.core.text.characters import ASCII, UNICODE

        if self.path is not None:
            return UNICODE
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        try:
            "…─├└│▏█–µ".encode(encoding)
        except (UnicodeEncodeError, LookupError):
            return ASCII
        return UNICODE

    def write_chunks(self, chunks: Iterable[bytes]) -> None:
        """Write bytes: a file as a whole or not at all, stdout as they come.

        Raises:
            UsageError: The file exists, and ``force`` is off.
            InputError: The target cannot be written.
        """
        if self.path is not None:
            write_file(self.path, chunks, overwrite=self.force)
            return
        if self.is_terminal or not hasattr(sys.stdout, "buffer"):
            self.write(harmless(_as_text(chunks)))
            return
        _record(None)
        with writing_stdout():
            sys.stdout.flush()
            sys.stdout.buffer.writelines(chunks)
            sys.stdout.buffer.flush()

    def write_packed(self, chunks: Iterable[bytes]) -> None:
        """Write bytes piece by piece; a file is packed if its name says so."""
        from tfprof.files.compressed_output import packed

        self.write_chunks(packed(chunks, "" if self.path is None else self.path.name))

    def write(self, content: str) -> None:
        """Write a text as a whole or not at all; a file is packed if its name says so.

        Raises:
            UsageError: The file was made meanwhile.
            InputError: The target cannot be written.
        """
        if self.path is not None:
            self.write_packed([content.encode("utf-8", "backslashreplace")])
            return
        _record(("text", content, self.colour, self.pager))
        if self.is_terminal:
            content = _without_commands(content)
        with writing_stdout():
            if self._wants_pages(content):
                with suppress(BrokenPipeError), _less_options():
                    click.echo_via_pager(content, color=self._pager_colour())
            else:
                _write_stdout(content)

    def _pager_colour(self) -> bool | None:
        """Whether the pager gets colours; None leaves it to click, which adds an option of less."""
        pager = (os.environ.get("PAGER", "").split() or ["less"])[0]
        is_forced = self.colour == "always" and os.environ.get("LESS")
        is_left_to_click = Path(pager).stem == "less" and self.in_colour and not is_forced
        return None if is_left_to_click else self.in_colour

    def _wants_pages(self, content: str) -> bool:
        if not (self.pager and self.is_terminal and is_terminal(sys.stdin)):
            return False
        return os.environ.get("TERM") != "dumb" and content.count("\n") >= self.lines

    @property
    def lines(self) -> int:
        """Lines of the terminal."""
        return shutil.get_terminal_size().lines or _LINES_OF_A_SCREEN

    def _width(self) -> int | None:
        columns = os.environ.get("COLUMNS", "")
        if columns.isdecimal() and int(columns) > 0:
            return int(columns)
        return shutil.get_terminal_size().columns if self.is_terminal else None


_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")


@contextmanager
def _less_options() -> Iterator[None]:
    """Set ``LESS`` while a pager runs, unless the user has set it."""
    is_ours = "LESS" not in os.environ
    if is_ours:
        os.environ["LESS"] = _LESS
    try:
        yield
    finally:
        if is_ours:
            os.environ.pop("LESS", None)


def wants_colour(choice: ColourChoice, is_terminal: bool, environ: Mapping[str, str]) -> bool:
    """Whether to use colours, by the option, NO_COLOR, FORCE_COLOR and the kind of stdout."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"


def harmless(text: str) -> str:
    """The text with control characters made visible, so that they cannot steer a terminal."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from tfprof.core.text.characters import escaped

    return escaped(text, keep="\n\t")


def _without_commands(text: str) -> str:
    """The text with everything made visible that steers a terminal, but for colours."""
    if "\x1b" not in text:
        return harmless(text)
    return "".join(
        part if _COLOURS.fullmatch(part) else harmless(part) for part in _COLOURS.split(text)
    )


def note(text: str, kind: str = "note") -> None:
    """Print a line on stderr, beside the result."""
    _record(("note", text, kind))
    if sys.stderr is None:  # closed by the caller
        return
    try:
        sys.stderr.write(f"{kind}: {harmless(text)}\n")
        sys.stderr.flush()
    except OSError:  # its reader has gone, or its disk is full: the result counts
        silence(sys.stderr)


def notes(texts: Iterable[str], kind: str = "note") -> None:
    """Print the first of some lines, and how many more there are: files hold any number."""
    from tfprof.core.text.wording import shortened  # imports more than the first screen needs

    every = list(texts)
    for text in every[:_MOST_NOTES]:
        note(shortened(text), kind)
    if len(every) > _MOST_NOTES:
        note(f"{len(every) - _MOST_NOTES:,} more; --format json has all where it is taken", kind)


def _record(part: Recorded | None) -> None:
    """Add to the record of the running command, if there is one; None is what cannot be kept."""
    context = click.get_current_context(silent=True)
    if context is not None and RECORDED in context.meta:
        context.meta[RECORDED].append(part)


def deliver_quietly(work: Callable[[], T]) -> T | int:
    """Do the work; if the reader of stdout goes away (``| head -1``), stop without an error."""
    try:
        result = work()
        if sys.stdout is not None:
            sys.stdout.flush()
        return result
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):  # EINVAL: a closed pipe on Windows
            raise
        if not _has_no_reader(sys.stdout):
            if error.errno == errno.EPIPE:  # click would end without a word
                what = "what reads a pipe or a connection of this process is gone"
                raise InputError(f"{what}: {error}") from error
            raise
        silence(sys.stdout)
        return 0


def _has_no_reader(stream: Any) -> bool:
    """Whether the reader of a pipe has gone; also where that cannot be known, as on Windows."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
    except (AttributeError, OSError, ValueError):
        return True
    return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))


def _as_text(chunks: Iterable[bytes]) -> str:
    """Bytes as text, for a stdout that takes only text, such as that of the shell.

    Raises:
        UsageError: The bytes are not text.
    """
    try:
        return b"".join(chunks).decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            "the result is binary, which the shell cannot pass on; give -o FILE"
        ) from error


@contextmanager
def writing_stdout() -> Iterator[None]:
    """Turn an error of writing to stdout into an InputError, except a closed pipe."""
    try:
        yield
    except (BrokenPipeError, TfprofError):
        raise
    except (OSError, ValueError) as error:
        silence(sys.stdout)
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"standard output: cannot be written: {reason}") from error


def silence(stream: Any) -> None:
    """Redirect stdout or stderr to nowhere, as Python's flush at exit would fail once more."""
    try:
        descriptor = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def is_pipe(stream: Any) -> bool:
    """Whether another program reads a stream."""
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # no file at all, or closed
        return False


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; a closed one is not."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # closed
        return False


def _write_stdout(text: str) -> None:
    stream = sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(text)
    stream.flush()
