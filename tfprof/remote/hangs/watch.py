"""Watches the workers of a flight recorder for a hang, and makes it write one run for it."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tfprof.captures.run.hang_record import HANG_NAME, Hang, Rank, State
from tfprof.errors import InputError, UsageError
from tfprof.files.small_files import put
from tfprof.remote.addresses import address_of
from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.hangs.collectives import last_collectives
from tfprof.remote.hangs.excuses import excuse
from tfprof.remote.hangs.naming import named
from tfprof.remote.hangs.processes import Process, Stacks, Vitals, hooked_in, process_of
from tfprof.remote.hangs.progress import Progress, after
from tfprof.remote.hangs.stacks import compared

if TYPE_CHECKING:
    from tfprof.remote.flight import FlightRecorder, Saved

_log = logging.getLogger("tfprof")

SHORTEST_SECONDS = 1.0
_USUAL_STEPS = 3.0
"""A step may take so many times as long as usual, whatever the timeout is."""
_SILENT = 0.75
"""A server is silent after this share of the timeout without a snapshot; a quarter lies between
two."""
_BETWEEN_LOOKS_SECONDS = 0.5
_MOST_AT_ONCE = 16
_CONNECT_SECONDS = 1.0


class _Look(NamedTuple):
    time: float
    vitals: Vitals | None
    stacks: Stacks


class HangWatch:
    """Finds hangs of the job that a flight recorder records.

    ``saw`` is the recorder's observer; ``start`` begins, when the recorder has begun.

    Args:
        seconds: A worker that makes no progress for so long, while it did before, hangs; longer if
            its steps take longer.
        folders: State folders of ``tfprof run``, or log folders that hold one, for ranks and
            stacks.
        say: Receives remarks, such as that the job went on.

    Raises:
        UsageError: The time is too short.
    """

    def __init__(
        self, seconds: float, *, folders: Sequence[str | os.PathLike[str]] = (),
        say: Callable[[str], None] = _log.info,
    ) -> None:  # fmt: skip
        if seconds < SHORTEST_SECONDS:
            raise UsageError(f"option hang-timeout={seconds:g} s must be {SHORTEST_SECONDS:g} s "
                             "or more")  # fmt: skip
        self.seconds, self._folders, self._say = seconds, folders, say
        self._lock = threading.Lock()
        self._seen: dict[str, Progress] = {}
        self._recorder: FlightRecorder | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tfprof-hangs", daemon=True)
        self._hang: Hang | None = None
        self._before: dict[str, int] = {}
        self._written: Path | None = None
        self._excuse = ""

    def start(self, recorder: FlightRecorder) -> None:
        """Begin to watch."""
        self._recorder = recorder
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def saw(self, snapshot: WatchedSnapshot) -> None:
        """Take note of a snapshot; the recorder calls it in the thread of the worker."""
        with self._lock:
            before = self._seen.get(snapshot.address)
        found = after(before, snapshot, time.monotonic())
        if found is None:
            return
        with self._lock:
            self._seen[snapshot.address] = found
        if self._recorder is not None:  # what happened last stays, however long the hang is
            is_quiet = found.latest_ns < snapshot.begin_ns
            self._recorder.keep_from(snapshot.address, found.begin_ns if is_quiet else None)

    def wrote(self, saved: Saved) -> None:
        """Take note of a run, whose record changes when the job goes on."""
        path = Path(saved.folder, HANG_NAME)
        if saved.folder and path.is_file():
            self._written = path

    def _run(self) -> None:
        while not self._stop.wait(min(1.0, self.seconds / 8)):
            try:
                self._check()
            except Exception:  # it must not end unseen, nor end the recorder
                _log.exception("the look for hangs failed; please report this as a bug of tfprof")

    def _check(self) -> None:
        assert self._recorder is not None
        with self._lock:
            known = dict(self._seen)
        observed = self._recorder.observed
        seen = {address: known[address] for address in observed if address in known}
        ended = {
            address for address, one in seen.items()
            if observed[address].has_ended or (self._is_silent(one) and _refuses(address))
        }  # fmt: skip
        quiet = {
            address: self._quiet_seconds(one, has_ended=address in ended)
            for address, one in seen.items()
        }
        if self._hang is not None:
            self._follow({each: one for each, one in seen.items() if each not in ended})
            return
        hung = [
            address for address, one in seen.items()
            if quiet[address] >= self._limit(one) and address not in ended
        ]  # fmt: skip
        if not hung:
            self._excuse = ""
            return
        if max(quiet.values()) < 1.5 * self.seconds and any(
            self.seconds / 2 <= quiet[address] < self._limit(one) for address, one in seen.items()
        ):
            return  # their next snapshot may complete the time
        hang, why = self._judged(seen, quiet, ended)
        if why:
            if why != self._excuse:
                self._say(f"no step for {min(quiet[one] for one in hung):.0f} s, but {why}")
            self._excuse = why
            return
        with self._lock:
            if any(self._seen[each].latest_ns > seen[each].latest_ns for each in hung):
                return  # it went on meanwhile
        self._hang = hang
        self._before = {
            rank.address: seen[rank.address].latest_ns
            for rank in hang.ranks if rank.state not in ("ended", "runs")
        }  # fmt: skip
        self._written = None
        last = {each: one.snapshots[-1] for each, one in seen.items() if one.snapshots}
        self._recorder.save(hang.summary, {HANG_NAME: hang.to_json()}, last)

    def _limit(self, one: Progress) -> float:
        return max(self.seconds, _USUAL_STEPS * (one.usual_seconds or 0.0))

    def _quiet_seconds(self, one: Progress, *, has_ended: bool) -> float:
        """How long a worker is quiet; a silent one since its last progress until now."""
        if has_ended or self._is_silent(one):
            return one.quiet_seconds + time.monotonic() - one.arrived
        return one.quiet_seconds

    def _is_silent(self, one: Progress) -> bool:
        return time.monotonic() - one.arrived >= _SILENT * self.seconds

    def _follow(self, living: Mapping[str, Progress]) -> None:
        """Whether a job that hung goes on, or has ended."""
        assert self._hang is not None
        left = {each: ns for each, ns in self._before.items() if each in living}
        if not all(living[each].latest_ns > ns for each, ns in left.items()):
            return
        if not left:
            self._say("the job that hung has ended")
            self._hang = None
            return
        took = time.time() - self._hang.since
        self._say(f"the job went on after {took:.0f} s")
        if self._written is not None:
            hang = replace(self._hang, went_on_seconds=took)
            with suppress(InputError):
                put(self._written, hang.to_json().encode())
        self._hang = None

    def _judged(
        self, seen: Mapping[str, Progress], quiet: Mapping[str, float],
        ended: Collection[str],
    ) -> tuple[Hang, str]:  # fmt: skip
        """The hang with all its evidence, and why it is none; empty if it is one."""
        hooked = hooked_in(self._folders)
        processes = {each: process_of(address_of(each), hooked) for each in seen}
        with ThreadPoolExecutor(min(_MOST_AT_ONCE, len(seen))) as pool:
            first = dict(zip(processes, pool.map(_look, processes.values()), strict=True))
            self._stop.wait(_BETWEEN_LOOKS_SECONDS)
            second = dict(zip(processes, pool.map(_look, processes.values()), strict=True))
        ranks = tuple(
            self._rank(each, seen[each], quiet[each], processes[each], first[each], second[each],
                       has_ended=each in ended)
            for each in seen
        )  # fmt: skip
        found, basis = named(ranks)
        least = min(
            (rank.quiet_seconds for rank in ranks if rank.state not in ("ended", "runs")),
            default=self.seconds,
        )
        usual = [one.usual_seconds for one in seen.values() if one.usual_seconds is not None]
        now = time.time()
        hang = Hang(now, now - least, max(usual, default=None), ranks, found, basis)
        judged = [ranks[at] for at in found] or list(ranks)
        reasons = [excuse(rank, _rate(first[rank.address], second[rank.address]))
                   for rank in judged]  # fmt: skip
        return hang, next(filter(None, reasons), "")

    def _rank(
        self, address: str, one: Progress, quiet_seconds: float, process: Process,
        first: _Look, second: _Look, *, has_ended: bool,
    ) -> Rank:  # fmt: skip
        threads = compared(first.stacks.threads, second.stacks.threads)
        state: State = "stands" if threads else "unseen"
        if has_ended:
            state = "ended"
        elif second.vitals is not None and second.vitals.is_stopped:
            state = "stopped"
        elif quiet_seconds < self.seconds / 2:
            state = "runs"
        elif self._is_silent(one):
            state = "silent"
        elif any(thread.is_main and thread.has_moved for thread in threads):
            state = "works"
        cpu = None
        if first.vitals is not None and second.vitals is not None:
            used = second.vitals.cpu_seconds - first.vitals.cpu_seconds
            cpu = 100 * used / (second.time - first.time)
        done = last_collectives(one.snapshots)
        reason = "" if state in ("ended", "stopped") else second.stacks.reason
        is_covered = state not in ("ended", "stopped", "silent")  # else what came last is unknown
        return Rank(
            address, process.rank, process.pid, state, quiet_seconds, one.step, done.completed,
            done.entered if is_covered else "", cpu, threads, second.stacks.source, reason,
        )  # fmt: skip


def _refuses(address: str) -> bool:
    """Whether nothing listens any more, so that the program ends; a stopped one still accepts."""
    host, port = address_of(address)
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except OSError as error:
        return isinstance(error, ConnectionRefusedError)
    return False


def _look(process: Process) -> _Look:
    vitals = process.vitals()
    is_stopped = vitals is not None and vitals.is_stopped
    stacks = Stacks((), reason="it is stopped") if is_stopped else process.stacks()
    return _Look(time.monotonic(), process.vitals(), stacks)


def _rate(first: _Look, second: _Look) -> float:
    """Bytes that a process reads and writes in a second, between two looks."""
    if first.vitals is None or second.vitals is None:
        return 0.0
    return (second.vitals.n_bytes - first.vitals.n_bytes) / (second.time - first.time)
