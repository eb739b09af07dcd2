"""``tfprof capture``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.options import Command, CommandOption, HelpedArgument, IntType, from_params
from tfprof.cli.output import harmless, note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, as_json, result_options
from tfprof.errors import InputError, UsageError

if TYPE_CHECKING:
    from tfprof.remote import RemoteCapture, Worker

EXIT_SOME_FAILED = 1
"""Exit code if some workers were captured, but not all."""

_WHAT, _WHERE, _HOW = "What to record", "Where to write it", "Patience"


@dataclass(frozen=True, slots=True)
class _Levels:
    host_tracer_level: int
    python_tracer_level: int
    device_tracer_level: int


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
    """Capture and say what came of each worker; returns 1 if some failed."""
    result = from_params(ResultChoice, params)
    target = result.target()
    from tfprof.remote import CaptureOptions, capture
    from tfprof.remote.durations import seconds_of

    levels = from_params(_Levels, params)
    options = CaptureOptions(**asdict(levels), delay=seconds_of(delay))
    if not logdir:
        raise UsageError("option --logdir is empty; give the name of a folder")
    with progress() as watch:
        captured = capture(
            list(servers), seconds_of(duration), logdir, options, retries=retries, run=name,
            on_server=on_server, answer_seconds=seconds_of(timeout), watch=watch,
        )  # fmt: skip
    for worker in captured.workers:
        for remark in worker.remarks:
            note(f"{worker.address}: the profiler says: {remark}")
    if result.format == "json":
        data = captured.to_dict()
        rows = data.pop("workers")
        target.write(as_json({**data, "next": _next(captured)}, rows))
    else:
        target.write(_text(captured))
    return 0 if captured.is_complete else EXIT_SOME_FAILED


def _text(captured: RemoteCapture) -> str:
    n_workers, n_failed = len(captured.workers), len(captured.failed)
    width = max(len(worker.address) for worker in captured.workers)
    lines = [
        f"{captured.folder}: {n_workers - n_failed} of {n_workers} "
        f"{'worker' if n_workers == 1 else 'workers'} captured",
        *(f"  {worker.address:{width}}  {_outcome(worker)}" for worker in captured.workers),
        f"next: {_next(captured)}",
    ]
    return harmless("".join(f"{line}\n" for line in lines))


def _outcome(worker: Worker) -> str:
    if worker.path is None:
        return f"failed: {worker.trouble}"
    from tfprof.text.units import human_memory

    size = human_memory(worker.n_bytes) if worker.n_bytes else "written by the server"
    tried = f", attempt {worker.attempts}" if worker.attempts > 1 else ""
    return f"{size} in {worker.seconds:.1f} s{tried}  {Path(worker.path).name}"


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
            ["--duration"], default="2s", metavar="TIME", section=_WHAT,
            help="How long to record: 500ms, 2s, 1m. [default: 2s]",
        ),
        CommandOption(
            ["--host-tracer-level"], type=IntType(), default=2, metavar="N", section=_WHAT,
            help="0 off, 1 step markers, 2 ops and tf.data too, 3 verbose. [default: 2]",
        ),
        CommandOption(
            ["--python-tracer-level"], type=IntType(), default=0, metavar="N", section=_WHAT,
            help="1 records the calls of Python functions, which makes captures much larger. "
            "[default: 0]",
        ),
        CommandOption(
            ["--device-tracer-level"], type=IntType(), default=1, metavar="N", section=_WHAT,
            help="0 leaves GPUs and TPUs out. [default: 1]",
        ),
        CommandOption(
            ["--delay"], default="0s", metavar="TIME", section=_WHAT,
            help="Begin so much later, at the same moment on all workers whose clocks agree. "
            "[default: at once]",
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
            help="Let each server write its file to DIR, as that server sees it, such as a shared "
            "disk. [default: captures come back over the connection]",
        ),
        CommandOption(
            ["--retries"], type=IntType(), default=3, metavar="N", section=_HOW,
            help="Further attempts with a worker that cannot be reached, is being captured by "
            "somebody else, or did nothing meanwhile. [default: 3]",
        ),
        CommandOption(
            ["--timeout"], default="30s", metavar="TIME", section=_HOW,
            help="How long a worker may take to collect and send its capture. [default: 30s]",
        ),
        *result_options(
            ["text", "json"], "text: what came of each worker. json: the same, one a line."
        ),
    ]  # fmt: skip


def _servers() -> HelpedArgument:
    return HelpedArgument(
        "servers", "HOST:PORT...",
        "Profiler servers, such as tf.profiler.experimental.server.start(6009) starts in a "
        "program; commas separate several.",
        section="Workers", metavar="HOST:PORT...", nargs=-1, required=True,
    )  # fmt: skip


command = Command(
    "capture",
    callback=run,
    params=[_servers(), *_options()],
    help="Capture running programs through their profiler servers, all at once into one run, "
    "without TensorFlow on this machine. Exits with 0 if all workers were captured, with 1 if some "
    "were, and with 3 if none was; then nothing is written. Needs pip install 'tfprof[remote]'.",
    examples=[
        "tfprof capture localhost:6009 --logdir logs",
        "tfprof capture worker0:6009,worker1:6009 --duration 500ms --python-tracer-level 1 "
        "--logdir logs",
    ],
)
