"""Makes runs of what is kept of the workers: of all of it, or of certain steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

from tfprof.errors import InputError
from tfprof.remote.addresses import Address
from tfprof.remote.flight.events import Event, Saved, notes_of, reason_of, steps_of, with_ends
from tfprof.remote.flight.keeping import Kept, one_capture
from tfprof.remote.flight.step_range import StepRange, StepsAwaited, Watched, cut_to
from tfprof.remote.flight.watched import WatchedWorker
from tfprof.remote.flight.writing import RunWriter
from tfprof.remote.troubles import ServerError

Workers = Sequence[WatchedWorker]


class RunMaker:
    """Takes what is kept of workers, and writes it.

    Args:
        writer: Writes a run.
        tell: Receives the events of programs that have come back since; the next run is about
            them.
    """

    def __init__(self, writer: RunWriter, tell: Callable[[Event], None]) -> None:
        self._writer, self._tell = writer, tell

    def of_all(
        self, workers: Workers, happened: Sequence[Event], when: float, late: Sequence[str] = ()
    ) -> list[Saved]:
        """Write a run of all that is kept; no result if the budget has no room for it.

        Args:
            workers: All workers.
            happened: Why.
            when: The time of that, in seconds since 1970.
            late: Workers that did not answer in time.
        """
        taken = {worker: worker.ring.taken() for worker in workers}
        kept = {worker: each for worker, each in taken.items() if each}
        programs = {str(worker.address): each[0].program for worker, each in kept.items()}
        events, later = list[Event](), list[Event]()
        for event in happened:
            is_later = event.program > programs.get(event.address, event.program)
            (later if is_later else events).append(event)
        events = with_ends(events)
        spans = {
            str(worker.address): [(each.begin_ns, each.end_ns) for each in snapshots]
            for worker, snapshots in kept.items()
        }
        steps = steps_of(events, spans)
        notes = notes_of(steps, spans, late)
        seconds = max(((each[-1][1] - each[0][0]) / 1e9 for each in spans.values()), default=0.0)
        texts = tuple(chain(*notes.values()))
        beside = {name: text for event in events for name, text in event.beside.items()}
        saved = Saved(reason_of(events), when, "", seconds, (), "", steps, texts, beside)
        captures: dict[Address, Callable[[], tuple[bytes, Sequence[str]]]] = {
            worker.address: partial(_whole, snapshots, notes.get(str(worker.address), ()))
            for worker, snapshots in kept.items()
        }
        last = {
            worker.address: event.last[str(worker.address)]
            for event in events for worker in workers
            if worker not in kept and str(worker.address) in event.last
        }  # fmt: skip
        captures |= {address: partial(_earlier, data) for address, data in last.items()}
        if not captures:
            return [saved]
        must = any(event.is_request for event in events)
        n_bytes = sum(each.size for snapshots in kept.values() for each in snapshots)
        n_bytes += sum(map(len, last.values()))
        try:
            done = self._writer.write(captures, saved, n_bytes, must=must)
        except (InputError, ServerError, OSError) as error:
            _give_back(kept)
            return [replace(saved, trouble=f"it could not be written: {error}")]
        if done is None:
            _give_back(kept)
            for worker in workers:
                worker.ring.release()
            return []
        for snapshots in kept.values():
            for each in snapshots:
                each.drop()
        for event in later:
            self._tell(event)
        return [done]

    def of_steps(self, workers: Workers, awaited: StepsAwaited) -> list[Saved]:
        """Write the run of the steps that were awaited; what is kept stays for other runs."""
        wanted, notes = awaited.wanted, awaited.notes(places(workers))
        taken = {worker: worker.ring.taken() for worker in workers}
        captures, n_bytes, spans = {}, 0, [0.0]
        for worker, snapshots in taken.items():
            begin_ns = worker.place.begin_ns if worker.place is not None else None
            own = [each for each in snapshots if begin_ns is not None and each.end_ns > begin_ns]
            if own and begin_ns is not None:
                note = notes.get(str(worker.address))
                captures[worker.address] = partial(_cut, own, [note] if note else [], wanted)
                n_bytes += sum(each.size for each in own)
                spans.append((own[-1].end_ns - begin_ns) / 1e9)
        texts = tuple(notes.values())
        saved = Saved(str(wanted), time.time(), "", max(spans), (), "", (), texts)
        try:
            if not captures:
                raise InputError("no worker was recorded in them")
            done = self._writer.write(captures, saved, n_bytes, must=True)
        except (InputError, ServerError, OSError) as error:
            return [replace(saved, trouble=f"{wanted} could not be written: {error}")]
        finally:
            _give_back(taken)
            for worker in workers:
                worker.ring.release()
        return [done] if done is not None else []


def places(workers: Workers) -> list[Watched]:
    """Where the workers are in their steps."""
    return [
        Watched(str(each.address), each.place, each.is_recording, each.observed.n_snapshots)
        for each in workers
    ]


def _give_back(kept: Mapping[WatchedWorker, list[Kept]]) -> None:
    for worker, snapshots in kept.items():
        worker.ring.give_back(snapshots)


def _whole(snapshots: list[Kept], warnings: Sequence[str]) -> tuple[bytes, list[str]]:
    return one_capture(snapshots, warnings), []


def _earlier(data: bytes) -> tuple[bytes, list[str]]:
    return data, ["nothing was recorded since the last run; this is what came before it"]


def _cut(
    snapshots: list[Kept], warnings: Sequence[str], wanted: StepRange
) -> tuple[bytes, list[str]]:
    """The capture of the wanted steps only, and what is missing."""
    data, numbers = cut_to(one_capture(snapshots, warnings), wanted)
    stride = min((after - before for before, after in pairwise(numbers)), default=1)
    missing = sorted(set(range(numbers[0], numbers[-1], stride)) - set(numbers))
    names = ", ".join(map(str, missing[:5])) + (" …" if len(missing) > 5 else "")
    return data, [f"snapshots have cut steps, which are missing: {names}"] if missing else []
