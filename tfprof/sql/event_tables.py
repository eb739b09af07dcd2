"""Tables of events beyond name and time: their place, and their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray, StatKind
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.arrow import ArrowColumn, Coded, Numbers
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by

_SHAPES = ("shape", "shapes", "shape_with_layout", "tensor_shapes")
_DETAILS = ("kernel_details", "memcpy_details", "memset_details", "Memset_details")
_SIZES = ("bytes_accessed", "requested_bytes")
_SIZE_IN_DETAILS = re.compile(r"(?:^|\s)(?:size|num_bytes):(\d{1,18})(?=\s|$)")


def recorded_parents(host: Host) -> Int64Array:
    """The recorded event around each event on its line, -1 without one, shape (n,).

    Regions of thread pools are derived from two events each; they are skipped.
    """
    parents = host.forest().nesting.parents.astype(np.int64)
    added = host.timeline.sources.added
    if len(added):
        is_added = np.zeros(len(parents), np.bool_)
        is_added[added] = True
        while True:  # each time twice as far
            waiting = np.flatnonzero((parents >= 0) & is_added[parents])
            if not len(waiting):
                break
            parents[waiting] = parents[parents[waiting]]
    return parents


def self_times_ps(host: Host) -> Int64Array:
    """Durations without the recorded events inside, shape (n,)."""
    timeline, nesting = host.timeline, host.forest().nesting
    durations, added = timeline.durations_ps, timeline.sources.added
    if not len(added):
        return durations - nesting.sums_of_children(durations)
    parents = recorded_parents(host)
    parents[added] = -1
    inner = np.flatnonzero(parents >= 0)
    inside = sums_by(parents[inner], durations[inner], len(durations))
    inside[added] = nesting.sums_of_children(durations)[added]
    return durations - inside


def is_derived(timeline: Timeline) -> BoolArray:
    """Whether each event is derived: on a derived line, or as a region, shape (n,)."""
    derived = timeline.of_lines(lambda line: line.is_derived)
    derived[timeline.sources.added] = True
    return derived


def depths(parents: Int64Array) -> Int64Array:
    """How many events are around each, shape (n,)."""
    above = parents.copy()
    counts = (above >= 0).astype(np.int64)
    while True:  # each time twice as far
        waiting = np.flatnonzero(above >= 0)
        if not len(waiting):
            return counts
        counts[waiting] += counts[above[waiting]]
        above[waiting] = above[above[waiting]]


def detail_chunks(runs: Sequence[tuple[str, Run]]) -> Iterator[Sequence[ArrowColumn]]:
    """Rows of the table ``event_details``, host by host."""
    for name, run in runs:
        for host in run.hosts:
            if len(host.timeline):
                yield _details_of(name, host)


def _details_of(run: str, host: Host) -> list[ArrowColumn]:
    timeline, n_events = host.timeline, len(host.timeline)
    same: IntArray = np.zeros(n_events, np.int8)
    parents = recorded_parents(host)
    correlation = timeline.stat("correlation_id", keep=False)
    correlation = correlation.only(correlation.is_integer())
    details = _first_text(timeline, _DETAILS)
    return [
        Coded(same, [run]),
        Coded(same, [host.name]),
        Numbers(np.arange(n_events)),
        Numbers(parents, parents >= 0),
        Numbers(depths(parents)),
        Numbers(correlation.dense(n_events), correlation.mask(n_events)),
        _first_text(timeline, _SHAPES),
        _sizes(timeline, details),
        details,
    ]


def _first_text(timeline: Timeline, stats: Sequence[str]) -> Coded:
    """The text of the first stat in a list that each event has."""
    places = np.full(len(timeline), -1, np.int32)
    texts: list[str] = []
    for name in stats:
        ids = timeline.stat(name, keep=False)
        own = ids.text_ids(len(timeline))
        new = (places < 0) & (own >= 0)
        places[new] = own[new] + len(texts)
        texts += ids.texts
    return Coded(places, texts)


def _sizes(timeline: Timeline, details: Coded) -> Numbers:
    """Bytes that each event copied or set, accessed, allocated or freed."""
    found = [_SIZE_IN_DETAILS.search(text) for text in details.texts]
    of_text = np.array([-1 if one is None else int(one[1]) for one in [*found, None]], np.int64)
    sizes = of_text[details.places]  # -1, without details, is the last
    for name in _SIZES:
        stat = timeline.stat(name, keep=False)
        own = stat.dense(len(timeline), -1)
        sizes = np.where(sizes < 0, own, sizes)
    return Numbers(sizes, sizes >= 0)


def argument_chunks(runs: Sequence[tuple[str, Run]]) -> Iterator[Sequence[ArrowColumn]]:
    """Rows of the table ``event_arguments``, stat by stat."""
    for run_name, run in runs:
        for host in run.hosts:
            recorded = {name for plane in host.space.planes for name in plane.stat_names}
            for name in sorted(recorded.union(host.timeline.given_stats)):
                stat = host.timeline.stat(name, keep=False)
                for kind in np.unique(stat.kinds).tolist():
                    yield _arguments_of(run_name, host.name, name, stat.only(stat.kinds == kind))


def _arguments_of(run: str, host: str, name: str, stat: SparseStat) -> list[ArrowColumn]:
    """Those that are of one kind."""
    same: IntArray = np.zeros(len(stat), np.int8)
    distinct, at = np.unique(stat.values, return_inverse=True)
    kind = int(stat.kinds[0])
    return [
        Coded(same, [run]),
        Coded(same, [host]),
        Numbers(stat.events.astype(np.int64)),
        Coded(same, [name]),
        Coded(at.astype(np.int32), [_written(kind, v, stat.texts) for v in distinct.tolist()]),
        Numbers(stat.floats(), ~stat.is_text()),
    ]


def _written(kind: int, value: int, texts: Sequence[str]) -> str:
    if kind >= StatKind.STR:
        return texts[value]
    if kind == StatKind.DOUBLE:
        return repr(float(np.int64(value).view(np.float64)))
    return str(value % (1 << 64) if kind == StatKind.UINT64 else value)
