"""Gives kernels inside CUDA graphs the instruction that they ran, where the profiler wrote none.

XLA puts runs of instructions into command buffers: CUDA graphs, launched by one call. The
instruction of a kernel in one is found, best first,

1. by its annotation, if that is its own and not that of the launch;
2. by its node: nodes keep their ids over all launches of a graph, so that one annotated launch
   names the kernels of all others;
3. by names and order in the program (``kernel_order``).

All readers of a timeline take the instruction of an event from its stats. So this replaces the
stats of these kernels, and adds ``op_found_by``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tfprof.captures.events.timeline.graph_kernels import GraphKernels, graph_kernels, in_graphs
from tfprof.captures.events.timeline.graph_programs import OfKernels, by_order
from tfprof.captures.events.timeline.programs import HloKey, KnownPrograms
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.stat_edits import copied, with_ids, with_texts, without
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.read.hlo import HloProgram
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.distinct import distinct_rows

FOUND_BY: Final = "op_found_by"
"""Stat: how the op of an event was found."""
BY_ANNOTATION: Final = "annotation"
BY_NODE: Final = "graph node"
BY_LAUNCH: Final = "launch"
"""Only the instruction or op that launched the whole graph is known."""
NOT_FOUND: Final = "none"

_OP, _MODULE, _PROGRAM, _TF_OP = "hlo_op", "hlo_module", "program_id", "tf_op"
_DETAILS = (
    "name", "prefix", "unique_hlo_op_id", "equation", "op_type", "op_name", "source_file",
    "source_line", "shape", "replica_groups", "is_pipelined", "is_spmd_generated",
    "collective_group_key", "combiner_key", "scheduling_group_id", "stream_annotation",
)  # fmt: skip
"""Further stats that an annotation gives about an instruction."""


def with_graph_ops(timeline: Timeline, programs: Callable[[], Sequence[HloProgram]]) -> Timeline:
    """The timeline in which kernels inside graphs have the instruction found for them.

    Args:
        timeline: The events as recorded.
        programs: Returns the programs of the capture.
    """
    if not len(in_graphs(timeline)):
        return timeline
    known = KnownPrograms(programs())

    def is_call(key: HloKey) -> bool:
        found = known.instruction(key)
        return found is not None and found.instruction.opcode == "call"

    kernels = graph_kernels(timeline, is_call)
    sources = _by_node(kernels)
    found = by_order(timeline, kernels, sources, programs())
    stats = _stats(timeline, kernels, sources, found)
    kept = timeline.space.room.kept
    return replace(
        timeline, given_stats={name: stat.map_columns(kept) for name, stat in stats.items()}
    )


def _by_node(kernels: GraphKernels) -> Int64Array:
    """The kernel whose annotation each takes: itself, one of its node, or -1.

    Nodes whose annotations differ, as in a graph that changed, name none.
    """
    sources = np.where(kernels.is_labelled, np.arange(len(kernels.events)), -1)
    rows = np.flatnonzero(kernels.is_labelled & (kernels.nodes >= 0))
    if not len(rows):
        return sources
    pairs = distinct_rows([kernels.nodes[rows], kernels.labels[rows]])
    nodes, n_labels = np.unique(pairs.values[:, 0], return_counts=True)
    source_of = np.full(int(kernels.nodes.max()) + 1, -1)
    source_of[pairs.values[:, 0]] = rows[pairs.first]
    source_of[nodes[n_labels > 1]] = -1
    waiting = (sources < 0) & (kernels.nodes >= 0)
    sources[waiting] = source_of[kernels.nodes[waiting]]
    return sources


def _stats(
    timeline: Timeline,
    kernels: GraphKernels,
    sources: Int64Array,
    found: OfKernels,
) -> dict[str, SparseStat]:
    """The stats of annotations, with those found for kernels in graphs."""
    rows = np.arange(len(sources))
    by_node = rows[(sources >= 0) & (sources != rows)]
    targets, labelled = kernels.events[by_node], kernels.events[sources[by_node]]
    made = np.flatnonzero(found.which >= 0)
    named, which = kernels.events[made], found.which[made]

    def edited(name: str, dropped: Int64Array) -> SparseStat:
        stat = without(timeline.stat(name), np.concatenate([targets, dropped]))
        return copied(stat, targets, labelled)

    replaced = (_OP, _MODULE, _PROGRAM, *(one for one in _DETAILS if len(timeline.stat(one))))
    stats = {name: edited(name, named) for name in replaced}
    stats[_TF_OP] = edited(_TF_OP, named[:0])  # that of the launch is right, if coarse
    ops = [one.found.instruction.name for one in found.distinct]
    modules = [one.program.name for one in found.distinct]
    ids = [one.program.id for one in found.distinct]
    stats[_OP] = with_texts(stats[_OP], named, ops, which)
    stats[_MODULE] = with_texts(stats[_MODULE], named, modules, which)
    stats[_PROGRAM] = with_ids(stats[_PROGRAM], named, ids, which)
    before = without(timeline.stat(FOUND_BY), kernels.events)
    ways = [BY_ANNOTATION, BY_NODE, BY_LAUNCH, NOT_FOUND]
    ways += [one.found.how for one in found.distinct]
    way = np.where(sources == rows, 0, 1)
    way[sources < 0] = np.where(kernels.has_op, 2, 3)[sources < 0]
    way[made] = 4 + which
    stats[FOUND_BY] = with_texts(before, kernels.events, ways, way)
    return stats
