"""``tfprof tools``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import capture_paths, open_captures, path_argument, run_option
from tfprof.cli.commands.tool import print_notes
from tfprof.cli.inputs import RunInputs
from tfprof.cli.options import Command, from_params
from tfprof.cli.output import Target
from tfprof.cli.results import ResultChoice, as_csv, as_json, as_text, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.files.disk import is_folder

if TYPE_CHECKING:
    from tfprof.captures.run.run import Host, Run
    from tfprof.captures.show.captures import HostFigures


def show(run: str | None, **params: Any) -> None:
    """Read a capture and write what it holds."""
    result = from_params(ResultChoice, params)
    target = result.target()
    show_contents(capture_paths(from_params(RunInputs, params)), run, result.format, target)


def show_contents(paths: Sequence[str], name: str | None, form: str | None, target: Target) -> None:
    """Write what captures hold.

    Args:
        paths: A folder, or files.
        name: Run of a log folder; None is the latest.
        form: ``text``, ``json`` or ``csv``.
        target: Where the result goes.
    """
    with warnings_as_notes():
        captured = open_captures(paths, name)
    target.write(_written(captured, paths, form, target))
    print_notes(captured.notes)


def _written(captured: Run, paths: Sequence[str], form: str | None, target: Target) -> str:
    from tfprof.captures.run.contents import tools_with_data
    from tfprof.captures.show.captures import CaptureText
    from tfprof.files.run_folder import runs

    tools = tools_with_data(host.space for host in captured.hosts)
    hosts = [_figures(host) for host in captured.hosts]
    names = list(runs(Path(paths[0]))) if is_folder(paths[0]) else []
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


def _figures(host: Host) -> HostFigures:
    import numpy as np

    from tfprof.captures.show.captures import HostFigures

    planes = [plane for plane in host.space.planes if len(plane.events)]
    return HostFigures(
        host.name,
        host.machine,
        tuple(plane.name for plane in planes if plane.name.startswith("/device:")),
        sum(int((np.diff(plane.events.first) > 0).sum()) for plane in planes),
        host.space.n_events,
    )


_FORMATS_HELP = (
    "text: a report. json: everything, one host a line; for each tool null, or what is missing. "
    "csv: the hosts."
)

command = Command(
    "tools",
    callback=show,
    params=[
        path_argument(),
        run_option(),
        *result_options(("text", "json", "csv"), _FORMATS_HELP),
    ],
    help="Show what a capture holds: the runs of a log folder, the hosts of a run and their "
    "devices, and the tools that have data.",
    examples=["tfprof tools logs/", "tfprof tools logs/ --run 2026_01_31_12_00_00 --format json"],
)
