"""``tfprof record``: a flight recorder for running programs."""

from __future__ import annotations

import gc
import json
import os
import shlex
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tfprof.cli.keys import keys
from tfprof.cli.options import Choice, Command, CommandOption, from_params
from tfprof.cli.output import Target, harmless, note
from tfprof.cli.record_options import Kept, hang_watch_of, record_options, recorder_of
from tfprof.cli.results import SECTION
from tfprof.cli.signals import handled
from tfprof.cli.worker_options import worker_options

if TYPE_CHECKING:
    from tfprof.remote.flight import FlightRecorder, Saved
    from tfprof.remote.flight.watched import WatchedSnapshot

EXIT_INCOMPLETE = 1
"""Exit code if a worker was not recorded, or only up to its limit of memory, or if a run could not
be written."""

_LINES = "jsonl"
_PATIENCE = 2
"""Ctrl-C more often than this breaks off, without what is not written yet."""


def run(
    format: str, metrics: str | None, hang_timeout: str | None, processes: str | None, **params: Any
) -> int:
    """Record until Ctrl-C, SIGTERM, ``q`` or a limit; a line for each event."""
    from tfprof.remote.metrics import Metrics

    kept = from_params(Kept, params)
    target = Target()
    target.check()
    has_condition = params["when"] is not None
    numbers = None if metrics is None else Metrics(metrics, has_condition=has_condition)

    def say(remark: str) -> None:
        note(harmless(remark))

    hangs = hang_watch_of(hang_timeout, processes, params, say)

    def watch(snapshot: WatchedSnapshot) -> None:
        if numbers is not None:
            numbers.watch(snapshot)
        if hangs is not None:
            hangs.saw(snapshot)

    watching = watch if numbers or hangs else None
    recorder = recorder_of(params, kept, say, watch=watching, hangs=hangs)
    gc.enable()  # it runs for days
    with (
        handled(_handlers(recorder)),
        keys(_pressed(recorder)) as has_keys,
        nullcontext() if numbers is None else numbers.of(recorder),
        recorder,
    ):
        if hangs is not None:
            hangs.start(recorder)
        said = _say_what_is_done(recorder, kept.keep, has_keys=has_keys)
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


def _handlers(recorder: FlightRecorder) -> dict[str, Callable[[], None]]:
    """SIGUSR1 writes the kept data, SIGTERM too and ends, Ctrl-C ends.

    None of them interrupts, so that pending events are written and sessions are ended even if
    Ctrl-C comes twice.
    """
    interrupts: list[int] = []

    def interrupt() -> None:
        interrupts.append(1)
        recorder.stop()
        if len(interrupts) > _PATIENCE:
            raise KeyboardInterrupt

    def terminate() -> None:  # this machine may be about to end, and the programs with it
        recorder.save("signal SIGTERM")
        recorder.stop()

    return {
        "SIGUSR1": lambda: recorder.save("signal SIGUSR1"), "SIGTERM": terminate,
        "SIGINT": interrupt,
    }  # fmt: skip


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
    begun = f"recording; the last {keep} are kept"
    if not recorder.observed:
        begun = f"no worker is listed yet; of those that come, the last {keep} are kept"
    for remark in ["; ".join([begun, *ways]), *held, *remarks]:
        note(harmless(remark))
    return remarks


def _say_what_was_seen(recorder: FlightRecorder, said: Sequence[str]) -> None:
    from tfprof.core.text.units import human_memory
    from tfprof.remote.flight.program_memory import own_bytes

    for remark in recorder.remarks:
        if remark not in said:
            note(harmless(remark))
    for address, seen in recorder.observed.items():
        note(f"{address}: {seen}")
    held = own_bytes()
    size = "" if held is None else f", and holds {human_memory(held)} of memory"
    note(f"this recorder took {recorder.cpu_percent:.1f} % of one CPU core{size}")


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


command = Command(
    "record",
    callback=run,
    params=[
        *worker_options(),
        *record_options(),
        CommandOption(
            ["--format"],
            type=Choice(["text", _LINES]),
            default="text",
            section=SECTION,
            help="text: what happened, and the run. jsonl: an event a line. [default: text]",
        ),
    ],
    help="Record running programs continuously, keep the last seconds, and write them as a run "
    "when something happens: a slow step, SIGUSR1, the key s, or the end of a program. Ctrl-C, "
    "the key q and SIGTERM, which writes what is kept, end it, after slow steps that are not "
    "written yet. Exits with 0, or "
    "with 1 if a worker was not recorded or a run could not be written. Needs pip install "
    "'tfprof[remote]'.",
    examples=[
        "tfprof record localhost:6009 --logdir logs --when 'step_time > 3 * median'",
        "tfprof record worker0:6009,worker1:6009 --keep 30s --after 10s --logdir logs "
        "--when 'step_time > 500ms or input_share > 30%'",
        "tfprof record --workers-from workers.txt --steps 1000:1010 --logdir logs",
        "tfprof record --kubernetes app=train --port 6009 --when 'step_time > 3 * median' "
        "--budget '20 runs, 5 GiB a day' --retain '30 days' --logdir s3://bucket/logs",
    ],
)
