"""How and where a result is shown: options that most commands have, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tfprof.cli.options import Choice, CommandOption, OutputPath
from tfprof.cli.output import ColourChoice, Target, note
from tfprof.cli.session import untold
from tfprof.errors import UsageError
from tfprof.files.disk import PACKED_SUFFIXES

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tfprof.columns.remarks import Notice

SECTION = "Result"

_FORMAT_ENDINGS = ("csv", "html", "json", "jsonl", "pdf", "png", "svg")
"""Names that end so promise a format, whichever command writes the file."""

PLAIN_WIDTH = 100
"""Width where neither a terminal nor ``COLUMNS`` says one: the same text everywhere."""


@dataclass(frozen=True, slots=True)
class ResultChoice:
    """What the options of ``result_options`` say; a command may have only some of them.

    Attributes:
        outfile: The file; None and ``-`` are stdout.
        force: Overwrite it.
        format: What to write; None if the command is to choose.
        color: Whether to colour.
        pager: Show what is longer than the terminal page by page.
    """

    outfile: str | None = None
    force: bool = False
    format: str | None = None
    color: ColourChoice = "auto"
    pager: bool = False

    def target(self) -> Target:
        """Where the result goes; what could not be written is refused at once.

        Raises:
            UsageError: The file exists and was not to be overwritten.
            InputError: There is no stdout, or no such folder.
        """
        path = None if self.outfile in (None, "-") else Path(self.outfile)
        target = Target(path, self.force, self.color, self.pager)
        target.check()
        return target


def result_options(
    formats: Sequence[str] = (), about: str = "", default: str | None = "text"
) -> list[CommandOption]:
    """The options.

    Args:
        formats: What ``--format`` takes; none if there is no choice.
        about: What the formats are.
        default: The format if neither ``--format`` nor the ending of the file tells one; None
            leaves that to the command, which says so in ``about``.
    """
    chosen = [format_option(formats, about, default)] if formats else []
    return [*file_options(), *chosen, color_option(), pager_option()]


def format_option(formats: Sequence[str], about: str, default: str | None) -> CommandOption:
    """``--format``; the arguments are those of ``result_options``."""

    def told(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None:
            return value
        name = Path(ctx.params.get("outfile") or "")
        ending = (name.with_suffix("") if name.suffix in PACKED_SUFFIXES else name).suffix[1:]
        if ending.lower() in formats:
            return ending.lower()
        if ending.lower() in _FORMAT_ENDINGS:
            raise UsageError(
                f"--outfile {name}: {ctx.info_name} does not write {ending}; name the file as one "
                f"of its formats ({', '.join(formats)}), or give --format to say which it is"
            )
        return default

    return CommandOption(
        ["--format"], type=Choice(list(formats)), default=None, section=SECTION,
        callback=told,
        help=f"{about} [default: what FILE ends in, else {default}]" if default else about,
    )  # fmt: skip


def file_options(
    about: str = "Write to a file; - is stdout.", required: bool = False
) -> list[CommandOption]:
    """``-o`` and ``--force``.

    Args:
        about: What the file is.
        required: Whether there must be one.
    """
    return [
        CommandOption(
            ["-o", "--outfile"], type=OutputPath(), metavar="FILE", section=SECTION,
            required=required, help=about,
            is_eager=True,  # --format asks for it
        ),
        CommandOption(
            ["--force"], is_flag=True, section=SECTION, help="Overwrite the file if it exists.",
        ),
    ]  # fmt: skip


def color_option() -> CommandOption:
    """``--color``."""
    return CommandOption(
        ["--color"], type=Choice(["auto", "always", "never"]), default="auto",
        section=SECTION, help="Colour; auto heeds NO_COLOR and FORCE_COLOR. [default: auto]",
    )  # fmt: skip


def pager_option() -> CommandOption:
    """``--pager``."""
    return CommandOption(
        ["--pager/--no-pager"], default=True, section=SECTION,
        help="Show what is longer than the terminal with the program that PAGER names, else less "
        "or more. [default: do so]",
    )  # fmt: skip


def as_text(
    parts: Sequence[RenderableType], target: Target, width: int | None = PLAIN_WIDTH
) -> str:
    """What rich makes of things, without blanks at the ends of lines.

    Args:
        parts: The things.
        target: Where the text goes.
        width: Cells there are if the target does not say; None is as many as are needed.
    """
    console = target.console(width)
    for part in parts:
        console.print(part, crop=False)
    return printed(console)


def printed(console: Console) -> str:
    """What a console has kept, without blanks at the ends of lines."""
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return "".join(f"{line.rstrip()}\n" for line in text.replace("\u00a0", " ").splitlines())


def as_json(head: dict[str, Any], rows: Iterable[dict[str, Any]]) -> str:
    """One object with one row a line, so that line tools can be used on it, too."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    start = json.dumps(head, ensure_ascii=False, default=str)
    return f'{start[:-1]}, "rows": [\n{lines}\n]}}\n'


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table with the names of its columns."""
    from tfprof.text.csv_text import csv_text

    return csv_text(rows)


def tell(notices: Iterable[Notice]) -> None:
    """Make remarks on the data, beside the result; in a session each of them once."""
    texts = [
        notice.text if notice.count == 1 else f"{notice.text} ({notice.count} times)"
        for notice in notices
    ]
    for text in untold(texts):
        note(text)
