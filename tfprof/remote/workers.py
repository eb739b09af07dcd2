"""Captures several workers at once, into one run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tfprof.captures.facts.arrival import Arrival, arrival_of, as_record
from tfprof.captures.facts.missing import Asked, lacking
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.core.progress import NoProgress, Progress
from tfprof.core.text import how_to_capture
from tfprof.core.text.wording import sentence
from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.files.run_folder import RECORD_NAME
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import Address, addresses_of
from tfprof.remote.durations import seconds_of
from tfprof.remote.requests import profile_request, received
from tfprof.remote.service import ProfilerServer, Stop, load_grpc, pauses
from tfprof.remote.staging import ServersFolder, Staging, new_run_name
from tfprof.remote.troubles import ServerError

T = TypeVar("T")

CONNECT_SECONDS = 5.0
"""How long a server may take for its first answer."""
ANSWER_SECONDS = 30.0
"""How long a server may take to collect and send the capture."""

_WORKERS_A_SECOND = 20
"""So many workers make each of them a second slower: this process reaches all of them at once."""

_MOST_SECONDS = 86400
_MOST_RETRIES = 100
_POLL_SECONDS = 0.2
"""Time between looks at the work; Ctrl-C takes effect in between."""


@dataclass(frozen=True, slots=True)
class Worker:
    """The result of one worker.

    Attributes:
        address: Its server, ``HOST:PORT``.
        path: Its file; None if there is none.
        n_bytes: Size of the capture; 0 if the server wrote it.
        seconds: From the first attempt to the end.
        attempts: How often it was tried.
        trouble: Why there is no capture; empty if there is one.
        remarks: What the profiler itself reports as errors and warnings.
    """

    address: str
    path: str | None = None
    n_bytes: int = 0
    seconds: float = 0.0
    attempts: int = 1
    trouble: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def is_captured(self) -> bool:
        """Whether its capture is there."""
        return not self.trouble


@dataclass(frozen=True, slots=True)
class RemoteCapture:
    """A run that was captured through profiler servers.

    Attributes:
        run: Its name.
        logdir: The log folder it lies in.
        folder: The folder of the run.
        workers: All workers, in the order of the addresses.
        arrived: Amounts of data from each host; empty if the servers wrote the files.
        notes: What is missing, and the remedy; also in ``capture.json`` beside the captures.
    """

    run: str
    logdir: str
    folder: str
    workers: tuple[Worker, ...]
    arrived: tuple[Arrival, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def failed(self) -> tuple[Worker, ...]:
        """Workers without a capture."""
        return tuple(worker for worker in self.workers if not worker.is_captured)

    @property
    def is_complete(self) -> bool:
        """Whether every worker was captured."""
        return not self.failed

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return asdict(self)


def capture(
    addresses: str | Sequence[str],
    duration: float | str | None,
    logdir: str | Path,
    options: CaptureOptions | None = None,
    *,
    retries: int = 3,
    run: str | None = None,
    on_server: bool = False,
    connect_seconds: float = CONNECT_SECONDS,
    answer_seconds: float = ANSWER_SECONDS,
    watch: Progress | None = None,
) -> RemoteCapture:
    """Record programs that run a profiler server, all at once, into one run of a log folder.

    The captures come back in the answers, so that no shared disk is needed. The whole run appears
    when the last worker has answered; if none answers, the log folder stays unchanged.

    Args:
        addresses: ``HOST:PORT`` of each worker; commas separate several.
        duration: Seconds, or a text such as ``"500ms"``; None takes that of the options.
        logdir: Log folder; the run becomes ``plugins/profile/RUN`` in it.
        options: What to record, and when; all but ``framework``.
        retries: Further attempts with a worker that cannot be reached, has another session, or
            recorded nothing; with pauses of 0.5, 1, 2, … s.
        run: Name of the new run, another way to give the option ``session_id``; by default the
            time.
        on_server: Let each server write its file to ``logdir``, a path on its own machine.
        connect_seconds: How long a server may take for its first answer; a second more for each
            twenty workers, as this process reaches all of them at once.
        answer_seconds: How long it may take to collect and send the capture; likewise.
        watch: Receives progress.

    Returns:
        The result of each worker; at least one was captured.

    Raises:
        UsageError: An argument is wrong, or there is such a run.
        InputError: The folder cannot be written, or no worker was captured; the message says why.
        MissingDependencyError: grpcio is not installed.
    """
    workers = addresses_of(addresses)
    options = options or CaptureOptions()
    for name, usual in (("framework", ""), ("gpu_tracer", "framework")):
        if getattr(options, name) != usual:
            raise UsageError(
                f"option {name}={getattr(options, name)!r} cannot be chosen from outside: a server "
                "records the program it runs in with its own profiler; leave it out"
            )
    seconds = seconds_of(duration) if isinstance(duration, str) else duration
    seconds = _once("duration", seconds, options.duration)
    if seconds is None:
        raise UsageError("no duration was given; a capture from outside needs one, such as '2s'")
    if not 1e-3 <= seconds <= _MOST_SECONDS:
        raise UsageError(f"option duration={seconds:g} s must be from 1 ms to a day")
    run = _once("run", run, options.session_id or None)
    if not 0 <= retries <= _MOST_RETRIES:
        raise UsageError(f"option retries={retries} must be from 0 to {_MOST_RETRIES}")
    load_grpc()
    name = new_run_name(logdir, run, on_server=on_server)
    place = ServersFolder(logdir, name) if on_server else Staging(logdir, name)
    start_ns = time.time_ns() + round(options.delay * 1e9) if options.delay else 0
    more = len(workers) // _WORKERS_A_SECOND
    session = _Session(
        seconds, options, start_ns, retries, connect_seconds + more, answer_seconds + more, place,
        Stop(),
    )  # fmt: skip
    with place:
        done = _all(workers, session, watch or NoProgress())
        if not any(worker.is_captured for worker in done):
            reasons = "\n".join(f"  {worker.address}: {worker.trouble}" for worker in done)
            raise InputError(f"no worker was captured, and nothing was written:\n{reasons}")
        hosts: tuple[Arrival, ...] = ()
        notes: tuple[Note, ...] = ()
        if isinstance(place, Staging):  # else the files may be out of reach
            hosts, notes = _arrived(place, done, options)
        folder = place.finish(is_named=run is not None)
    ended = tuple(
        replace(worker, path=f"{folder.rstrip('/')}/{worker.path}") if worker.path else worker
        for worker in done
    )
    return RemoteCapture(Path(folder).name, str(logdir), folder, ended, hosts, notes)


def _once(name: str, argument: T | None, option: T | None) -> T | None:
    """The argument, or else the option of the same meaning."""
    if argument is None:
        return option
    if option is not None and option != argument:
        raise UsageError(
            f"{name}={argument!r} is given, and the options say {option!r}; say it once"
        )
    return argument


@dataclass(frozen=True, slots=True)
class _Session:
    duration_seconds: float
    options: CaptureOptions
    start_ns: int
    retries: int
    connect_seconds: float
    answer_seconds: float
    place: Staging | ServersFolder
    stop: Stop


def _all(workers: Sequence[Address], session: _Session, watch: Progress) -> list[Worker]:
    """Capture all workers at the same time."""
    with ThreadPoolExecutor(len(workers), "tfprof-capture") as pool:
        futures: list[Future[Worker]] = [
            pool.submit(_captured, address, session) for address in workers
        ]
        pending = set(futures)
        try:
            while pending:
                n_done = len(futures) - len(pending)
                watch.stage(f"capturing {len(futures)} workers: {n_done} done")
                _, pending = wait(pending, _POLL_SECONDS, FIRST_COMPLETED)
        except BaseException:  # Ctrl-C: the servers give up their sessions
            session.stop.now()
            raise
        return [future.result() for future in futures]


def _captured(address: Address, session: _Session) -> Worker:
    """Try until there is a capture, or another attempt cannot help."""
    start = time.monotonic()
    waits = pauses()
    attempt = 1
    while True:
        try:
            path, n_bytes, remarks = _attempt(address, session)
            taken = time.monotonic() - start
            return Worker(str(address), path, n_bytes, taken, attempt, remarks=remarks)
        except ServerError as trouble:
            is_last = not trouble.may_pass or attempt > session.retries
            if is_last or session.stop.wait(next(waits)):
                taken = time.monotonic() - start
                text = f"{trouble} ({attempt} attempts)" if attempt > 1 else str(trouble)
                return Worker(str(address), None, 0, taken, attempt, text)
        attempt += 1


def _attempt(address: Address, session: _Session) -> tuple[str, int, tuple[str, ...]]:
    """One session on one server: name of the file, its size, and the profiler's own remarks."""
    now_ns = time.time_ns()
    start_ns = session.start_ns if session.start_ns > now_ns else 0
    delay = (start_ns - now_ns) / 1e9 if start_ns else 0.0
    limit = delay + session.duration_seconds + session.answer_seconds
    request = profile_request(
        session.options, session.duration_seconds, start_ns=start_ns,
        place=session.place.of_server(address),
    )  # fmt: skip
    with ProfilerServer(address, session.stop) as server:
        server.look(session.connect_seconds)
        answer = received(server.call("Profile", request, limit))
    if answer.is_empty:
        raise ServerError(
            "nothing was recorded: the program did nothing meanwhile. "
            f"{sentence(how_to_capture.LONGER)}",
            may_pass=True,
        )
    return session.place.keep(address, answer), answer.n_bytes, answer.remarks


def _arrived(
    place: Staging, workers: Sequence[Worker], options: CaptureOptions
) -> tuple[tuple[Arrival, ...], tuple[Note, ...]]:
    """Count what has arrived, and write it as ``capture.json``, which appears with the run.

    A capture that cannot be read stays, as does a run whose record cannot be written; a note says
    so.
    """
    hosts: list[Arrival] = []
    notes = [Note("error", f"{one.address}: {one.trouble}") for one in workers if one.trouble]
    sizes = {}
    for name in (one.path for one in workers if one.path is not None):
        path, stem = place.unfinished(name), name.removesuffix(".xplane.pb")
        sizes[stem] = path.stat().st_size
        try:
            host = Host(stem, read_xspace(path.read_bytes()))
            hosts.append(arrival_of(host))
            notes += [lack.note(stem) for lack in lacking(host, Asked(options))]
        except (TfprofError, OSError) as error:
            notes.append(Note("warning", f"what arrived could not be checked: {error}", stem))
    try:
        place.note(RECORD_NAME, as_record(hosts, sizes, notes, asdict(options)))
    except OSError as error:
        place.unfinished(RECORD_NAME).unlink(missing_ok=True)
        why = error.strerror or error
        notes.append(Note("warning", f"{RECORD_NAME} could not be written: {why}"))
    return tuple(hosts), tuple(notes)
