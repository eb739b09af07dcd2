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

from tfprof.captures.events.timeline.collective_names import is_collective_name
from tfprof.captures.read.xspace import read_xspace
from tfprof.errors import TfprofError

_BEGINS = "CollectiveOpV2Kernel::Run"
_ENDS = "CollectiveExecutor::ExecuteAsync::Done"
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
    run: int


def n_worked(data: bytes) -> int:
    """Number of events in a snapshot that show work: those of ops and calls."""
    try:
        space = read_xspace(data, threads=1)
    except TfprofError:
        return 0
    n_events = 0
    for plane in space.planes:
        for name, count in zip(*_counted(plane), strict=True):
            n_events += count if not name.startswith(_NOISE) else 0
    return n_events


def _counted(plane: object) -> tuple[list[str], list[int]]:
    import numpy as np

    from tfprof.captures.model.xspace import Plane

    assert isinstance(plane, Plane)
    rows, counts = np.unique(plane.metadata_rows, return_counts=True)
    names = [plane.event_metadata.names.all[row] for row in rows.tolist()]
    return names, counts.tolist()


def last_collectives(snapshots: Iterable[bytes]) -> Collectives:
    """The last collectives of consecutive snapshots of one process.

    Args:
        snapshots: XSpaces in order of time.
    """
    completed, begun, ops, offset = "", dict[int, str](), list[_Op](), 0
    for data in snapshots:
        try:
            space = read_xspace(data, threads=1)
        except TfprofError:
            continue
        latest = offset
        for plane in space.planes:
            if not len(plane.events):
                continue
            ends = plane.starts_ps(0) + plane.events.durations_ps + offset
            latest = max(latest, int(ends.max()) + 1)
            for event in ends.argsort(kind="stable").tolist():
                name = plane.event_name(event)
                if name == _BEGINS or name == _ENDS:
                    stats = plane.stats_of(event)
                    if name == _BEGINS:
                        begun[_number(stats.get("_p"))] = str(stats.get("name", "collective"))
                    else:
                        begun.pop(_number(stats.get("_c")), None)
                elif is_collective_name(name) or _may_be_op(plane, event):
                    stats = plane.stats_of(event)
                    module, run = str(stats.get("hlo_module", "")), _number(stats.get("run_id"))
                    ops.append(_Op(int(ends[event]), name, module, run))
        offset = latest
    ops.sort(key=lambda op: op.end_ps)
    for op in ops:
        if is_collective_name(op.name):
            completed = _named(op.name, op.module)
    entered = list(begun.values())[-1] if begun else _entered_of_xla(ops)
    return Collectives(completed, entered)


def _may_be_op(plane: object, event: int) -> bool:
    from tfprof.captures.model.xspace import Plane

    assert isinstance(plane, Plane)
    return bool(plane.stat("run_id").present[event]) and bool(plane.stat("hlo_op").present[event])


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1


def _named(name: str, module: str) -> str:
    return f"{name} of {module}" if module else name


def _entered_of_xla(ops: list[_Op]) -> str:
    """The collective after what the last run of a program has done, by its earlier runs."""
    runs: dict[tuple[str, int], list[str]] = {}
    for op in ops:
        if op.module and op.run >= 0:
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
