"""``tfprof advise``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import only_captures, open_captures
from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Command, CommandOption, from_params
from tfprof.cli.output import notes
from tfprof.cli.results import ResultChoice, as_text, print_remarks, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import write_page
from tfprof.errors import UsageError
from tfprof.options.lists import split_list

if TYPE_CHECKING:
    from tfprof.captures.run.result import Note
    from tfprof.captures.run.run import Run
    from tfprof.core.columns.findings import Finding
    from tfprof.inputs.profiler import Profiler


def run(checkers: Sequence[str], show_library_frames: bool, **params: Any) -> None:
    """Read, check, write."""
    inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
    target = result.target()
    names = split_list(checkers) if checkers else None
    if names == []:
        raise UsageError("--checkers names no checker; leave it out to run all of them")

    def write(findings: list[Finding], checkers: list[str], **remarks: Any) -> None:
        if result.format == "html":
            from tfprof.ui.pages.advice_page import advice_page

            write_page(advice_page(findings, checkers, **remarks), inputs.title, target)
            return
        from tfprof.advisor.findings_text import FindingsReport, findings_json

        if result.format == "json":
            target.write(findings_json(findings, checkers))
        else:
            target.write(as_text([FindingsReport(findings, checkers, target.glyphs())], target))

    captures = only_captures(inputs)
    if captures:
        from tfprof.captures.practices.practices import PRACTICES

        findings, remarks = _of_captures(captures, names, inputs)
        write(findings, names or list(PRACTICES), notes=remarks)
        return
    with warnings_as_notes():
        profiler = open_profiler(inputs)
        if profiler.classic:
            text = _classic(profiler, names, result.format, show_library_frames)
            if result.format == "html":
                from tfprof.ui.pages.advice_page import classic_advice_page

                write_page(classic_advice_page(text), inputs.title, target)
            else:
                target.write(target.data(text))
        else:
            from tfprof.advisor.registry import select_checkers

            findings = profiler.findings(names, show_library_frames=show_library_frames)
            write(findings, list(select_checkers(names)), notices=profiler.notices)
    print_remarks(profiler.notices)


def _classic(
    profiler: Profiler, names: list[str] | None, form: str | None, show_library_frames: bool
) -> str:
    """The text that ``Profiler.advise`` prints."""
    import contextlib
    import io

    if form == "json" or show_library_frames:
        raise UsageError(
            "--classic prints TensorFlow's text, which has neither --format json nor "
            "--show_library_frames"
        )
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        profiler.advise(names)
    return printed.getvalue()


def _of_captures(
    captures: Sequence[str], names: list[str] | None, inputs: RunInputs
) -> tuple[list[Finding], list[Note]]:
    """What the practices find in captures of the TensorFlow 2 profiler, and remarks on these."""
    from tfprof.captures.practices.findings import capture_findings, capture_notes
    from tfprof.options.parse import is_classic

    if is_classic(inputs.classic):
        raise UsageError(
            "TensorFlow's own checkers cannot read captures of the TensorFlow 2 profiler; leave "
            "out --classic"
        )

    def advised(run: Run) -> tuple[list[Finding], list[Note]]:
        return capture_findings(run, names), capture_notes(run)

    with warnings_as_notes():
        run = open_captures(captures, None, advised, inputs.reading)
        findings, remarks = advised(run)
        notes(map(str, remarks))
    return findings, remarks


def _options() -> list[CommandOption]:
    section = "What to check"
    return [
        CommandOption(
            ["--checkers"], metavar="NAMES", multiple=True, section=section,
            help="Checkers to run, separated by commas. [default: all, also those of installed "
            "packages]",
        ),
        CommandOption(
            ["--show_library_frames"], is_flag=True, section=section,
            help="Blame the innermost line of a call stack, even in TensorFlow, Keras or another "
            "installed package. [default: the innermost line of your own code]",
        ),
        *result_options(
            ["text", "json", "html"],
            "text: a report. json: also all numbers behind each finding. html: a page in one "
            "file.",
        ),
    ]  # fmt: skip


command = Command(
    "advise",
    callback=run,
    is_cached=True,
    params=[*input_options(), *_options()],
    help="Find what costs most in a run, and say what to do about it. Each finding names the line "
    "to look at, the most that can be gained, and a page of TensorFlow's guides. With --classic, "
    "print the reports of TensorFlow's own checkers.",
    examples=[
        "tfprof advise --demo",
        "tfprof advise --graph_path graph.pb --run_meta_path run_meta.pb --op_log_path op_log.pb "
        "--checkers InputBoundChecker,PeakMemoryChecker --format json",
    ],
)
