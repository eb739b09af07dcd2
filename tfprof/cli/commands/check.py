"""``tfprof check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.commands.tool import print_notes_of
from tfprof.cli.fleet_options import Reading, fleet_options, read_for
from tfprof.cli.options import Command, CommandOption, InputPath, OutputPath, from_params
from tfprof.cli.output import note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, as_text, result_options
from tfprof.cli.sites import SiteInputs, open_runs, site_options
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import InputError, UsageError
from tfprof.files.disk import write_file
from tfprof.files.remote.path import as_path

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.inputs.opened import Opened
    from tfprof.insight.budgets.budget import Limit
    from tfprof.insight.budgets.check import Outcome
    from tfprof.insight.budgets.subject import Subject

FORMATS = ("text", "json", "junit", "sarif", "github")
_ENDINGS = {"xml": "junit"}
_SECTION = "Budget"


def run(
    budget_path: str | None, baseline: str | None, history: str | None, write_budget: str | None,
    program: str | None, strict: bool | None, engine: str | None, memory: int | None, **params: Any,
) -> int:  # fmt: skip
    """Check the runs, or write a first budget; returns the exit code."""
    result = from_params(ResultChoice, params)
    inputs = from_params(SiteInputs, params)
    if (budget_path is None and history is None) == (write_budget is None):
        raise UsageError(
            "check: give --budget FILE with the limits, --history FILE to compare with earlier "
            "runs, or --write-budget FILE to write a first budget from this run"
        )
    if program is not None and history is None:
        raise UsageError(f"--program {program}: is for --history")
    before = (history, program or "") if history is not None else None
    with warnings_as_notes():
        if write_budget is not None:
            return _write(write_budget, inputs, (engine, memory), force=result.force)
        return _check(budget_path, baseline, before, strict, inputs, (engine, memory), result)


def _check(
    budget_path: str | None, baseline: str | None, history: tuple[str, str] | None,
    strict: bool | None, inputs: SiteInputs, reading: Reading, result: ResultChoice,
) -> int:  # fmt: skip
    from rich.text import Text

    from tfprof.insight.budgets.budget import Budget, read_budget
    from tfprof.insight.budgets.check import check
    from tfprof.insight.budgets.ci_reports import FORMATS as WRITERS
    from tfprof.insight.budgets.first_budget import first_limits

    target = result.target()
    budget = (
        Budget(history[0] if history else "", ())
        if budget_path is None
        else read_budget(budget_path)
    )
    limits = [*budget.limits, *(first_limits() if history else ())]
    subjects = _subjects(inputs, limits, reading, budget.batch, budget.device)
    before = None
    if baseline is not None:
        if [as_path(path).absolute() for path in inputs.paths] == [as_path(baseline).absolute()]:
            raise UsageError(
                f"--baseline {baseline}: is what is checked; give a run of before the change"
            )
        earlier = SiteInputs(paths=(baseline,))
        before = _subjects(earlier, budget.limits, reading, budget.batch, budget.device)[0]
    with progress() as watch:
        watch.stage("measuring")
        report = check(subjects, budget, before, strict=strict)
        if history is not None:
            found = tuple(_as_before(subjects, inputs, *history))
            report = replace(report, outcomes=(*report.outcomes, *found))
    text = WRITERS[result.format or "text"](report)
    if (result.format or "text") == "text":
        text = as_text(
            [Text(target.glyphs().text(text.rstrip()), no_wrap=True, overflow="ignore")], target
        )
    target.write(text)
    if result.outfile not in (None, "-"):
        note(report.summary, "tfprof check")
    return report.exit_code


def _as_before(
    subjects: Sequence[Subject], inputs: SiteInputs, history: str, program: str
) -> Iterator[Outcome]:
    """Compare the runs with the earlier ones of a history."""
    from tfprof.insight.history.gate import baseline_of, outcomes_of
    from tfprof.insight.history.record import found_runs, record_of
    from tfprof.insight.history.store import Store

    store = Store(history)
    if not store.exists():
        raise InputError(
            f"--history {history}: there is no such file; tfprof history LOGS --db {history} "
            "makes it"
        )
    records = store.records()
    places = found_runs(inputs.paths)
    if not places:
        raise UsageError("--history goes with the path of a run, not with --demo or an open one")
    for subject in subjects:
        own = next((one for one in places if one.name == subject.name), places[-1])
        record = record_of(own, program, subject=subject)
        yield from outcomes_of(subject, baseline_of(record, records, history))


def _write(path: str, inputs: SiteInputs, reading: Reading, *, force: bool) -> int:
    from tfprof.insight.budgets.first_budget import first_budget, first_limits

    if path != "-" and Path(path).exists() and not force:
        raise UsageError(f"--write-budget {path}: the file exists; --force overwrites it")
    text = first_budget(_subjects(inputs, first_limits(), reading)[0])
    if path == "-":
        ResultChoice().target().write(text)
    else:
        write_file(path, [text.encode()], overwrite=force)
    return 0


def _subjects(
    inputs: SiteInputs,
    limits: Sequence[Limit],
    reading: Reading,
    batch: int | None = None,
    device: str | None = None,
) -> list[Subject]:
    """The run to check: the latest of a log folder, or the one of ``--run``."""
    from tfprof.inputs.opened import opened_run
    from tfprof.insight.budgets.measure import measured
    from tfprof.insight.budgets.subject import subject_of
    from tfprof.insight.history.record import look_at

    def ask(run: Run) -> None:
        measured(run, limits)
        look_at(subject_of(opened_run(run), ()))

    reader = partial(read_for, ask, reading=reading)
    opened: Sequence[Opened] = open_runs(inputs, reader)
    if inputs.run is not None or (len(inputs.paths) == 1 and not inputs.demo):
        if len(opened) > 1 and inputs.run is None:
            others = len(opened) - 1
            note(f"checked is {opened[0].name}, the latest; there are {others} other runs: --run")
        opened = opened[:1]
    print_notes_of(opened)
    return [subject_of(one, inputs.paths, batch, device) for one in opened]


def _params() -> list[Any]:
    paths, _, *others = site_options()
    return [
        paths,
        CommandOption(
            ["--run"], metavar="NAME", section="Input",
            help="Check this run of a log folder. [default: the latest]",
        ),
        *others,
        CommandOption(
            ["budget_path", "--budget"], type=InputPath(), metavar="FILE", section=_SECTION,
            help="The limits, in TOML; see docs/gate.md.",
        ),
        CommandOption(
            ["--baseline"], type=InputPath(), metavar="PATH", section=_SECTION,
            help="An earlier run, for limits such as '<= +5 %'.",
        ),
        CommandOption(
            ["--history"], type=InputPath(), metavar="FILE", section=_SECTION,
            help="A file of tfprof history: the run must be as its earlier runs since the last "
            "change predict. With --budget, both count.",
        ),
        CommandOption(
            ["--program"], metavar="NAME", section=_SECTION,
            help="With --history: what the run ran, if tfprof history was given a name. [default: "
            "what its files show]",
        ),
        CommandOption(
            ["--strict/--no-strict"], default=None, section=_SECTION,
            help="Exit with 6 if the noise of the steps leaves a limit undecided. [default: as the "
            "budget says, else off]",
        ),
        CommandOption(
            ["--write-budget"], type=OutputPath(), metavar="FILE", section=_SECTION,
            help="Write a first budget from what the run cost, with some room, and check nothing; "
            "- is stdout.",
        ),
        *fleet_options(),
        *result_options(
            FORMATS,
            "text: a table. json: all numbers. junit, sarif: for the checks of a pull request. "
            "github: annotations of GitHub Actions. FILE.xml is junit.",
            endings=_ENDINGS,
        ),
    ]  # fmt: skip


command = Command(
    "check",
    callback=run,
    params=_params(),
    help="Check what a program costs against a budget: float operations, parameters, memory, "
    "traces of functions, and times, by their interval over the steps. Exits with 0 if all limits "
    "are met, 1 if one is exceeded, and 2 or more if one could not be checked.",
    examples=[
        "tfprof check logs/ --write-budget budget.toml",
        "tfprof check logs/ --budget budget.toml --baseline before/",
        "tfprof check saved_model/ --budget budget.toml --format github",
        "tfprof check logs/ --budget budget.toml -o results.sarif",
        "tfprof check logs/ --history perf.duckdb",
    ],
)
