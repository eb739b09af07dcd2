"""Kernels, copies and fills inside CUDA graphs: their launch, their node, and their annotation.

CUPTI's collector writes on each of them its ``cuda_graph_id`` and ``cuda_graph_node_id``, and the
annotation of the call that created the node. If no such call was recorded, because the graph is
older than the capture, the annotation is that of the launch, or there is none. It is that of the
launch if

* the host's call has it, too (only AMD's collector writes annotations there);
* all nodes of the launch have it, and there are several;
* its instruction is a ``call``, which runs others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.distinct import distinct_rows

WHOLE_GRAPH: Final = "cuda_graph_exec_id"
"""Stat of a record of a whole graph, which stands in place of its kernels."""

_GRAPH, _NODE, _CORRELATION = "cuda_graph_id", "cuda_graph_node_id", "correlation_id"
_LAUNCH = "GraphLaunch"
"""Part of the names of calls that launch a graph: ``cuGraphLaunch``, ``hipGraphLaunch``."""
_NO_OP = ("", "XlaModule:")


class GraphKernels(NamedTuple):
    """Events inside graphs, launch by launch, in order of time.

    Attributes:
        events: Their places in the timeline, shape (n,).
        launches: Number of the launch, ascending, shape (n,).
        calls: The host's call that launched the graph, -1 if unknown, shape (n,).
        nodes: Number of the node with the name of its kernel, -1 without an id, shape (n,).
        labels: Number of the annotation, shape (n,).
        is_labelled: Whether this annotation is the event's own, shape (n,).
        has_op: Whether it names any instruction or op, that of the launch or its own, shape (n,).
    """

    events: Int64Array
    launches: Int64Array
    calls: Int64Array
    nodes: Int64Array
    labels: Int64Array
    is_labelled: BoolArray
    has_op: BoolArray


def in_graphs(timeline: Timeline) -> Int64Array:
    """Events inside graphs on streams of devices, ascending; records of whole graphs are none."""
    graph = timeline.stat(_GRAPH)
    inside = graph.only(graph.is_integer() & (graph.values != 0)).events.astype(np.int64)
    if not len(inside):
        return inside
    on_stream = timeline.of_lines(lambda line: line.is_device and not line.is_derived)
    inside = inside[on_stream[inside]]
    return inside[~timeline.stat(WHOLE_GRAPH).has(inside)]


def graph_kernels(timeline: Timeline, is_call: Callable[[HloKey], bool]) -> GraphKernels:
    """The events inside graphs of a host's devices.

    Args:
        timeline: The events.
        is_call: Whether an instruction is a call.
    """
    events = in_graphs(timeline)
    if not len(events):
        nothing, none = no_rows(), np.zeros(0, np.bool_)
        return GraphKernels(nothing, nothing, nothing, nothing, nothing, none, none)
    planes = np.array([line.plane for line in timeline.lines], np.int64)
    plane = planes[timeline.lines_of(events)]
    graph, correlation = (timeline.stat(name).at(events) for name in (_GRAPH, _CORRELATION))
    launches = distinct_rows([plane, graph, correlation]).place
    order = np.lexsort((timeline.starts_ps[events], launches))
    events, launches, plane, graph, correlation = (
        column[order] for column in (events, launches, plane, graph, correlation)
    )
    node = timeline.stat(_NODE)
    nodes = distinct_rows([plane, graph, node.at(events), timeline.kinds[events]]).place
    calls = _calls(timeline, correlation)
    nodes = np.where(node.has(events), nodes, -1)
    labels, of_calls, has_op = _labels(timeline, events, calls)
    is_own = has_op & (labels != of_calls) & ~_is_shared(launches, nodes, labels)
    own = np.flatnonzero(is_own)
    keys, place = hlo_keys(timeline, events[own])
    calls_others = np.array([key is not None and is_call(key) for key in keys] or [False])
    is_own[own] = ~calls_others[place]
    return GraphKernels(events, launches, calls, nodes, labels, is_own, has_op)


def _is_shared(launches: Int64Array, nodes: Int64Array, labels: Int64Array) -> BoolArray:
    """Whether all nodes of an event's launch have its annotation, and there are several."""
    first = np.flatnonzero(np.diff(launches, prepend=-1))
    is_one = np.minimum.reduceat(labels, first) == np.maximum.reduceat(labels, first)
    is_one &= np.minimum.reduceat(nodes, first) != np.maximum.reduceat(nodes, first)
    is_shared: BoolArray = is_one[launches]
    return is_shared


def _labels(
    timeline: Timeline, events: Int64Array, calls: Int64Array
) -> tuple[Int64Array, Int64Array, BoolArray]:
    """Numbers of the annotations of events and of their calls, and whether those name an op."""
    texts = [timeline.stat(name) for name in ("hlo_op", "tf_op", "hlo_module")]
    both = np.concatenate([events, np.maximum(calls, 0)])
    columns = [stat.texts_at(both) for stat in texts]
    columns.append(timeline.stat("program_id").at(both, -1))
    labels = distinct_rows(columns)
    of_events, of_calls = np.split(labels.place, 2)
    tf_op = texts[1].texts
    names_op = np.array([n >= 0 and tf_op[n] not in _NO_OP for n in labels.values[:, 1].tolist()])
    names_op |= labels.values[:, 0] >= 0
    return of_events, np.where(calls >= 0, of_calls, -1), names_op[of_events]


def _calls(timeline: Timeline, correlation: Int64Array) -> Int64Array:
    """The host's call that launched the graph of each correlation id, -1 if unknown."""
    stat = timeline.stat(_CORRELATION)
    is_call = timeline.named(lambda name: _LAUNCH in name) & timeline.on_host
    stat = stat.only(is_call[stat.events])
    if not len(stat):
        return np.full(len(correlation), -1)
    order = np.argsort(stat.values, kind="stable")
    ids, calls = stat.values[order], stat.events[order].astype(np.int64)
    at = np.minimum(np.searchsorted(ids, correlation), len(ids) - 1)
    return np.where(ids[at] == correlation, calls[at], -1)
