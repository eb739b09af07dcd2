"""``tfprof doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.cli.options import Command, CommandOption, HelpedArgument, from_params
from tfprof.cli.results import SECTION, ResultChoice, as_json, as_text, result_options
from tfprof.cli.view import warnings_as_notes

EXIT_FOUND = 1
"""Exit code if something cannot work."""


_EXAMINED = "What to examine"


def run(
    paths: Sequence[str],
    server: Sequence[str],
    strict: bool,
    gpu: bool,
    measure_peaks: bool,
    **params: Any,
) -> int:
    """Examine and write the report; returns 1 if something cannot work."""
    result = from_params(ResultChoice, params)
    target = result.target()
    from tfprof.doctor import examine

    servers = [address for listed in server for address in listed.split(",")]
    with warnings_as_notes():
        report = examine(paths, servers)
        if gpu:
            from tfprof.doctor.gpu_tracer import with_gpu_tracer

            report = with_gpu_tracer(report)
        if measure_peaks:
            from tfprof.doctor.peaks import with_peaks

            report = with_peaks(report)
    if result.format == "json":
        data = report.to_dict()
        text = as_json(data, data.pop("rows"))
    else:
        from tfprof.doctor.text import ReportText

        text = as_text([ReportText(report, target.glyphs())], target)
    target.write(text)
    n_problems = report.count("error") + (report.count("warning") if strict else 0)
    return EXIT_FOUND if n_problems else 0


def _paths() -> HelpedArgument:
    return HelpedArgument(
        "paths", "PATH",
        "Graph, run metadata, op log, saved profile or capture (*.xplane.pb), also .gz, .xz "
        "or .zst; a checkpoint; or a folder of these, such as a log folder with "
        "plugins/profile.",
        section=_EXAMINED, metavar="[PATH]...", nargs=-1,
    )  # fmt: skip


def _options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--server"], metavar="HOST:PORT", multiple=True, section=_EXAMINED,
            help="Check whether a profiler server answers there; several are separated by commas. "
            "tfprof connects to no other address.",
        ),
        CommandOption(
            ["--gpu"], is_flag=True, section=_EXAMINED,
            help="Record a moment of work of the GPU through cupti-python, in a process of its "
            "own, and show the result.",
        ),
        CommandOption(
            ["--measure-peaks"], is_flag=True, section=_EXAMINED,
            help="Measure for a few seconds how fast this processor multiplies matrices and moves "
            "memory, and keep it for the MFU of captures of this machine. Let nothing else run.",
        ),
        CommandOption(
            ["--strict"], is_flag=True, section=SECTION,
            help="Exit with 1 on warnings, too. [default: on errors only]",
        ),
        *result_options(
            ["text", "json"],
            "text: a report. json: every check, one a line, with its status, message, remedy and "
            "command.",
        ),
    ]  # fmt: skip


command = Command(
    "doctor",
    callback=run,
    params=[_paths(), *_options()],
    help="Find out why something does not work or does not show, and what to do about it. Checks "
    "packages, NVIDIA's driver, CUPTI and its privileges, profiler servers, and files that may be "
    "empty, damaged or incomplete. TensorFlow is not imported. Exits with 1 if something cannot "
    "work.",
    examples=[
        "tfprof doctor",
        "tfprof doctor run_meta.pb graph.pb --server localhost:6009",
        "tfprof doctor logdir --format json -o report.json",
        "tfprof doctor --measure-peaks",
    ],
)
