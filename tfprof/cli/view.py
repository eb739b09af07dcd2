"""Shared by the commands ``scope``, ``graph``, ``op`` and ``code``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import (
    Command,
    CommandOption,
    IntType,
    chosen_options,
    from_params,
    view_options,
)
from tfprof.cli.output import Target, is_pipe, note, notes
from tfprof.cli.results import (
    SECTION,
    ResultChoice,
    as_csv,
    as_json,
    as_text,
    print_remarks,
    result_options,
)
from tfprof.cli.web_pages import as_params, write_page
from tfprof.errors import TfprofWarning, UsageError

if TYPE_CHECKING:
    from tfprof.core.columns.remarks import Notice
    from tfprof.views.result import ViewTree
    from tfprof.views.write.outputs import OutputFile

FORMATS = ("text", "table", "tree", "json", "csv", "html")
TERMINAL_ROWS = 40
LEAST_ROWS = 12
_AROUND_ROWS = 8
"""Lines around the rows: header, rules, total, two remarks of two lines, and the prompt."""

_FOR_PEOPLE = ("text", "table", "tree")
_WITH_HINTS = ("table", "tree", "html")

_ABOUT = """

Commas separate the elements of a list, and an option with a list may be given several times; a
backslash before a comma keeps it; '' is the empty list. Regexes are RE2 and match whole names.
Every option may be written -max_depth 4, -max_depth=4, --max_depth=4 or --max-depth 4.
"""


def view_command(kind: str, about: str, examples: Sequence[str]) -> Command:
    """The command of one view."""

    def run(max_rows: int | None, **params: Any) -> None:
        inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
        run_view(kind, inputs, chosen_options(params), result, max_rows)

    return Command(
        kind,
        callback=run,
        is_cached=True,
        params=[*input_options(), *view_options(), *view_result_options()],
        help=about + _ABOUT,
        examples=examples,
    )


def view_result_options() -> list[CommandOption]:
    """The options that say how and where a view is shown."""
    options = result_options(
        FORMATS,
        "text: the classic report. table: aligned and coloured, with units; a dash means not "
        "measured. tree: an outline with shares. json, csv: all numbers, units in the column "
        "names. html: a page in one file. [default: the ending of FILE, else table on a terminal, "
        "else text]",
        default=None,
    )
    rows = CommandOption(
        ["--max_rows"], type=IntType(), default=None, metavar="N", section=SECTION,
        help="Rows of a table, tree or page; the smallest are left out; 0 is all. [default: "
        f"as many as fit on a terminal, up to {TERMINAL_ROWS}; else all]",
    )  # fmt: skip
    place = next(i for i, option in enumerate(options) if option.name == "color")
    return [*options[:place], rows, *options[place:]]


def run_view(
    kind: str,
    inputs: RunInputs,
    options: dict[str, Any],
    result: ResultChoice,
    max_rows: int | None,
) -> None:
    """Read the files, build the view and write it.

    Args:
        kind: Kind of the view.
        inputs: The files to read.
        options: Options of the view, as the library takes them.
        result: Form and target of the result.
        max_rows: Rows of a table; 0 is all, None as many as fit.
    """
    target = _target(result, options)
    chosen_format = result.format or ("table" if target and target.is_terminal else "text")
    if max_rows is None:
        max_rows = _default_rows(chosen_format, target)
    elif max_rows < 0:
        raise UsageError(f"option --max_rows={max_rows} must be 0 (all) or more")
    length: Iterable[Notice] = ()
    with warnings_as_notes():
        profiler = open_profiler(inputs)
        tree = profiler.view(kind, options)
        if target is not None and chosen_format == "html" and _is_text(options):
            _write_page(tree, options, max_rows, inputs.title, target)
        elif target is not None and _is_text(options):
            text = _formatted(tree, chosen_format, target, max_rows)
            target.write(text)
            length = _about_length(tree, text, chosen_format, target)
        elif target is not None:
            write_files(profiler.output_files(kind, options), result)
    print_remarks([*tree.notices, *_hints(tree, chosen_format, options), *length])


def _hints(tree: ViewTree, chosen_format: str, options: dict[str, Any]) -> Iterator[Notice]:
    """The remarks below tables and pages, for formats that have no place for them."""
    from tfprof.core.columns.remarks import Notice
    from tfprof.views.show.view_texts import about_idle, about_unknown, hints

    if tree.options.classic or not _is_text(options) or chosen_format in _WITH_HINTS:
        return
    in_data = chain(about_idle(tree), about_unknown(tree))
    for remark in hints(tree) if chosen_format == "text" else in_data:
        yield Notice("hint", remark)


def _about_length(tree: ViewTree, text: str, chosen_format: str, target: Target) -> list[Notice]:
    """A remark on a text that is too long to read; programs read pipes and other formats."""
    from tfprof.core.columns.remarks import Notice
    from tfprof.views.show.view_texts import about_length

    if tree.options.classic or target.path is not None or chosen_format not in _FOR_PEOPLE:
        return []
    if is_pipe(sys.stdout):
        return []
    return [Notice("hint", remark) for remark in about_length(tree, text)]


def write_files(files: Iterable[OutputFile], result: ResultChoice) -> None:
    """Write files, and print how to open each; or write one file to stdout.

    Raises:
        UsageError: A file exists, and ``force`` is off; or there are too many for stdout.
        InputError: A file cannot be written.
    """
    if result.outfile == "-":
        first, *more = files
        if more:
            raise UsageError(
                f"--outfile -: {1 + len(more)} steps make as many files, but stdout takes one; "
                "choose a step with --step, or give the name of a file"
            )
        Target().write_chunks(first.chunks)
        return
    for file in files:
        target = Target(path=Path(file.path), force=result.force)
        target.check()
        target.write_chunks(file.chunks)
        if file.after:
            note(file.after.strip())


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the library's warnings in the form of the command's other messages."""
    import logging

    # Without a handler, logging itself would print notices to stderr a second time.
    logging.getLogger("tfprof").addHandler(logging.NullHandler())
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TfprofWarning)
            yield
    finally:
        notes((str(warning.message) for warning in caught), "tfprof: warning")


def _target(result: ResultChoice, options: dict[str, Any]) -> Target | None:
    """The target of the result; None for ``--output none``."""
    from tfprof.options.output import parse_output

    output = parse_output(options["output"])
    if result.outfile is not None and output.type != "stdout":
        raise UsageError(
            f"--outfile {result.outfile} and --output {options['output']} contradict each other"
        )
    if output.type == "none":
        return None
    if not output.outfile:
        return result.target()
    target = Target(Path(output.outfile), result.force, result.color, result.pager)
    target.check()
    return target


def _is_text(options: dict[str, Any]) -> bool:
    from tfprof.options.output import parse_output

    return parse_output(options["output"]).type in ("stdout", "file")


def _write_page(
    tree: ViewTree, options: dict[str, Any], max_rows: int, source: str, target: Target
) -> None:
    from tfprof.ui.pages.view_pages import view_page

    page = view_page(tree, source, as_params(options), max_rows=max_rows)
    write_page(page, source, target)


def _formatted(tree: ViewTree, name: str, target: Target, max_rows: int) -> str:
    if name == "table":
        from tfprof.views.show.terminal import ViewTable

        return as_text([ViewTable(tree, max_rows, target.glyphs())], target, width=None)
    if name == "tree":
        from tfprof.views.show.terminal import ViewOutline

        return as_text([ViewOutline(tree, max_rows, target.glyphs())], target, width=None)
    from tfprof.views.show.tfprof_text import render_report

    if name == "csv":
        text = as_csv(tree.to_rows())
    else:
        text = _as_json(tree) if name == "json" else render_report(tree)
    return target.data(text)


def _default_rows(name: str, target: Target | None) -> int:
    if name == "html" or target is None or not target.is_terminal:
        return 0
    return max(LEAST_ROWS, min(TERMINAL_ROWS, target.lines - _AROUND_ROWS))


def _as_json(tree: ViewTree) -> str:
    from tfprof.views.ordering import lacking

    notices = [
        {"code": notice.code, "text": notice.text, "count": notice.count} for notice in tree.notices
    ]
    head: dict[str, Any] = {
        "view": tree.kind,
        "steps": tree.profile.steps.steps,
        "notices": notices,
    }
    if not tree.options.classic:
        head["missing"] = lacking(tree)
    return as_json(head, tree.to_rows())
