"""The options for the form and target of a result, which most commands have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tfprof.cli.options import Choice, CommandOption, OutputPath
from tfprof.cli.output import ColourChoice, Target, notes
from tfprof.cli.session import new_remarks
from tfprof.errors import UsageError
from tfprof.files.disk import PACKED_SUFFIXES

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tfprof.core.columns.remarks import Notice

SECTION = "Result"

_TABLE_ENDINGS = ("arrow", "csv", "feather", "jsonl", "ndjson", "parquet")
"""Endings of tables that ``tfprof convert`` writes."""

_FORMAT_ENDINGS = (*_TABLE_ENDINGS, "html", "json", "ods", "pdf", "pftrace", "png", "svg", "xlsx")
"""Endings of file names that name a format, whichever command writes the file."""

PLAIN_WIDTH = 100
"""Width without a terminal or ``COLUMNS``, so that the text is the same everywhere."""


@dataclass(frozen=True, slots=True)
class ResultChoice:
    """The values of ``result_options``; a command may have only some of them.

    Attributes:
        outfile: The file; None and ``-`` are stdout.
        force: Overwrite the file.
        format: The format; None leaves it to the command.
        color: When to use colours.
        pager: Page a text that is longer than the terminal.
    """

    outfile: str | None = None
    force: bool = False
    format: str | None = None
    color: ColourChoice = "auto"
    pager: bool = False

    def target(self) -> Target:
        """The target of the result, checked.

        Raises:
            UsageError: The file exists, and ``force`` is off.
            InputError: There is no stdout, or no such folder.
        """
        path = None if self.outfile in (None, "-") else Path(self.outfile)
        target = Target(path, self.force, self.color, self.pager)
        target.check()
        return target


def result_options(
    formats: Sequence[str] = (),
    about: str = "",
    default: str | None = "text",
    endings: Mapping[str, str] | None = None,
) -> list[CommandOption]:
    """The options for the form and target of a result.

    Args:
        formats: Values of ``--format``; empty leaves the option out.
        about: Help text on the formats.
        default: The format if neither ``--format`` nor the ending of the file names one; None
            leaves it to the command, which says so in ``about``.
        endings: Formats by the endings of files that are named otherwise.
    """
    chosen = [format_option(formats, about, default, endings)] if formats else []
    return [*file_options(), *chosen, color_option(), pager_option()]


def format_option(
    formats: Sequence[str],
    about: str,
    default: str | None,
    endings: Mapping[str, str] | None = None,
) -> CommandOption:
    """``--format``; the arguments are those of ``result_options``."""

    def chosen_format(
        ctx: click.Context, parameter: click.Parameter, value: str | None
    ) -> str | None:
        if value is not None:
            return value
        name = Path(ctx.params.get("outfile") or "")
        ending = (name.with_suffix("") if name.suffix in PACKED_SUFFIXES else name).suffix[1:]
        named = (endings or {}).get(ending.lower(), ending.lower())
        if named in formats:
            return named
        if ending.lower() in _FORMAT_ENDINGS:
            raise UsageError(
                f"--outfile {name}: {ctx.info_name} does not write {ending}; name the file as one "
                f"of its formats ({', '.join(formats)}), or give --format to say which it is"
                + _other_writer(ending.lower(), name)
            )
        return default

    return CommandOption(
        ["--format"], type=Choice(list(formats)), default=None, section=SECTION,
        callback=chosen_format,
        help=f"{about} [default: the ending of FILE, else {default}]" if default else about,
    )  # fmt: skip


def _other_writer(ending: str, name: Path) -> str:
    if ending in _TABLE_ENDINGS:
        return f". tfprof convert PATH {name.name} --table TABLE writes a table"
    return f". tfprof convert PATH {name.name} writes a trace" if ending == "pftrace" else ""


def file_options(
    about: str = "Write to a file; - is stdout.",
    required: bool = False,
    *,
    writes_pages: bool = True,
) -> list[CommandOption]:
    """``-o`` and ``--force``.

    Args:
        about: Help text on the file.
        required: Whether the option is required.
        writes_pages: Whether the file may be a page; if not, a name of one is refused.
    """

    def checked(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if not writes_pages and (value or "").lower().endswith((".html", ".htm")):
            raise UsageError(
                f"--outfile {value}: {ctx.info_name} writes no page; give the file another ending. "
                "tfprof report writes pages"
            )
        return value

    return [
        CommandOption(
            ["-o", "--outfile"], type=OutputPath(), metavar="FILE", section=SECTION,
            required=required, help=about, callback=checked,
            # --format needs its value. Of click 8.1, --help would come after a required one.
            is_eager=not required,
        ),
        CommandOption(
            ["--force"], is_flag=True, section=SECTION, help="Overwrite the file if it exists.",
        ),
    ]  # fmt: skip


def color_option() -> CommandOption:
    """``--color``."""
    return CommandOption(
        ["--color"], type=Choice(["auto", "always", "never"]), default="auto",
        section=SECTION, help="Use colours; auto follows NO_COLOR and FORCE_COLOR. [default: auto]",
    )  # fmt: skip


def pager_option() -> CommandOption:
    """``--pager``."""
    return CommandOption(
        ["--pager/--no-pager"], default=True, section=SECTION,
        help="Page a text that is longer than the terminal, with the program that PAGER names, or "
        "less or more. [default: --pager]",
    )  # fmt: skip


def as_text(
    parts: Sequence[RenderableType], target: Target, width: int | None = PLAIN_WIDTH
) -> str:
    """Print with rich into a text without blanks at the ends of lines.

    Args:
        parts: What to print.
        target: Where the text goes.
        width: Cells, if the target has no width; None folds nothing.
    """
    console = target.console(width)
    for part in parts:
        console.print(part, crop=False)
    return printed(console)


def printed(console: Console) -> str:
    """The text that a console has kept, without blanks at the ends of lines."""
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return "".join(f"{line.rstrip()}\n" for line in text.replace("\u00a0", " ").splitlines())


def as_json(head: dict[str, Any], rows: Iterable[dict[str, Any]]) -> str:
    """One JSON object with one row a line, for line tools such as grep."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    start = json.dumps(head, ensure_ascii=False, default=str)
    return f'{start[:-1]}, "rows": [\n{lines}\n]}}\n'


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """A CSV table with the names of its columns."""
    from tfprof.core.text.csv_text import csv_text

    return csv_text(rows)


def print_capture_warnings(notices: Iterable[Notice]) -> None:
    """Print on stderr what is missing in a profile's captures, if the result has no other place."""
    print_remarks(one for one in notices if one.code in ("capture-error", "capture-warning"))


def print_remarks(notices: Iterable[Notice]) -> None:
    """Print remarks on the data on stderr; in a session each of them once."""
    notes(new_remarks(map(str, notices)))
