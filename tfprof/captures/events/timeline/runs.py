"""Finds the call that launched each run of a compiled program on the CPU's devices.

JAX hands a compiled program to a queue, one for each device, and returns. The run may begin long
after the call, on any thread of a pool. Three clues tie the two together, the surest first:

* ``run_id``: with several devices, the call and the ops of the run have the same one.
* A chain: if the queue was empty, the thread pool's region in which the run begins names the call
  (``ThreadpoolListener::Record`` inside the call leads to it). Other runs in that region may
  belong to later calls, so a chain holds only for the first run in it.
* Order: the runs of a device are in the order of the calls. One chain pairs a run with its call,
  and so fixes all other pairs; without a chain, the last run belongs to the last call.

Measured on JAX 0.10 (``docs/adr/0035-one-account-of-time.md``): chains alone assign 18 of 130 runs
to the wrong call, order fixed by chains assigns all to the right one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.links import Links
from tfprof.captures.events.timeline.names import PJIT_CALL
from tfprof.captures.events.timeline.nesting import Nesting
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.threadpool import REGION
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.jax_names import module_key
from tfprof.core.columns.columns import BoolArray, Int64Array, IntArray
from tfprof.core.columns.distinct import distinct_rows

_CALL_OF_ONE = re.compile(
    r"(CommonPjRtLoadedExecutable|TfrtCpuExecutable|PjRtCpuExecutable)"
    r"::ExecuteHelper(OnSingleDevice)?"
)
"""A call for one device; it has no ``run_id``."""

_WAIT = "ThunkExecutor::Execute"
"""Each run has one, also a run without ops."""

_NO_CALL = -1


class Runs(NamedTuple):
    """Runs of compiled programs on the devices of a CPU.

    Attributes:
        of_event: The run of each event, -1 without one, shape (n events,).
        calls: The event that launched each run, -1 if it is not in the capture, shape (n runs,).
        launches: The events that launch runs, also those whose run is not in the capture.
    """

    of_event: IntArray
    calls: Int64Array
    launches: Int64Array


def compiled_runs(timeline: Timeline, nesting: Nesting, links: Links) -> Runs:
    """The runs of compiled programs on a host's threads, and the calls that launched them."""
    of_event = np.full(len(timeline), _NO_CALL, np.int32)
    run_ids, devices = _with_ids(timeline)
    on_device = devices >= 0
    events, others = run_ids.events[on_device].astype(np.int64), run_ids.only(~on_device)
    single = np.flatnonzero(_calls_of_one(timeline))
    launches = np.union1d(single, others.events)
    if not len(events):
        return Runs(of_event, np.zeros(0, np.int64), launches)
    rows = distinct_rows([devices[on_device], run_ids.held[on_device]])
    of_event[events] = rows.place
    starts = np.full(len(rows.first), np.iinfo(np.int64).max)
    np.minimum.at(starts, rows.place, timeline.starts_ps[events])
    by_id = dict(zip(others.held[::-1].tolist(), others.events[::-1].tolist(), strict=True))
    of_run = [by_id.get(run_id, _NO_CALL) for run_id in rows.values[:, 1].tolist()]
    calls = np.array(of_run, np.int64)
    single = single[np.argsort(timeline.starts_ps[single], kind="stable")]
    open_runs = np.flatnonzero(calls < 0)
    if not len(single) or not len(open_runs):
        return Runs(of_event, calls, launches)
    # A call for one device does not state it, but programs with one queue have one device.
    in_order = open_runs[np.argsort(starts[open_runs], kind="stable")]
    of_open = np.flatnonzero((calls < 0)[rows.place])
    modules = _modules(timeline, events[of_open], rows.place[of_open], len(calls))
    called = _called(timeline, nesting, single)
    chained = _chained(timeline, nesting, links, single, of_event)
    calls[in_order] = _in_order(
        timeline.starts_ps[single], called, starts[in_order],
        [module_key(modules[run]) for run in in_order.tolist()],
        [chained.get(run, _NO_CALL) for run in in_order.tolist()],
        single,
    )  # fmt: skip
    return Runs(of_event, calls, launches)


def _with_ids(timeline: Timeline) -> tuple[SparseStat, Int64Array]:
    """The run ids on threads, and the device of those of ops, -1 for those of calls."""
    run_ids = timeline.stat("run_id")
    run_ids = run_ids.only(run_ids.is_integer() & timeline.on_threads[run_ids.events])
    if not len(run_ids):
        return run_ids, np.zeros(0, np.int64)
    devices = timeline.stat("device_ordinal").at(run_ids.events, missing=_NO_CALL)
    is_part = timeline.having("hlo_op") | timeline.named(lambda name: name.startswith(_WAIT))
    devices[~is_part[run_ids.events]] = _NO_CALL
    return run_ids, devices


def _calls_of_one(timeline: Timeline) -> BoolArray:
    is_call: BoolArray = timeline.named(lambda name: _CALL_OF_ONE.fullmatch(name) is not None)
    return is_call & timeline.on_threads


def ended_runs(timeline: Timeline, work: BoolArray) -> BoolArray:
    """Whether each event proves that a run has ended, not just begun, shape (n events,).

    Args:
        timeline: The events.
        work: Whether each event belongs to a run, shape (n events,); all of these count if none
            waits for the end.
    """
    waits: BoolArray = work & timeline.named(lambda name: name.startswith(_WAIT))
    return waits if waits.any() else work


def launched_only(timeline: Timeline) -> bool:
    """Whether calls launched runs on a CPU's devices, and none ran before the capture ended."""
    ran = timeline.having("hlo_op") | timeline.on_device
    return bool(_calls_of_one(timeline).any()) and not ran.any()


def _in_order(
    launched_ps: Int64Array,
    called: list[str],
    begun_ps: Int64Array,
    modules: list[str],
    chained: list[int],
    calls: Int64Array,
) -> Int64Array:
    """The call of each run, both in order of time.

    Pairing starts at a run whose call a chain names, or else at the last run and call, and goes on
    one by one in both directions. A call of another program, or one after the run began, is
    skipped: it launched none of the remaining runs.
    """
    found = np.full(len(begun_ps), _NO_CALL, np.int64)

    def fits(run: int, call: int) -> bool:
        same = not called[call] or not modules[run] or modules[run] == called[call]
        return same and launched_ps[call] <= begun_ps[run]

    anchors = [(run, call) for run, call in enumerate(chained) if call >= 0 and fits(run, call)]
    # Anchors must be in order, too; one that is not (a later run in a region) is dropped.
    kept: list[tuple[int, int]] = []
    for run, call in anchors:
        if not kept or call > kept[-1][1]:
            kept.append((run, call))
    last_call = len(calls)
    bounds = [*kept, (len(begun_ps), last_call)]
    below = (-1, -1)
    for above in bounds:
        if above[0] < len(begun_ps):
            found[above[0]] = calls[above[1]]
        _between(found, calls, fits, below, above, from_below=below[0] >= 0)
        below = above
    return found


def _between(
    found: Int64Array,
    calls: Int64Array,
    fits: object,
    below: tuple[int, int],
    above: tuple[int, int],
    *,
    from_below: bool,
) -> None:
    """Pair the runs between two anchors with the calls between them."""
    assert callable(fits)
    if from_below:
        call = below[1] + 1
        for run in range(below[0] + 1, above[0]):
            at = call
            while at < above[1] and not fits(run, at):
                at += 1
            if at < above[1]:
                found[run], call = calls[at], at + 1
        return
    call = above[1] - 1
    for run in range(above[0] - 1, below[0], -1):
        at = call
        while at > below[1] and not fits(run, at):
            at -= 1
        if at > below[1]:
            found[run], call = calls[at], at - 1


def _modules(timeline: Timeline, events: Int64Array, row: Int64Array, n_runs: int) -> list[str]:
    """The module of each run; empty if its ops do not state it."""
    stat = timeline.stat("hlo_module")
    texts = stat.texts_at(events)
    told = np.flatnonzero(np.array([*map(bool, stat.texts), False])[texts])
    of_run = np.full(n_runs, -1, np.int64)
    of_run[row[told][::-1]] = texts[told][::-1]  # of several texts the first one wins
    return [stat.texts[text] if text >= 0 else "" for text in of_run.tolist()]


def _called(timeline: Timeline, nesting: Nesting, calls: Int64Array) -> list[str]:
    """The module of the function that Python called around each call; empty if not recorded."""
    matches = [PJIT_CALL.fullmatch(name) for name in timeline.names]
    is_named = timeline.kind_mask(np.array([match is not None for match in matches], np.bool_))
    around = nesting.nearest_of(calls, np.where(is_named, timeline.kinds, _NO_CALL))
    functions = [module_key(f"jit_{match[1]}") if match else "" for match in matches]
    return [functions[kind] if kind >= 0 else "" for kind in around.tolist()]


def _chained(
    timeline: Timeline, nesting: Nesting, links: Links, calls: Int64Array, of_event: IntArray
) -> dict[int, int]:
    """The place of the call of some runs: the first ones in regions that a call leads to."""
    is_region: BoolArray = timeline.named(REGION.__eq__)
    kept = is_region[links.targets]
    sources, regions = links.sources[kept], links.targets[kept]
    place_of = np.full(len(timeline), _NO_CALL, np.int32)
    place_of[calls] = np.arange(len(calls))
    around = nesting.nearest(place_of)[sources]
    around, regions = around[around >= 0], regions[around >= 0]
    with_run = np.append(np.flatnonzero(of_event >= 0), len(timeline))
    first = with_run[np.searchsorted(with_run, regions)]
    leads = np.flatnonzero(first < nesting.ends[regions])[::-1]
    # Of several calls the first one wins, because it is written last.
    return dict(zip(of_event[first[leads]].tolist(), around[leads].tolist(), strict=True))
