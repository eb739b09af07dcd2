"""``tfprof tools``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import (
    Question,
    capture_paths,
    demo_option,
    demo_paths,
    open_captures,
    path_argument,
    run_option,
    source_of,
)
from tfprof.cli.commands.tool import print_notes
from tfprof.cli.inputs import RunInputs
from tfprof.cli.options import Command, from_params
from tfprof.cli.output import Target
from tfprof.cli.results import ResultChoice, as_csv, as_json, as_text, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import write_page
from tfprof.files.disk import is_folder
from tfprof.files.remote.path import as_path

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run


def show(run: str | None, demo: bool, **params: Any) -> None:
    """Read a capture and write its contents."""
    result = from_params(ResultChoice, params)
    target = result.target()
    if demo:
        question = Question(params["paths"], run, demo=True)
        source = source_of(question)
        show_contents(demo_paths(question), None, result.format, target, source)
        return
    from tfprof.inputs.resolve import resolve

    paths = capture_paths(from_params(RunInputs, params))
    resolve(paths).only_captures("tools")
    show_contents(paths, run, result.format, target)


def show_contents(
    paths: Sequence[str], name: str | None, form: str | None, target: Target, source: str = ""
) -> None:
    """Write the contents of captures.

    Args:
        paths: A folder, or files.
        name: Run of a log folder; None is the latest.
        form: ``text``, ``json`` or ``csv``.
        target: Where the result goes.
        source: What a page is about; by default the names of the paths.
    """
    with warnings_as_notes():
        captured = open_captures(paths, name, _look_at)
    if form == "html":
        from tfprof.ui.pages.contents_page import contents_of_run

        page = contents_of_run(captured, _runs_in(paths))
        write_page(page, source or source_of(Question(tuple(paths))), target)
    else:
        target.write(_written(captured, paths, form, target))
    from tfprof.captures.facts.missing import notes_for_tools

    print_notes([*captured.notes, *notes_for_tools(captured)])


def _look_at(captured: Run) -> None:
    """Request all that is written."""
    from tfprof.captures.facts.missing import notes_for_tools
    from tfprof.ui.pages.contents_page import contents_of_run

    contents_of_run(captured)
    notes_for_tools(captured)


def _written(captured: Run, paths: Sequence[str], form: str | None, target: Target) -> str:
    from tfprof.captures.run.contents import tools_of
    from tfprof.captures.show.captures import CaptureText, host_figures

    tools = tools_of(captured.hosts)
    hosts = [host_figures(host) for host in captured.hosts]
    names = _runs_in(paths)
    if form == "text":
        shown = CaptureText(captured.name, names, hosts, tools, paths[0], target.glyphs())
        return as_text([shown], target)
    rows = [asdict(host) for host in hosts]
    if form == "json":
        head = {
            "run": captured.name,
            "runs": names,
            "tools": {data.tool: data.missing or None for data in tools},
        }
        return as_json(head, rows)
    return as_csv([row | {"devices": "; ".join(row["devices"])} for row in rows])


def _runs_in(paths: Sequence[str]) -> list[str]:
    """All runs of a log folder."""
    from tfprof.files.run_folder import runs

    return list(runs(as_path(paths[0]))) if is_folder(paths[0]) else []


_FORMATS_HELP = (
    "text: a report. json: everything, one host a line; for each tool null, or what is missing. "
    "csv: the hosts. html: a page in one file."
)

command = Command(
    "tools",
    callback=show,
    is_cached=True,
    params=[
        path_argument(),
        run_option(),
        demo_option(),
        *result_options(("text", "json", "csv", "html"), _FORMATS_HELP),
    ],
    help="Show what a capture holds: the runs of a log folder, the hosts of a run and their "
    "devices, and the tools that have data.",
    examples=["tfprof tools logs/", "tfprof tools logs/ --run 2026_01_31_12_00_00 --format json"],
)
