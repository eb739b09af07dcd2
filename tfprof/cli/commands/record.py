"""``tfprof record``: a flight recorder for running programs."""

from __future__ import annotations

import gc
import json
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tfprof.cli.keys import keys
from tfprof.cli.options import (
    Choice,
    Command,
    CommandOption,
    IntType,
    from_params,
)
from tfprof.cli.output import Target, harmless, note
from tfprof.cli.results import SECTION
from tfprof.cli.servers import Levels, level_options, servers_argument
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.remote.flight import FlightRecorder, Saved

EXIT_INCOMPLETE = 1
"""Exit code if a worker was not recorded, or a run could not be written."""

_LINES = "jsonl"
_PATIENCE = 2
"""Ctrl-C more often than this breaks off."""

_WHEN, _WHAT, _WHERE, _HOW = "When to write", "What to keep", "Where to write it", "Patience"


@dataclass(frozen=True, slots=True)
class _Durations:
    keep: str
    after: str
    interval: str
    for_: str | None
    overhead_check: str
    timeout: str


def run(
    servers: Sequence[str],
    when: str | None,
    logdir: str,
    count: int | None,
    max_size: int,
    retries: int,
    format: str,  # the name of the option
    **params: Any,
) -> int:
    """Record until Ctrl-C, SIGTERM, ``q`` or a limit; a line for each event."""
    from tfprof.remote import CaptureOptions
    from tfprof.remote.durations import seconds_of
    from tfprof.remote.flight import FlightRecorder

    if not logdir:
        raise UsageError("option --logdir is empty; give the name of a folder")
    levels, given = from_params(Levels, params), from_params(_Durations, params)
    target = Target()
    target.check()
    recorder = FlightRecorder(
        list(servers), logdir, when=when, count=count, retries=retries,
        keep_seconds=seconds_of(given.keep), after_seconds=seconds_of(given.after),
        interval_seconds=seconds_of(given.interval),
        for_seconds=None if given.for_ is None else seconds_of(given.for_),
        overhead_seconds=seconds_of(given.overhead_check),
        answer_seconds=seconds_of(given.timeout), most_bytes=max_size << 20,
        options=CaptureOptions(**asdict(levels)),
        say=note,
    )  # fmt: skip
    gc.enable()  # it runs for days
    with _signals(recorder) as interrupts, keys(_pressed(recorder)) as has_keys, recorder:
        said = _say_what_is_done(recorder, given.keep, has_keys=has_keys)
        is_incomplete = False
        try:
            for saved in recorder.events():
                target.write(_line(saved, format))
                is_incomplete |= bool(saved.trouble)
        finally:
            _say_what_was_seen(recorder, said)
    if interrupts:
        raise KeyboardInterrupt
    is_incomplete |= any(not each.n_snapshots for each in recorder.observed.values())
    return EXIT_INCOMPLETE if is_incomplete else 0


@contextmanager
def _signals(recorder: FlightRecorder) -> Iterator[list[int]]:
    """SIGUSR1 writes what is kept, SIGTERM and Ctrl-C end.

    None of them breaks in, so that sessions are handed back also if Ctrl-C comes twice.

    Yields:
        A list that has an element for each Ctrl-C.
    """
    interrupts: list[int] = []

    def interrupt() -> None:
        interrupts.append(1)
        recorder.stop()
        if len(interrupts) > _PATIENCE:
            raise KeyboardInterrupt

    wanted: dict[str, Callable[[], None]] = {
        "SIGUSR1": lambda: recorder.save("signal SIGUSR1"), "SIGTERM": recorder.stop,
        "SIGINT": interrupt,
    }  # fmt: skip
    before = []
    for name, work in wanted.items():
        number = getattr(signal, name, None)
        if number is not None:
            before.append((number, signal.signal(number, lambda *_, work=work: work())))
    try:
        yield interrupts
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _pressed(recorder: FlightRecorder) -> Callable[[str], None]:
    def act(key: str) -> None:
        if key in "qQ\x04":
            recorder.stop()
        elif key in "sS \n":
            recorder.save("key press")

    return act


def _say_what_is_done(recorder: FlightRecorder, keep: str, *, has_keys: bool) -> list[str]:
    ways = []
    if has_keys:
        ways.append("press s to write them, q to end")
    if hasattr(signal, "SIGUSR1"):
        ways.append(f"kill -USR1 {os.getpid()} writes them")
    remarks = recorder.remarks
    for remark in ["; ".join([f"recording; the last {keep} are kept", *ways]), *remarks]:
        note(harmless(remark))
    return remarks


def _say_what_was_seen(recorder: FlightRecorder, said: Sequence[str]) -> None:
    for remark in recorder.remarks:
        if remark not in said:
            note(harmless(remark))
    for address, seen in recorder.observed.items():
        if seen.n_snapshots:
            note(f"{address}: {seen.percent:.1f} % of {seen.seconds:.0f} s were observed, in "
                 f"{seen.n_snapshots} {seen.unit}; {seen.n_steps} whole steps")  # fmt: skip
    note(f"this recorder took {recorder.cpu_percent:.1f} % of one CPU core")


def _line(saved: Saved, form: str) -> str:
    if form == _LINES:
        return json.dumps(saved.to_dict()) + "\n"
    clock = time.strftime("%H:%M:%S", time.localtime(saved.time))
    lines = [f"{clock}  {saved.reason}"]
    if saved.folder:
        lines.append(f"  {saved.seconds:.1f} s written; next: tfprof overview "
                     f"{shlex.quote(saved.folder)}")  # fmt: skip
    elif not saved.trouble:
        lines.append("  nothing was recorded since the last run")
    if saved.trouble:
        lines.append(f"  {saved.trouble}")
    return "".join(f"{harmless(line)}\n" for line in lines)


def _options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--when"], default=None, metavar="CONDITION", section=_WHEN,
            help="Write when this holds for a step: comparisons of step_time, median, mean, p99, "
            "input_share, idle_share and memory with each other and with numbers such as 200ms, "
            "30% or 2GiB, with + - * /, and, or, not. [default: never]",
        ),
        CommandOption(
            ["--after"], default="0s", metavar="TIME", section=_WHEN,
            help="Keep so much of what follows an event, too. [default: nothing]",
        ),
        CommandOption(
            ["--count"], type=IntType(), default=None, metavar="N", section=_WHEN,
            help="End after so many events. [default: go on]",
        ),
        CommandOption(
            ["--for", "for_"], default=None, metavar="TIME", section=_WHEN,
            help="End after so long. [default: until Ctrl-C, or until all programs have ended]",
        ),
        CommandOption(
            ["--keep"], default="60s", metavar="TIME", section=_WHAT,
            help="How much is kept: 30s, 2m. [default: 60s]",
        ),
        CommandOption(
            ["--interval"], default="8s", metavar="TIME", section=_WHAT,
            help="From one snapshot to the next, at most 10s. Each cuts the step that is under "
            "way, and costs. [default: 8s]",
        ),
        CommandOption(
            ["--max-size"], type=IntType(), default=1024, metavar="MIB", section=_WHAT,
            help="Keep at most so much of a worker, in MiB; older seconds go first. "
            "[default: 1024]",
        ),
        *level_options(_WHAT),
        CommandOption(
            ["--logdir"], required=True, metavar="DIR", section=_WHERE,
            help="Log folder; each event becomes a run plugins/profile/RUN in it.",
        ),
        CommandOption(
            ["--overhead-check"], default="10s", metavar="TIME", section=_HOW,
            help="Compare steps with and without a session for so long at the start, and say what "
            "recording costs; 0s does not. [default: 10s]",
        ),
        CommandOption(
            ["--retries"], type=IntType(), default=3, metavar="N", section=_HOW,
            help="Further attempts to begin with a worker that cannot be reached, or is being "
            "captured by somebody else. [default: 3]",
        ),
        CommandOption(
            ["--timeout"], default="30s", metavar="TIME", section=_HOW,
            help="How long a worker may take for a snapshot. [default: 30s]",
        ),
        CommandOption(
            ["--format"], type=Choice(["text", _LINES]), default="text", section=SECTION,
            help="text: what happened, and the run. jsonl: an event a line. [default: text]",
        ),
    ]  # fmt: skip


command = Command(
    "record",
    callback=run,
    params=[servers_argument(), *_options()],
    help="Record running programs all the time, keep the last seconds, and write them as a run "
    "when something happens: a slow step, SIGUSR1, the key s, or the end of a program. Ctrl-C, "
    "SIGTERM and the key q end it. Exits with 0, or with 1 if a worker was not recorded or a run "
    "could not be written. Needs pip install 'tfprof[remote]'.",
    examples=[
        "tfprof record localhost:6009 --logdir logs --when 'step_time > 3 * median'",
        "tfprof record worker0:6009,worker1:6009 --keep 30s --after 10s --logdir logs "
        "--when 'step_time > 500ms or input_share > 30%'",
    ],
)
