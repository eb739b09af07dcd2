"""``tfprof capture``."""

from __future__ import annotations

import gc
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.options import Command, CommandOption, IntType, from_params
from tfprof.cli.output import harmless, note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, as_json, result_options
from tfprof.cli.servers import Levels, level_options, servers_argument
from tfprof.errors import InputError, UsageError

if TYPE_CHECKING:
    from tfprof.remote import RemoteCapture, Worker

EXIT_SOME_FAILED = 1
"""Exit code if some workers were captured, but not all."""

_WHAT, _AGAIN, _WHERE, _HOW = (
    "What to record", "Again and again", "Where to write it", "Patience"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Again:
    every: str | None
    count: int | None
    most_runs: int | None
    max_size: int | None


def run(
    servers: Sequence[str],
    duration: str,
    delay: str,
    logdir: str,
    name: str | None,
    retries: int,
    timeout: str,
    on_server: bool,
    **params: Any,
) -> int:
    """Capture, and print the result of each worker; returns 1 if some failed."""
    result = from_params(ResultChoice, params)
    target = result.target()
    from tfprof.remote import CaptureOptions, capture
    from tfprof.remote.durations import seconds_of

    levels = from_params(Levels, params)
    options = CaptureOptions(**asdict(levels), delay=seconds_of(delay))
    if not logdir:
        raise UsageError("option --logdir is empty; give the name of a folder")
    again = from_params(_Again, params)
    _check(again, name, on_server=on_server)

    def take() -> RemoteCapture:
        with progress() as watch:
            return capture(
                list(servers), seconds_of(duration), logdir, options, retries=retries, run=name,
                on_server=on_server, answer_seconds=seconds_of(timeout), watch=watch,
            )  # fmt: skip

    if again.every is None:
        captured = take()
        target.write(_shown(captured, result.format))
        return 0 if captured.is_complete else EXIT_SOME_FAILED
    if target.path is not None:
        raise UsageError("option --outfile is for one capture; with --every, redirect the output")
    return _repeat(take, seconds_of(again.every), again, lambda one: target.write(
        _shown(one, result.format)))  # fmt: skip


def _check(again: _Again, name: str | None, *, on_server: bool) -> None:
    if again.every is None:
        for option, value in asdict(again).items():
            if value is not None:
                raise UsageError(f"option --{option.replace('_', '-')} needs --every")
    elif name is not None:
        raise UsageError("option --run names one run; with --every, runs are named by their times")
    elif on_server:
        raise UsageError(
            "option --on-server writes where this command cannot remove old runs; leave it or "
            "--every out"
        )


def _repeat(
    take: Callable[[], RemoteCapture],
    interval: float,
    again: _Again,
    show: Callable[[RemoteCapture], None],
) -> int:
    """Capture until the count is reached or Ctrl-C; the exit code is the worst that happened."""
    from tfprof.files.kept_runs import KeptRuns
    from tfprof.remote.repeated import repeated

    kept = KeptRuns(
        10 if again.most_runs is None else again.most_runs,
        None if again.max_size is None else again.max_size << 20,
    )
    gc.enable()  # it runs for days
    n_captured, last_error, is_complete = 0, None, True
    for one in repeated(take, interval, again.count, kept):
        if isinstance(one, InputError):
            last_error = one
            note(str(one), "warning")
        else:
            n_captured += 1
            is_complete = is_complete and one.is_complete
            show(one)
    if last_error is not None and not n_captured:
        raise last_error
    return 0 if is_complete and last_error is None else EXIT_SOME_FAILED


def _shown(captured: RemoteCapture, form: str | None) -> str:
    _say_what_is_missing(captured)
    if form != "json":
        return _text(captured)
    data = captured.to_dict()
    rows = data.pop("workers")
    return as_json({**data, "next": _next(captured)}, rows)


def _say_what_is_missing(captured: RemoteCapture) -> None:
    for missing in captured.notes:
        if missing.host and missing.severity != "info":  # troubles are printed with their workers
            note(f"{missing.host}: {missing.message}")
    if not captured.arrived:  # the servers have written, and only this is known
        for worker in captured.workers:
            for remark in worker.remarks:
                note(f"{worker.address}: the profiler says: {remark}")


def _text(captured: RemoteCapture) -> str:
    n_workers, n_failed = len(captured.workers), len(captured.failed)
    width = max(len(worker.address) for worker in captured.workers)
    lines = [
        f"{captured.folder}: {n_workers - n_failed} of {n_workers} "
        f"{'worker' if n_workers == 1 else 'workers'} captured",
        *(
            line
            for worker in captured.workers
            for line in (
                f"  {worker.address:{width}}  {_outcome(worker)}",
                *(f"    {words}" for words in _what_arrived(captured, worker)),
            )
        ),
        f"next: {_next(captured)}",
    ]
    return harmless("".join(f"{line}\n" for line in lines))


def _outcome(worker: Worker) -> str:
    if worker.path is None:
        return f"failed: {worker.trouble}"
    from tfprof.core.text.units import human_memory

    size = human_memory(worker.n_bytes) if worker.n_bytes else "written by the server"
    tried = f", attempt {worker.attempts}" if worker.attempts > 1 else ""
    return f"{size} in {worker.seconds:.1f} s{tried}  {Path(worker.path).name}"


def _what_arrived(captured: RemoteCapture, worker: Worker) -> list[str]:
    from tfprof.captures.facts.arrival import arrival_words

    host = Path(worker.path or "").name.removesuffix(".xplane.pb")
    return [arrival_words(arrived) for arrived in captured.arrived if arrived.host == host]


def _next(captured: RemoteCapture) -> str:
    """The command that reads the run; log folders open with their latest run."""
    from tfprof.files.run_folder import runs

    try:
        known = list(runs(Path(captured.logdir)))
    except (InputError, OSError):
        known = []
    if captured.run not in known:
        return f"tfprof overview {shlex.quote(captured.folder)}"
    chosen = "" if known[-1] == captured.run else f" --run {shlex.quote(captured.run)}"
    return f"tfprof overview {shlex.quote(captured.logdir)}{chosen}"


def _options() -> list[CommandOption]:
    return [
        CommandOption(
            ["--duration", "--for"], default="2s", metavar="TIME", section=_WHAT,
            help="How long to record: 500ms, 2s, 1m. [default: 2s]",
        ),
        *level_options(_WHAT),
        CommandOption(
            ["--delay"], default="0s", metavar="TIME", section=_WHAT,
            help="Begin after this delay, at the same moment on all workers whose clocks agree. "
            "[default: at once]",
        ),
        CommandOption(
            ["--every"], metavar="TIME", section=_AGAIN,
            help="Capture again and again, each a run of its own: 60s is from one beginning to the "
            "next. Ctrl-C ends it. [default: once]",
        ),
        CommandOption(
            ["--count"], type=IntType(), metavar="N", section=_AGAIN,
            help="End after this many captures. [default: never]",
        ),
        CommandOption(
            ["--most-runs"], type=IntType(), metavar="N", section=_AGAIN,
            help="Keep the latest of these runs, and remove older ones. [default: 10]",
        ),
        CommandOption(
            ["--max-size"], type=IntType(), metavar="N", section=_AGAIN,
            help="Keep at most so much of these runs, in MiB; older ones go first. "
            "[default: any size]",
        ),
        CommandOption(
            ["--logdir"], required=True, metavar="DIR", section=_WHERE,
            help="Log folder; the run becomes plugins/profile/RUN in it.",
        ),
        CommandOption(
            ["--run", "name"], metavar="NAME", section=_WHERE,
            help="Name of the new run. [default: the time]",
        ),
        CommandOption(
            ["--on-server"], is_flag=True, section=_WHERE,
            help="Let each server write its file to DIR on its own machine, such as a shared "
            "disk. [default: captures come back over the connection]",
        ),
        CommandOption(
            ["--retries"], type=IntType(), default=3, metavar="N", section=_HOW,
            help="Further attempts with a worker that cannot be reached, has another session, or "
            "recorded nothing. [default: 3]",
        ),
        CommandOption(
            ["--timeout"], default="30s", metavar="TIME", section=_HOW,
            help="How long a worker may take to collect and send its capture. [default: 30s]",
        ),
        *result_options(
            ["text", "json"], "text: the result of each worker. json: the same, one a line."
        ),
    ]  # fmt: skip


command = Command(
    "capture",
    callback=run,
    params=[servers_argument(), *_options()],
    help="Capture running programs through their profiler servers, all at once into one run, "
    "without TensorFlow on this machine. Exits with 0 if all workers were captured, with 1 if some "
    "were, and with 3 if none was; then nothing is written. Needs pip install 'tfprof[remote]'.",
    examples=[
        "tfprof capture localhost:6009 --logdir logs",
        "tfprof capture worker0:6009,worker1:6009 --duration 500ms --python-tracer-level 1 "
        "--logdir logs",
        "tfprof capture localhost:6009 --every 60s --for 2s --most-runs 30 --logdir logs",
    ],
)
