"""``tfprof whatif``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.cli.commands.diff import FORMATS
from tfprof.cli.commands.tool import TOP, written
from tfprof.cli.options import (
    Command,
    CommandOption,
    HelpedArgument,
    InputPath,
    IntType,
    from_params,
)
from tfprof.cli.output import note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError

_CHEAPER = "What takes less time"


def run(
    path: str,
    faster: Sequence[str],
    free: Sequence[str],
    table: str | None,
    top: int | None,
    **params: Any,
) -> None:
    """Replay a run, and write the answer."""
    choice = from_params(ResultChoice, params)
    target = choice.target()
    factors = dict(_factor(text) for text in faster)
    with warnings_as_notes():
        from tfprof.insight.whatif.ask import whatif

        with progress() as watch:
            watch.stage("reading")
            result = whatif(path, faster=factors, free=tuple(free))
    form = choice.format or FORMATS[0]
    target.write(written(result, form, table or "", top, target, main="step"))
    if form == "csv":
        for remark in result.notes:
            note(remark.message)


def _factor(text: str) -> tuple[str, float]:
    """``MatMul=2``; a pattern may hold ``=``, too."""
    pattern, _, factor = text.rpartition("=")
    try:
        return _given(pattern), float(factor)
    except ValueError:
        raise UsageError(
            f"--faster {text!r}: give a pattern and how many times faster, such as 'MatMul=2'"
        ) from None


def _given(pattern: str) -> str:
    if not pattern:
        raise ValueError
    return pattern


command = Command(
    "whatif",
    callback=run,
    is_cached=True,
    params=[
        HelpedArgument("path", "RUN", "A captured run: a log folder (its latest run), a folder of "
                       "a run, or a file.", type=InputPath()),
        CommandOption(["--faster"], metavar="PATTERN=FACTOR", multiple=True, section=_CHEAPER,
                      help="Ops that become so many times faster. The pattern is a regular "
                      "expression of the whole name or type of an op, or name of an event. "
                      "Can be repeated."),
        CommandOption(["--free"], metavar="WHAT", multiple=True, section=_CHEAPER,
                      help="What takes no time: input, copies, collectives, or such a pattern. "
                      "Can be repeated."),
        CommandOption(["--table"], metavar="NAME", section="What to show",
                      help="Show only one table. [default: all as text and JSON, step as CSV]"),
        CommandOption(["--top"], type=IntType(), metavar="N", section="What to show",
                      help=f"Rows of each table; 0 is all. [default: {TOP} as text, else all]"),
        *result_options(
            FORMATS, "text: a report. json: everything. csv: one table. html: a page in one file."
        ),
    ],
    help="How long a step would take if ops, the input or copies took less time: the recorded "
    "events are replayed, each after the events that it waited for. Without --faster and --free, "
    "the critical path of a step now, by kind and by op.",
    examples=[
        "tfprof whatif run/",
        "tfprof whatif run/ --faster MatMul=2 --free input",
        "tfprof whatif run/ --faster '.*layer_3.*=1.5' -o whatif.html",
    ],
)  # fmt: skip
