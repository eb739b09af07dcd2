"""Watches running programs: a few figures of each worker at intervals.

Where a runtime implements the service's ``Monitor`` call, as that of TPUs does, its figures are
used. Servers of TensorFlow on CPUs and GPUs refuse the call; there, short captures are made, which
stay in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tfprof.core.wire import messages
from tfprof.errors import TfprofError, UsageError
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import Address, addresses_of
from tfprof.remote.requests import profile_request, received
from tfprof.remote.service import ProfilerServer, Stop, load_grpc
from tfprof.remote.troubles import ServerError, shortened

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

T = TypeVar("T")

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
_LONGEST_CAPTURE_SECONDS = 1.0
_CAPTURED_SHARE = 0.5
"""Share of an interval that is recorded; the program runs unobserved for the rest."""

_PATIENCE_SECONDS = 2.0
"""How long beyond the interval the other workers wait for one."""

_FEWEST_SECONDS, _MOST_SECONDS = 0.01, 3600.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Figures of one worker in one interval; None is unknown.

    Attributes:
        address: Its server.
        time: When they were taken, in seconds since 1970.
        source: Where they come from: the service's ``Monitor`` call or a short capture.
        steps: Number of steps; None if the server did not report it.
        step_ms_average: Average time of a step.
        step_ms_minimum: Time of the shortest step.
        step_ms_maximum: Time of the longest step.
        input_percent: Share of the step time spent waiting for input.
        idle_percent: Share of the time in which devices did nothing; in programs without devices,
            with level 2, of the time of threads in which they ran no op.
        matrix_unit_percent: Use of the matrix units.
        text: What the server says in words.
        trouble: Why there are no figures; empty if there are.
    """

    address: str
    time: float
    source: Literal["monitor", "capture"] = "capture"
    steps: int | None = None
    step_ms_average: float | None = None
    step_ms_minimum: float | None = None
    step_ms_maximum: float | None = None
    input_percent: float | None = None
    idle_percent: float | None = None
    matrix_unit_percent: float | None = None
    text: str = ""
    trouble: str = ""


def monitor(
    addresses: str | Sequence[str],
    *,
    level: int = 1,
    interval_seconds: float = 1.0,
    count: int | None = None,
) -> Iterator[list[Sample]]:
    """Watch workers.

    Args:
        addresses: ``HOST:PORT`` of each worker; commas separate several.
        level: 1 times steps; 2 also measures how long they wait for input, and slows the program
            down a little more.
        interval_seconds: From one look to the next. A short capture takes half of it, at most 1 s.
        count: Number of looks; None for no limit.

    Yields:
        One sample of each worker, in the order of the addresses.

    Raises:
        UsageError: An argument is wrong.
        MissingDependencyError: grpcio is not installed.
    """
    if level not in (1, 2):
        raise UsageError(f"option level={level} must be 1 or 2")
    return watch(
        addresses, Watched.look, Watched.late, level=level, interval_seconds=interval_seconds,
        count=count,
    )  # fmt: skip


def watch(
    addresses: str | Sequence[str],
    look: Callable[[Watched], T],
    late: Callable[[Watched, float], T],
    *,
    level: int,
    interval_seconds: float,
    count: int | None,
    stop: Stop | None = None,
) -> Iterator[list[T]]:
    """Look at all workers at once, at intervals. Arguments as for ``monitor``.

    Args:
        addresses: The workers.
        look: One look at one worker; runs in a thread.
        late: Makes the answer for a worker that would delay the others; gets the seconds so far.
        level: What short captures record.
        interval_seconds: From one look to the next.
        count: Number of looks.
        stop: Ends the looks, from another thread.
    """
    workers = addresses_of(addresses)
    if not _FEWEST_SECONDS <= interval_seconds <= _MOST_SECONDS:
        raise UsageError(f"option interval={interval_seconds:g} s must be from 10 ms to an hour")
    if count is not None and count < 1:
        raise UsageError(f"option count={count} must be 1 or more")
    load_grpc()
    stop = stop or Stop()
    watched = [Watched(address, level, interval_seconds, stop) for address in workers]
    return _looks(watched, look, late, interval_seconds, count, stop)


def _looks(
    watched: Sequence[Watched],
    look: Callable[[Watched], T],
    late: Callable[[Watched, float], T],
    interval_seconds: float,
    count: int | None,
    stop: Stop,
) -> Iterator[list[T]]:
    pool = ThreadPoolExecutor(len(watched), "tfprof-monitor")
    under_way: dict[Watched, tuple[Future[T], float]] = {}
    n_done = 0
    try:
        while (count is None or n_done < count) and not stop.is_set:
            now = time.monotonic()
            begun = [each for each in watched if each not in under_way]
            for each in begun:
                under_way[each] = (pool.submit(look, each), now)
            _wait_for([under_way[each][0] for each in begun], interval_seconds + _PATIENCE_SECONDS)
            seen = []
            for each in watched:
                future, since = under_way[each]
                if future.done():
                    del under_way[each]
                    seen.append(future.result())
                else:
                    seen.append(late(each, time.monotonic() - since))
            yield seen
            n_done += 1
            if n_done != count:
                stop.wait(max(0.0, now + interval_seconds - time.monotonic()))
    finally:  # also where the caller stops early
        stop.now()
        pool.shutdown()


def _wait_for(looks: list[Future[T]], seconds: float) -> None:
    """Wait for the first look without a limit, and for the others within one."""
    done, others = wait(looks, seconds)
    if others and not done:
        wait(others, return_when=FIRST_COMPLETED)


class Watched:
    """One worker; remembers which kind of call works."""

    def __init__(self, address: Address, level: int, interval_seconds: float, stop: Stop) -> None:
        self._address, self._level, self._stop = address, level, stop
        self._interval = interval_seconds
        self._has_monitor = True

    def look(self) -> Sample:
        """Figures from the ``Monitor`` call, or from a short capture where it has none."""
        return self._tried(self._asked if self._has_monitor else None)[0]

    def late(self, seconds: float) -> Sample:
        """The sample for a look that takes too long for the other workers.

        Args:
            seconds: For how long.
        """
        said = f"no answer for {seconds:.1f} s; it is still waited for"
        return Sample(str(self._address), time.time(), trouble=said)

    def record(self) -> tuple[Sample, Run | None]:
        """Figures from a short capture, with the capture; None if the sample has a trouble."""
        return self._tried(None)

    def _tried(
        self, ask: Callable[[ProfilerServer, Sample], Sample] | None
    ) -> tuple[Sample, Run | None]:
        sample = Sample(str(self._address), time.time())
        try:
            with ProfilerServer(self._address, self._stop) as server:
                server.look(_CONNECT_SECONDS)
                if ask is not None:
                    try:
                        return ask(server, sample), None
                    except ServerError as error:
                        if error.code != "UNIMPLEMENTED":
                            raise
                        self._has_monitor = False
                run = self._recorded(server)
                return self._figures(run, sample), run
        except TfprofError as error:  # a capture that cannot be read
            return replace(sample, trouble=shortened(str(error))), None
        except ServerError as error:
            return replace(sample, trouble=str(error)), None

    def _asked(self, server: ProfilerServer, sample: Sample) -> Sample:
        request = messages.MonitorRequest(
            duration_ms=round(self._interval * 1000), monitoring_level=self._level
        )
        limit = self._interval + _ANSWER_SECONDS
        data = server.call("Monitor", request.SerializeToString(), limit)
        answer = messages.parse(messages.MonitorResponse, data, source=str(self._address))
        known = answer.monitor_result
        kinds = messages.ProfilerServiceMonitorResult
        filled = replace(sample, source="monitor", text=shortened(answer.data))
        if known.response_type >= kinds.UTIL_ONLY:
            filled = replace(filled, matrix_unit_percent=known.matrix_unit_utilization_percent)
        if known.response_type >= kinds.UTIL_IDLE:
            filled = replace(filled, idle_percent=known.device_idle_time_percent)
        if known.response_type >= kinds.UTIL_IDLE_STEP:
            filled = replace(
                filled,
                step_ms_average=known.step_time_ms_avg,
                step_ms_minimum=known.step_time_ms_min,
                step_ms_maximum=known.step_time_ms_max,
                input_percent=known.infeed_percent_avg,
            )
        return filled

    def _recorded(self, server: ProfilerServer) -> Run:
        seconds = min(self._interval * _CAPTURED_SHARE, _LONGEST_CAPTURE_SECONDS)
        request = profile_request(CaptureOptions(host_tracer_level=self._level), seconds)
        answer = received(server.call("Profile", request, seconds + _ANSWER_SECONDS))
        if answer.is_empty or not answer.parts:
            raise ServerError("nothing was recorded: the program did nothing", may_pass=True)
        from tfprof.captures.run.run import open_run

        return open_run(b"".join(answer.parts))

    def _figures(self, run: Run, sample: Sample) -> Sample:
        from tfprof.captures.tools.monitor_report import monitor as figures

        table = figures(run).table()
        row: dict[str, Any] = table.to_rows()[0]
        hint = "no step is marked: level 2 finds steps without marks" if self._level < 2 else ""
        return replace(
            sample,
            text="" if row["steps"] else hint,
            steps=row["steps"],
            step_ms_average=row["step_ms_average"],
            step_ms_minimum=row["step_ms_minimum"],
            step_ms_maximum=row["step_ms_maximum"],
            input_percent=row["infeed_percent_average"] if self._level > 1 else None,
            idle_percent=self._idle(run, row["idle_percent"]),
            matrix_unit_percent=row["matrix_unit_percent"],
        )

    def _idle(self, run: Run, of_devices: float | None) -> float | None:
        if of_devices is not None or self._level < 2:
            return of_devices
        from tfprof.captures.facts.host_op_db import host_ops

        hosts = [host_ops(host) for host in run.hosts]
        idle = sum(ops.idle_ps for ops in hosts)
        total = idle + sum(int(ops.self_ps.sum()) for ops in hosts)
        return 100.0 * idle / total if total else None
