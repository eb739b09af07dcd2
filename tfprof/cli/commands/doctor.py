"""``tfprof doctor``."""

from __future__ import annotations

from typing import Any

import click

from tfprof.cli.options import Command, CommandOption
from tfprof.cli.results import SECTION, as_json, as_text, result_options, target_of
from tfprof.cli.view import warnings_as_notes

EXIT_FOUND = 1
"""Something can not work."""


class _Paths(click.Argument):
    """The files, among the inputs in the help text."""

    section = "What to examine"

    def __init__(self) -> None:
        super().__init__(["paths"], metavar="[PATH]...", nargs=-1)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Its line in the help text."""
        return "PATH", (
            "Graph, run metadata, op log, saved profile or capture (*.xplane.pb), also .gz, .xz "
            "or .zst; a checkpoint; or a folder of such, such as a log folder with "
            "plugins/profile."
        )


def run(**given: Any) -> int:
    """Examine, write; 1 if something can not work."""
    target = target_of(given)
    from tfprof.doctor import examine

    servers = [address for listed in given["server"] for address in listed.split(",")]
    with warnings_as_notes():
        report = examine(given["paths"], servers)
    if given["format"] == "json":
        data = report.to_dict()
        text = as_json(data, data.pop("rows"))
    else:
        from tfprof.doctor.text import ReportText

        text = as_text([ReportText(report, target.glyphs())], target)
    target.write(text)
    found = report.count("error") + (report.count("warning") if given["strict"] else 0)
    return EXIT_FOUND if found else 0


def _options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--server"], metavar="HOST:PORT", multiple=True, section=_Paths.section,
            help="Ask whether a profiler server answers there; several are separated by commas. "
            "No other address is connected to.",
        ),
        CommandOption(
            ["--strict"], is_flag=True, section=SECTION,
            help="Exit with 1 on warnings, too. [default: on errors only]",
        ),
        *result_options(
            ["text", "json"],
            "text: to read. json: every check, one a line, with its status, message, remedy and "
            "command.",
        ),
    ]  # fmt: skip


command = Command(
    "doctor",
    callback=run,
    params=[_Paths(), *_options()],
    help="Say why something does not work or does not show, and what to do about it: packages, "
    "NVIDIA driver, CUPTI and its privileges, profiler servers, and files that are empty, damaged "
    "or only half of what they should be. TensorFlow is not imported. Exits with 1 if something "
    "can not work.",
    examples=[
        "tfprof doctor",
        "tfprof doctor run_meta.pb graph.pb --server localhost:6009",
        "tfprof doctor logdir --format json -o report.json",
    ],
)
