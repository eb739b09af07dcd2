"""``tfprof advise``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import only_captures, open_captures
from tfprof.cli.inputs import input_options, open_profiler
from tfprof.cli.options import Command, CommandOption
from tfprof.cli.output import Target, harmless, note
from tfprof.cli.results import as_text, result_options, target_of, tell
from tfprof.cli.spelling import split_list
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.columns.findings import Finding
    from tfprof.profiler import Profiler


def run(**given: Any) -> None:
    """Read, check, write."""
    target = target_of(given)
    names = split_list(given["checkers"]) if given["checkers"] else None
    if names == []:
        raise UsageError("--checkers names no checker; leave it out to run all of them")
    captures = only_captures(given)
    if captures:
        target.write(_of_capture(captures, names, given, target))
        return
    with warnings_as_notes():
        profiler = open_profiler(given)
        if profiler.classic:
            text = _classic(profiler, names, given)
            text = harmless(text) if target.is_terminal else text
        else:
            text = _findings(profiler, names, given, target)
    target.write(text)
    tell(profiler.notices)


def _classic(profiler: Profiler, names: list[str] | None, given: dict[str, Any]) -> str:
    """What ``advise`` prints."""
    import contextlib
    import io

    if given["format"] == "json" or given["show_library_frames"]:
        raise UsageError(
            "--classic prints TensorFlow's text, which has neither --format json nor "
            "--show_library_frames"
        )
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        profiler.advise(names)
    return printed.getvalue()


def _of_capture(
    captures: Sequence[str], names: list[str] | None, given: dict[str, Any], target: Target
) -> str:
    """What the practices say about what the TensorFlow 2 profiler has captured."""
    from tfprof.advisor.captures import capture_findings, capture_notes
    from tfprof.captures.practices.practices import PRACTICES
    from tfprof.options.parse import is_classic

    if is_classic(given["classic"]):
        raise UsageError(
            "TensorFlow's own checkers know no captures of the TensorFlow 2 profiler; leave "
            "--classic out"
        )
    with warnings_as_notes():
        run = open_captures(captures, None)
        found = capture_findings(run, names)
        for notice in capture_notes(run):
            note(f"{notice.message}{f' [{notice.host}]' if notice.host else ''}")
    return _report(found, list(PRACTICES) if names is None else names, given, target)


def _findings(
    profiler: Profiler, names: list[str] | None, given: dict[str, Any], target: Target
) -> str:
    from tfprof.advisor.registry import select_checkers

    found = profiler.findings(names, show_library_frames=given["show_library_frames"])
    return _report(found, list(select_checkers(names)), given, target)


def _report(
    found: list[Finding], checkers: list[str], given: dict[str, Any], target: Target
) -> str:
    from tfprof.advisor.findings_text import FindingsReport, findings_json

    if given["format"] == "json":
        return findings_json(found, checkers)
    return as_text([FindingsReport(found, checkers, target.glyphs())], target)


def _options() -> list[CommandOption]:
    section = "What to check"
    return [
        CommandOption(
            ["--checkers"], metavar="NAMES", multiple=True, section=section,
            help="Checkers to run, separated by commas. [default: all, those of installed "
            "packages too]",
        ),
        CommandOption(
            ["--show_library_frames"], is_flag=True, section=section,
            help="Blame the innermost line of a call stack, even in TensorFlow, Keras or another "
            "installed package. [default: the innermost line of your own code]",
        ),
        *result_options(
            ["text", "json"], "text: to read. json: with all numbers behind each finding."
        ),
    ]  # fmt: skip


command = Command(
    "advise",
    callback=run,
    params=[*input_options(), *_options()],
    help="Check a run and say what to do about what costs most: each finding names the line to "
    "look at, what can be gained at most, and the page of TensorFlow's guides behind it. With "
    "--classic, print the reports of TensorFlow's own checkers.",
    examples=[
        "tfprof advise --demo",
        "tfprof advise --graph_path graph.pb --run_meta_path run_meta.pb --op_log_path op_log.pb "
        "--checkers InputBoundChecker,PeakMemoryChecker --format json",
    ],
)
