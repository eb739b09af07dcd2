"""``tfprof monitor``: a captured run in a few figures, or running programs, again and again."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import question_options
from tfprof.cli.commands import tool
from tfprof.cli.commands.tool import FORMATS, shown_options
from tfprof.cli.options import Command, CommandOption, HelpedArgument, InputPath, IntType
from tfprof.cli.output import Target, harmless
from tfprof.cli.results import result_options
from tfprof.cli.watching import LINES, Answers, look_options
from tfprof.errors import UsageError
from tfprof.files.remote.path import as_path

if TYPE_CHECKING:
    from tfprof.remote import Sample

_SECTION = "Running programs"
_OF_LIVE = ("level", "interval", "count")
_OF_BOTH = ("paths", "color", "pager", "force", "format")


def run(**params: Any) -> int:
    """Watch programs if addresses are given, else run the tool."""
    live = {name: params.pop(name) for name in _OF_LIVE}
    paths: tuple[str, ...] = params["paths"]
    if paths and not any(map(_exists, paths)):
        from tfprof.remote.addresses import is_address

        if all(map(is_address, paths)):
            _refuse([name for name, value in params.items() if value and name not in _OF_BOTH],
                    "is for captured runs, not for HOST:PORT")  # fmt: skip
            return _watch(paths, params["format"], live)
    _refuse([name for name, value in live.items() if value is not None],
            "is for running programs; give HOST:PORT")  # fmt: skip
    if params["format"] == LINES:
        raise UsageError(f"--format {LINES} is for running programs; give HOST:PORT")
    callback = tool.commands["monitor"].callback
    assert callback is not None
    callback(**params)
    return 0


def _exists(path: str) -> bool:
    try:
        return as_path(path).exists()
    except (OSError, ValueError):
        return False


def _refuse(names: Sequence[str], why: str) -> None:
    if names:
        raise UsageError(f"option --{names[0]} {why}")


def _watch(addresses: Sequence[str], form: str, live: dict[str, Any]) -> int:
    if form not in ("text", LINES):
        raise UsageError(f"running programs are watched with --format text or {LINES}")
    from tfprof.remote import monitor
    from tfprof.remote.durations import seconds_of

    target = Target()
    target.check()
    interval = seconds_of(live["interval"] or "1s")
    level = 1 if live["level"] is None else live["level"]
    gc.enable()  # it runs for days
    answers = Answers()
    for samples in monitor(
        list(addresses), level=level, interval_seconds=interval, count=live["count"]
    ):
        answers.add(samples)
        lines = [json.dumps(asdict(each)) if form == LINES else _line(each) for each in samples]
        target.write("".join(f"{harmless(line)}\n" for line in lines))
        answers.check()
    return answers.exit_code


def _line(sample: Sample) -> str:
    clock = time.strftime("%H:%M:%S", time.localtime(sample.time))
    head = f"{clock}  {sample.address}"
    if sample.trouble:
        return f"{head}  no figures: {sample.trouble}"
    parts = []
    if sample.steps is not None:
        parts.append(f"{sample.steps} {'step' if sample.steps == 1 else 'steps'}")
    if sample.step_ms_average is not None:
        spread = f"{sample.step_ms_minimum:.2f} to {sample.step_ms_maximum:.2f}"
        parts.append(f"{sample.step_ms_average:.2f} ms ({spread})")
    for what, percent in (
        ("input", sample.input_percent),
        ("idle", sample.idle_percent),
        ("matrix units", sample.matrix_unit_percent),
    ):
        if percent is not None:
            parts.append(f"{what} {percent:.1f} %")
    return "  ".join([head, *parts, *([sample.text] if sample.text else [])])


def _paths() -> HelpedArgument:
    return HelpedArgument(
        "paths", "PATH...",
        "A capture of the TensorFlow 2 profiler: a log folder, a run folder or *.xplane.pb "
        "files, one for each host, also .gz, .xz or .zst. Or HOST:PORT of profiler servers in "
        "running programs.",
        metavar="[PATH]...", nargs=-1, type=InputPath(),
    )  # fmt: skip


def _live_options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--level"], type=IntType(), default=None, metavar="N", section=_SECTION,
            help="1 times steps, 2 also measures how long they wait for input. [default: 1]",
        ),
        *look_options(_SECTION, "1s"),
    ]  # fmt: skip


command = Command(
    "monitor",
    callback=run,
    params=[
        _paths(),
        *question_options(),
        *_live_options(),
        *shown_options(),
        *result_options(
            (*FORMATS, LINES),
            "text: a report. json: everything. csv: one table. gviz: the JSON that TensorBoard's "
            "Profile tab reads; with --classic also with its numbers. html: a page in one file. "
            "jsonl: running programs, one look at a worker a line.",
        ),
    ],
    help="Show a few figures of a captured run: use of the matrix units, idle time of devices, "
    "time of steps and their wait for input; or, for HOST:PORT, of running programs, a line for "
    "each look. Also reads results that older profilers have left in log folders.",
    examples=[
        "tfprof monitor logs/",
        "tfprof monitor logs/ --step 3 --format json",
        "tfprof monitor localhost:6009 --level 2 --interval 2s --count 10",
    ],
)
