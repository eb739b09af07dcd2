"""``tfprof record``: a flight recorder for running programs."""

from __future__ import annotations

import gc
import json
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
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
    from tfprof.remote.flight.watched import WatchedSnapshot

EXIT_INCOMPLETE = 1
"""Exit code if a worker was not recorded, or only up to its limit of memory, or if a run could not
be written."""

_LINES = "jsonl"
_PATIENCE = 2
"""Ctrl-C more often than this breaks off, without what is not written yet."""

_WHEN, _WHAT, _WHERE, _HOW = "When to write", "What to keep", "Where to write it", "Patience"


@dataclass(frozen=True, slots=True)
class _Durations:
    keep: str
    after: str
    interval: str
    for_: str | None
    overhead_check: str
    timeout: str
    cooldown: str
    restart_wait: str
    hang_timeout: str | None


def run(
    servers: Sequence[str],
    when: str | None,
    logdir: str,
    count: int | None,
    most_runs: int,
    max_size: int,
    max_program_memory: int | None,
    processes: str | None,
    retries: int,
    metrics: str | None,
    format: str,  # the name of the option
    **params: Any,
) -> int:
    """Record until Ctrl-C, SIGTERM, ``q`` or a limit; a line for each event."""
    from tfprof.remote import CaptureOptions
    from tfprof.remote.durations import seconds_of
    from tfprof.remote.flight import FlightRecorder
    from tfprof.remote.metrics import Metrics

    if not logdir:
        raise UsageError("option --logdir is empty; give the name of a folder")
    levels, given = from_params(Levels, params), from_params(_Durations, params)
    target = Target()
    target.check()
    numbers = None if metrics is None else Metrics(metrics, has_condition=when is not None)

    def say(remark: str) -> None:
        note(harmless(remark))

    interval, answer = seconds_of(given.interval), seconds_of(given.timeout)
    hangs = None
    if given.hang_timeout is not None:
        from tfprof.remote.hangs import HangWatch

        folders = [processes] if processes is not None else [logdir]
        hangs = HangWatch(seconds_of(given.hang_timeout), folders=folders, say=say)
        interval, answer = min(interval, hangs.seconds / 4), min(answer, hangs.seconds / 2)

    def watch(snapshot: WatchedSnapshot) -> None:
        if numbers is not None:
            numbers.watch(snapshot)
        if hangs is not None:
            hangs.saw(snapshot)

    recorder = FlightRecorder(
        list(servers), logdir, when=when, count=count, retries=retries,
        keep_seconds=seconds_of(given.keep), after_seconds=seconds_of(given.after),
        interval_seconds=interval,
        for_seconds=None if given.for_ is None else seconds_of(given.for_),
        overhead_seconds=seconds_of(given.overhead_check),
        answer_seconds=answer, most_bytes=max_size << 20,
        cooldown_seconds=seconds_of(given.cooldown), most_runs=most_runs,
        restart_seconds=seconds_of(given.restart_wait),
        most_program_bytes=None if max_program_memory is None else max_program_memory << 20,
        options=CaptureOptions(**asdict(levels)),
        say=say, watch=watch if numbers or hangs else None, writes_silent=hangs is None,
    )  # fmt: skip
    gc.enable()  # it runs for days
    with (
        _signals(recorder),
        keys(_pressed(recorder)) as has_keys,
        nullcontext() if numbers is None else numbers.of(recorder),
        recorder,
    ):
        if hangs is not None:
            hangs.start(recorder)
        said = _say_what_is_done(recorder, given.keep, has_keys=has_keys)
        if numbers is not None:
            note(f"metrics: {numbers.where}")
        is_incomplete = False
        try:
            for saved in recorder.events():
                target.write(_line(saved, format))
                is_incomplete |= bool(saved.trouble)
                if numbers is not None:
                    numbers.saved(saved)
                if hangs is not None:
                    hangs.wrote(saved)
        finally:
            if hangs is not None:
                hangs.stop()
            _say_what_was_seen(recorder, said)
    is_incomplete |= any(
        each.trouble and (each.is_limited or not each.n_snapshots)
        for each in recorder.observed.values()
    )
    return EXIT_INCOMPLETE if is_incomplete else 0


@contextmanager
def _signals(recorder: FlightRecorder) -> Iterator[None]:
    """Handle signals: SIGUSR1 writes the kept data, SIGTERM and Ctrl-C end.

    None of them interrupts, so that pending events are written and sessions are ended even if
    Ctrl-C comes twice.
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
        yield
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
    held = [
        f"{address}: the program holds {seen.memory}"
        for address, seen in recorder.observed.items()
        if not seen.trouble
    ]
    for remark in ["; ".join([f"recording; the last {keep} are kept", *ways]), *held, *remarks]:
        note(harmless(remark))
    return remarks


def _say_what_was_seen(recorder: FlightRecorder, said: Sequence[str]) -> None:
    for remark in recorder.remarks:
        if remark not in said:
            note(harmless(remark))
    for address, seen in recorder.observed.items():
        note(f"{address}: {seen}")
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
    lines += [f"  {remark}" for remark in saved.notes]
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
            help="Also keep this time after an event. [default: nothing]",
        ),
        CommandOption(
            ["--count"], type=IntType(), default=None, metavar="N", section=_WHEN,
            help="End after this many events. [default: go on]",
        ),
        CommandOption(
            ["--cooldown"], default="10s", metavar="TIME", section=_WHEN,
            help="Between a run and the next one that --when writes; steps for which it holds "
            "meanwhile are all in that one. [default: 10s]",
        ),
        CommandOption(
            ["--most-runs"], type=IntType(), default=100, metavar="N", section=_WHEN,
            help="Write at most this many runs because of --when. [default: 100]",
        ),
        CommandOption(
            ["--for", "for_"], default=None, metavar="TIME", section=_WHEN,
            help="End after so long. [default: until Ctrl-C, or until all programs have ended]",
        ),
        CommandOption(
            ["--hang-timeout"], default=None, metavar="TIME", section=_WHEN,
            help="Write when a worker makes no progress for so long though it did before, or does "
            "not answer: which rank the others wait for, with the Python stacks of all. "
            "[default: never]",
        ),
        CommandOption(
            ["--processes"], default=None, metavar="DIR", section=_WHEN,
            help="With --hang-timeout: the log folder of 'tfprof run', which has their "
            "ranks and stacks. [default: that of --logdir]",
        ),
        CommandOption(
            ["--keep"], default="60s", metavar="TIME", section=_WHAT,
            help="How many seconds to keep: 30s, 2m. [default: 60s]",
        ),
        CommandOption(
            ["--interval"], default="8s", metavar="TIME", section=_WHAT,
            help="From one snapshot to the next at most, up to 10s; shorter where snapshots are "
            "large, because the program's memory grows with them. Each cuts the step that is under "
            "way, and costs. [default: 8s]",
        ),
        CommandOption(
            ["--max-size"], type=IntType(), default=1024, metavar="MIB", section=_WHAT,
            help="Keep at most so much of a worker, in MiB; older seconds go first. "
            "[default: 1024]",
        ),
        CommandOption(
            ["--max-program-memory"], type=IntType(), default=None, metavar="MIB", section=_WHAT,
            help="End the recording of a program that holds more memory than this, in MiB, where "
            "that is visible: on this machine. [default: no limit]",
        ),
        *level_options(_WHAT),
        CommandOption(
            ["--logdir"], required=True, metavar="DIR", section=_WHERE,
            help="Log folder; each event becomes a run plugins/profile/RUN in it.",
        ),
        CommandOption(
            ["--metrics"], default=None, metavar="[HOST:]PORT", section=_WHERE,
            help="Serve step times, shares, memory and the cost of recording for Prometheus, at "
            "/metrics of this port; 0 takes a free one. Without HOST only for this machine. "
            "[default: do not]",
        ),
        CommandOption(
            ["--overhead-check"], default="10s", metavar="TIME", section=_HOW,
            help="Compare steps with and without a session for so long at the start, and say what "
            "recording costs; 0s does not. [default: 10s]",
        ),
        CommandOption(
            ["--retries"], type=IntType(), default=3, metavar="N", section=_HOW,
            help="Further attempts to begin with a worker that cannot be reached, or has another "
            "session. [default: 3]",
        ),
        CommandOption(
            ["--restart-wait"], default="0s", metavar="TIME", section=_HOW,
            help="When no program is left, wait so long for one to come back. One that comes back "
            "while others are recorded is recorded again. [default: 0s]",
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
    help="Record running programs continuously, keep the last seconds, and write them as a run "
    "when something happens: a slow step, SIGUSR1, the key s, or the end of a program. Ctrl-C, "
    "SIGTERM and the key q end it, after slow steps that are not written yet. Exits with 0, or "
    "with 1 if a worker was not recorded or a run could not be written. Needs pip install "
    "'tfprof[remote]'.",
    examples=[
        "tfprof record localhost:6009 --logdir logs --when 'step_time > 3 * median'",
        "tfprof record worker0:6009,worker1:6009 --keep 30s --after 10s --logdir logs "
        "--when 'step_time > 500ms or input_share > 30%'",
    ],
)
