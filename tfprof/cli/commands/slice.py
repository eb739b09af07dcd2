"""``tfprof slice``."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import capture_paths, path_argument, run_option
from tfprof.cli.inputs import RunInputs
from tfprof.cli.options import Choice, Command, CommandOption, OutputPath, from_params
from tfprof.cli.output import harmless
from tfprof.cli.progress import progress
from tfprof.cli.ranges import range_of, step_number
from tfprof.cli.results import SECTION, ResultChoice, as_json, color_option, pager_option
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.captures.slice.slice_capture import CaptureSlice

_WHAT, _WHERE = "What to keep", "Where to write it"


def run(
    paths: tuple[str, ...],
    run: str | None,
    steps: str | None,
    time: str | None,
    device: str | None,
    hosts: str | None,
    planes: str | None,
    target: str,
    overwrite: bool,
    **params: Any,
) -> None:
    """Write the slice, and print its contents."""
    result = from_params(ResultChoice, params)
    from tfprof.captures.slice.choice import SliceChoice
    from tfprof.captures.slice.slice_capture import slice_capture
    from tfprof.inputs.resolve import resolve

    choice = SliceChoice(
        None if steps is None else range_of("steps", steps, step_number, "10:20"),
        None if time is None else _times(time),
        device, planes, hosts,
    )  # fmt: skip
    sources = capture_paths(RunInputs(paths=paths))
    resolve(sources).only_captures("slice")
    with progress() as watch:
        watch.stage(f"slicing {sources[0]}")
        made = slice_capture(
            list(sources), target, choice,
            run=run, overwrite=overwrite,
        )  # fmt: skip
    if result.format == "json":
        rows = [{**asdict(one), "path": str(one.path)} for one in made.hosts]
        text = as_json({"steps": list(made.steps), "next": _next(made, target)}, rows)
    else:
        text = _text(made, target)
    result.target().write(text)


def _times(text: str) -> tuple[float | None, float | None]:
    from tfprof.remote.durations import seconds_of

    if text.strip(": ") and ":" not in text:
        raise UsageError(f"option --time is {text!r}; write both ends, as 1.2s:1.5s")
    return range_of("time", text, seconds_of, "1.2s:1.5s")


def _text(made: CaptureSlice, target: str) -> str:
    from tfprof.core.text.units import human_memory

    lines = [
        f"{one.path}: {one.n_events:,} of {one.n_whole_events:,} events, "
        f"{human_memory(one.n_bytes)} of {human_memory(one.n_whole_bytes)}"
        for one in made.hosts
    ]
    if made.steps:
        ends = list(dict.fromkeys((made.steps[0], made.steps[-1])))
        count = f"{len(made.steps)} step{'' if len(made.steps) == 1 else 's'}"
        lines.append(f"{count}: {' to '.join(ends)}")
    lines.append(f"next: {_next(made, target)}")
    return harmless("".join(f"{line}\n" for line in lines))


def _next(made: CaptureSlice, target: str) -> str:
    place = made.hosts[0].path
    return f"tfprof tools {shlex.quote(target if place == Path(target) else str(place.parent))}"


def _options() -> list[CommandOption]:
    return [
        run_option(),
        CommandOption(
            ["--steps"], metavar="N:N", section=_WHAT,
            help="Steps by their numbers, from the first to the last of these; 10: is all from 10 "
            "on, 10 is one. On several hosts, the same steps. [default: everything]",
        ),
        CommandOption(
            ["--time"], metavar="TIME:TIME", section=_WHAT,
            help="What began and ended between two times since the first event: 1.2s:1.5s. "
            "[default: everything]",
        ),
        CommandOption(
            ["--device"], metavar="REGEX", section=_WHAT,
            help="Devices whose names this expression is found in: GPU:0. Hosts stay. "
            "[default: all of them]",
        ),
        CommandOption(
            ["--hosts"], metavar="REGEX", section=_WHAT,
            help="Hosts, by the names of their files up to .xplane.pb. [default: all of them]",
        ),
        CommandOption(
            ["--planes"], metavar="REGEX", section=_WHAT,
            help="Planes of any kind: /host:CPU. What tells of the capture and its programs stays. "
            "[default: all of them]",
        ),
        CommandOption(
            ["-o", "--to", "target"], type=OutputPath(), metavar="DIR|FILE", required=True,
            section=_WHERE,
            help="A log folder, which gets plugins/profile/RUN, or for one host a file called "
            "….xplane.pb; packed if it ends in .gz, .xz or .zst.",
        ),
        CommandOption(
            ["--force", "overwrite"], is_flag=True, section=_WHERE,
            help="Overwrite the files of an earlier slice.",
        ),
        CommandOption(
            ["--format"], type=Choice(["text", "json"]), default="text", section=SECTION,
            help="text: what each host keeps. json: the same, one a line. [default: text]",
        ),
        color_option(),
        pager_option(),
    ]  # fmt: skip


command = Command(
    "slice",
    callback=run,
    params=[path_argument(), *_options()],
    help="Cut a small capture out of a big one: some steps, a time, some devices or hosts. The "
    "result is a capture like any other, for tfprof, TensorBoard and xprof; times stay what they "
    "were.",
    examples=[
        "tfprof slice logs/ --steps 10:20 -o small/",
        "tfprof slice logs/ --time 1.2s:1.5s --device GPU:0 --hosts worker1 -o part.xplane.pb.gz",
    ],
)
