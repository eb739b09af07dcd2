"""``tfprof diff``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.commands.tool import TOP, written
from tfprof.cli.fleet_options import fleet_options, read_for
from tfprof.cli.options import (
    Choice,
    Command,
    CommandOption,
    HelpedArgument,
    InputPath,
    IntType,
    OutputPath,
    from_params,
)
from tfprof.cli.output import Target, note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.errors import UsageError
from tfprof.files.remote.path import resolved

if TYPE_CHECKING:
    from tfprof.insight.diff.side import Side

FORMATS = ("text", "json", "csv", "html")
_PPROF = (".pb", ".pb.gz", ".pprof")
_WHAT = "What to compare"


def run(
    before: str,
    after: str,
    view: str | None,
    tool: str | None,
    match: str,
    step: int | None,
    host: str | None,
    table: str | None,
    top: int | None,
    timeline: str | None,
    engine: str | None,
    memory: int | None,
    **params: Any,
) -> None:
    """Compare, and write the answer; other files are written before it."""
    choice = from_params(ResultChoice, params)
    target = choice.target()
    asked = {"step": step, "host": host}
    chosen = {name: value for name, value in asked.items() if value is not None}
    if chosen and not tool and not (timeline and set(chosen) == {"step"}):
        raise UsageError(f"option --{next(iter(chosen))} goes with --tool")
    with warnings_as_notes():
        from tfprof.insight.diff.ask import diff, diff_sampled, is_sampled, look_at, side_of
        from tfprof.insight.diff.comparable import same_recording

        if is_sampled(before) or is_sampled(after):
            _check_sampled(view=view, tool=tool, timeline=timeline)
            sampled = diff_sampled(before, after)
            if choice.outfile is not None and choice.outfile.endswith(_PPROF):
                _write_sampled(before, after, target)
            else:
                target.write(
                    written(sampled, choice.format or FORMATS[0], table or "", top, target)
                )
            return
        question = partial(look_at, view=view or "", tool=tool or "", asked=chosen if tool else {})
        reader = partial(read_for, question, reading=(engine, memory))
        sides = [
            side_of(path, name, reader)
            for path, name in zip((before, after), _names(before, after), strict=True)
        ]
        with progress() as watch:
            if same := same_recording(*sides):
                raise UsageError(f"{same}; give a run of before and one of after")
            watch.stage("comparing")
            if timeline is not None:
                _write_timeline(sides, step, timeline, choice.force)
            if choice.outfile is not None and choice.outfile.endswith(_PPROF):
                _write_pprof(sides, target)
                return
            first, second = sides
            of_tool: Any = chosen if tool else {}
            how: Any = {"match": match, "view": view or "", "tool": tool or ""}
            result = diff(first, second, **how, **of_tool)
    form = choice.format or FORMATS[0]
    target.write(written(result, form, table or "", top, target, main="ops"))
    if choice.format in ("csv",):
        for remark in result.notes:
            note(remark.message)


def _names(before: str, after: str) -> tuple[str, str]:
    """The last parts of the paths that differ."""
    one, other = resolved(before), resolved(after)
    for count in range(1, max(len(one.parts), len(other.parts)) + 1):
        names = "/".join(one.parts[-count:]), "/".join(other.parts[-count:])
        if names[0] != names[1]:
            return names
    return f"{one.name} (before)", f"{other.name} (after)"


def _write_pprof(sides: list[Side], target: Target) -> None:
    """Write the difference of the call stacks; without these, that of the scopes of op names."""
    from tfprof.core.wire import messages
    from tfprof.export.pprof import pprof_chunks
    from tfprof.export.profiles import stacks_of_profile
    from tfprof.insight.diff.pprof_difference import subtracted

    profiles = []
    for side in sides:
        raw = b"".join(pprof_chunks(stacks_of_profile(side.profiler), is_packed=False))
        profiles.append(messages.parse(messages.Profile, raw, source=side.name))
    target.write_packed([subtracted(*profiles).SerializeToString()])


def _check_sampled(**chosen: str | None) -> None:
    for name, value in chosen.items():
        if value is not None:
            raise UsageError(f"option --{name} is for runs; device memory profiles have no {name}")


def _write_sampled(before: str, after: str, target: Target) -> None:
    """Write the difference of two device memory profiles."""
    from tfprof.core.wire import messages
    from tfprof.files.compression import decompressed
    from tfprof.files.open import load_file
    from tfprof.insight.diff.pprof_difference import subtracted

    profiles = [
        messages.parse(
            messages.Profile, decompressed(bytes(load_file(path).data), path), source=path
        )
        for path in (before, after)
    ]
    target.write_packed([subtracted(*profiles).SerializeToString()])


def _write_timeline(sides: list[Side], step: int | None, path: str, force: bool) -> None:
    from tfprof.insight.diff.timeline import timeline_of_both

    target = Target(Path(path), force)
    target.check()
    target.write_packed(timeline_of_both(sides[0], sides[1], step))
    note(
        f"{path}: both runs, blue before and orange after; open it in Perfetto or chrome://tracing"
    )


command = Command(
    "diff",
    callback=run,
    is_cached=True,
    params=[
        HelpedArgument("before", "BEFORE", "A run: a log folder (its latest run), a capture, a "
                       "saved profile, a folder with the files of a run, or a device memory "
                       "profile of JAX.", type=InputPath()),
        HelpedArgument("after", "AFTER", "The run to compare it with.", type=InputPath()),
        CommandOption(["--view"], type=Choice(["scope", "graph", "op", "code"]),
                      section=_WHAT, help="Compare this view row by row. [default: steps and ops]"),
        CommandOption(["--tool"], metavar="NAME", section=_WHAT,
                      help="Compare the tables of a tool for captures, such as kernel-stats."),
        CommandOption(["--match"], type=Choice(["name", "structure"]), default="name",
                      section=_WHAT,
                      help="Which ops are the same: those of one name; or, where scopes were "
                      "renamed, those of one type and shape in the same order. [default: name]"),
        CommandOption(["--step"], type=IntType(), metavar="N", section=_WHAT,
                      help="One step, for --tool and --timeline. [default: all of them]"),
        CommandOption(["--host"], metavar="NAME", section=_WHAT,
                      help="One host, for --tool. [default: all of them]"),
        CommandOption(["--table"], metavar="NAME", section="What to show",
                      help="Show only one table. [default: all as text and JSON, ops as CSV]"),
        CommandOption(["--top"], type=IntType(), metavar="N", section="What to show",
                      help=f"Rows of each table; 0 is all. [default: {TOP} as text, else all]"),
        CommandOption(["--timeline"], type=OutputPath(), metavar="FILE", section="What to show",
                      help="Write a timeline with the events of both captures, aligned at their "
                      "first common step, in two colours."),
        *fleet_options(),
        *result_options(
            FORMATS,
            "text: a report. json: everything. csv: one table. html: a page in one file. A FILE "
            "that ends in .pb.gz is a pprof profile of the difference.",
        ),
    ],
    help="Compare two runs: how much longer a step takes, whether that is more than the noise of "
    "the steps, and which ops and categories it comes from. Differences that make the runs hard "
    "to compare come first.",
    examples=[
        "tfprof diff before/ after/",
        "tfprof diff before/ after/ --match structure -o difference.html",
        "tfprof diff before/ after/ --tool kernel-stats --top 50",
        "tfprof diff before/ after/ -o difference.pb.gz",
    ],
)  # fmt: skip
