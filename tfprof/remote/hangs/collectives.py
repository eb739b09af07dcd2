"""The last collective that a process completed, and the one that it entered and has not left.

Profilers record an event when it ends, so a collective that goes on has none. Two things show it:
TensorFlow's ``CollectiveOpV2Kernel::Run`` begins one, and the event of its end has the same number
of a flow; and XLA's ops have the number of the program's run, so a run in which what comes before
the collective has ended, but the collective has not, is in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.collective_names import is_collective_name
from tfprof.captures.model.xspace import Plane
from tfprof.captures.read.xspace import read_xspace
from tfprof.errors import TfprofError

_BEGINS = "CollectiveOpV2Kernel::Run"
_ENDS = "CollectiveExecutor::ExecuteAsync::Done"
_MOST_OPS = 2000
_NOISE = ("ThreadpoolListener::", "TFE_DeleteTensorHandle", "end: ", "Rendezvous", "tfprof.")


class Collectives(NamedTuple):
    """What a process did last.

    Attributes:
        completed: The last collective that it completed; empty if there is none.
        entered: The one that it entered since; empty if none is known.
    """

    completed: str = ""
    entered: str = ""


class _Op(NamedTuple):
    end_ps: int
    name: str
    module: str
    run: int | None


def n_worked(data: bytes) -> int:
    """Number of events in a snapshot that show work: those of ops and calls."""
    try:
        return _n_worked(read_xspace(data, threads=1).planes)
    except TfprofError:
        return 0


def _n_worked(planes: Iterable[Plane]) -> int:
    n_events = 0
    for plane in planes:
        rows, counts = np.unique(plane.metadata_rows, return_counts=True)
        names = plane.event_metadata.names.all
        n_events += sum(
            count
            for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
            if not names[row].startswith(_NOISE)
        )
    return n_events


def last_collectives(snapshots: Iterable[bytes]) -> Collectives:
    """The last collectives of consecutive snapshots of one process.

    Args:
        snapshots: XSpaces in order of time.
    """
    begun, ops, is_latest = dict[int | None, str](), list[_Op](), True
    for data in snapshots:
        try:
            planes = read_xspace(data, threads=1).planes
        except TfprofError:
            continue
        of_snapshot = sorted(
            (op for plane in planes for op in _ops_of(plane)), key=lambda op: op.end_ps
        )
        for op in of_snapshot:
            if op.name == _BEGINS:
                begun[op.run] = op.module
            elif op.name == _ENDS:
                begun.pop(op.run, None)
            else:
                ops.append(op)
        if of_snapshot:
            is_latest = True
        elif _n_worked(planes):
            is_latest = False  # it has left, and the border of a snapshot has cut the event
    done = [op for op in ops if is_collective_name(op.name)]
    completed = _named(done[-1].name, done[-1].module) if done else ""
    if begun:
        return Collectives(completed, [*begun.values()][-1])
    return Collectives(completed, _entered_of_xla(ops) if is_latest else "")


def _ops_of(plane: Plane) -> list[_Op]:
    """The latest ops of programs, collectives, and beginnings and ends of collectives."""
    if not len(plane.events):
        return []
    rows = plane.metadata_rows
    names = plane.event_metadata.names.all
    used = np.unique(rows)
    wanted = [
        r for r in used.tolist() if names[r] in (_BEGINS, _ENDS) or is_collective_name(names[r])
    ]
    is_op = plane.stat("run_id").present & plane.stat("hlo_op").present
    ends = plane.starts_ps(0) + plane.events.durations_ps
    events = np.flatnonzero(np.isin(rows, wanted) | is_op)
    events = events[np.argsort(ends[events], kind="stable")][-_MOST_OPS:]
    found = []
    for event in events.tolist():
        name, stats = plane.event_name(event), plane.stats_of(event)
        if name in (_BEGINS, _ENDS):
            flow = stats.get("_p" if name == _BEGINS else "_c")
            found.append(_Op(int(ends[event]), name, str(stats.get("name", "")), _number(flow)))
        else:
            module, run = str(stats.get("hlo_module", "")), _number(stats.get("run_id"))
            found.append(_Op(int(ends[event]), name, module, run))
    return found


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _named(name: str, module: str) -> str:
    return f"{name} of {module}" if module else name


def _entered_of_xla(ops: list[_Op]) -> str:
    """The collective after what the last run of a program has done, by its earlier runs."""
    runs: dict[tuple[str, int | None], list[str]] = {}
    for op in ops:
        if op.module and op.run is not None:
            runs.setdefault((op.module, op.run), []).append(op.name)
    if not runs:
        return ""
    (module, _), last = list(runs.items())[-1]
    after: dict[str, str] = {}
    for (other, _), names in list(runs.items())[:-1]:
        if other == module:
            after.update(pairwise(names))
    following = after.get(last[-1], "")
    if not following or following in last or not is_collective_name(following):
        return ""
    return _named(following, module)
