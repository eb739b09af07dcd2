"""The program of a profile, whose nodes are its ops, and its costs with recorded control flow."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire import messages as pb
from tfprof.graphs.flops.registry import all_formulas
from tfprof.graphs.interpreter.analysis import Analysis, Outcome, Status
from tfprof.graphs.interpreter.engine import Engine, Settings
from tfprof.graphs.interpreter.phases import Phase, phase_of
from tfprof.graphs.model.node_table import Kind, NodeTable, RowNames
from tfprof.graphs.model.program import GIVEN_FLOPS, Program
from tfprof.graphs.model.run_counts import scaled
from tfprof.graphs.model.seen_program import ObservedControlFlow
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.read.kinds import KindTable
from tfprof.graphs.read.library import Library
from tfprof.graphs.read.program import program_of
from tfprof.profiles.model.ops import GraphNodes, OpTable, SavedNodes, in_64_bits
from tfprof.profiles.model.profile import Profile


def program_of_ops(
    ops: OpTable, given_flops: Mapping[int, int] | None = None, *, keep_names: bool = True
) -> Program:
    """Make one program of the graphs of a profile.

    Shapes are those of the table, which runs may have completed. Ops seen only at run time have
    the type of their kernel, if the run names it, and no attributes.

    Args:
        ops: The op table.
        given_flops: Known float operations, by row.
        keep_names: Keep the attributes that name variables; functions that differ only in names
            then do not share a body.
    """
    graphs = {id(part.graph): part for part in ops.definitions if isinstance(part, GraphNodes)}
    library = Library([(part.graph, part.attrs) for part in graphs.values()], keep_names=keep_names)
    kinds = library.kinds
    kind_ids = np.full(len(ops), -1, np.int64)
    of_graph = {key: library.add_graph(part.attrs) for key, part in graphs.items()}
    for part in ops.definitions:
        if isinstance(part, GraphNodes):
            kind_ids[part.rows] = of_graph[id(part.graph)][part.places]
        else:
            _add_saved(part, ops, kinds, kind_ids)
    _add_kernels(ops, kinds, kind_ids)
    if given_flops:
        _add_flops(given_flops, kinds, kind_ids)
    nodes = NodeTable(
        RowNames(ops.names.values, ops.name_ids.array),
        kinds,
        kind_ids,
        library.shape_lists.values,
        library.shape_list_map(ops.shapes)[ops.output_shapes_ids.array],
        ops.input_offsets(),
        ops.input_rows(),
        ops.input_ports,
    )
    return program_of(nodes, library)


def _add_saved(part: SavedNodes, ops: OpTable, kinds: KindTable, kind_ids: Int64Array) -> None:
    """Kinds of the rows of a saved profile, without ops seen only at run time."""
    bounds = zip(part.rows.tolist(), part.start.tolist(), part.end.tolist(), strict=True)
    for row, start, end in bounds:
        if ops.label_op_ids.array[row] < 0:
            node = pb.ProfileNodeSlices.FromString(part.data[start:end])
            kind_ids[row] = kinds.of_entries(node.op, node.attrs[:])


def _add_kernels(ops: OpTable, kinds: KindTable, kind_ids: Int64Array) -> None:
    """Kinds of the ops seen only at run time."""
    rows = np.flatnonzero(kind_ids < 0)
    labels, places = np.unique(ops.label_op_ids.array[rows], return_inverse=True)
    types = ["" if label < 0 else ops.strings[label] for label in labels.tolist()]
    numbers = np.array([kinds.append(Kind(op_type, {}, ())) for op_type in types], np.int64)
    kind_ids[rows] = numbers[places.reshape(-1)]


def _add_flops(given_flops: Mapping[int, int], kinds: KindTable, kind_ids: Int64Array) -> None:
    """Give rows with known float operations kinds that hold them."""
    numbers: dict[tuple[int, int], int] = {}
    for row, flops in given_flops.items():
        key = (int(kind_ids[row]), flops)
        if key not in numbers:
            kind = kinds[key[0]]
            attrs = {**kind.attrs, GIVEN_FLOPS: flops}
            numbers[key] = kinds.append(
                Kind(kind.op, attrs, kind.output_types, stateful=kind.stateful)
            )
        kind_ids[row] = numbers[key]


_LOWERED = re.compile(
    r"(?P<node>.+)/(?P<part>enter|next_iteration|LoopCond|then|else|branch(?P<number>\d+))/_\d+(/|$)"
)
"""Names of the ops that a ``While``, ``If`` or ``Case`` becomes when the graph is optimized
(``lower_while_op.cc``, ``lower_if_op.cc``, ``lower_case_op.cc``)."""

_ROLES = {"then": "then_branch", "else": "else_branch"}


class OpFlops(NamedTuple):
    """The cost of each op of a profile.

    Attributes:
        flops: Float operations of one run of an op, with the functions that it calls; 0 if there
            are none or they are unknown, shape (n,).
        runs: How often one run of the program runs each op with float operations: 0 for those of
            initializers, 1 for ops without, shape (n,).
        n_incomplete: Number of ops whose float operations depend on an unknown size.
        without_formula: Number of ops without a formula, by op type.
        has_control_flow: Whether the counts depend on recorded runs.
    """

    flops: Int64Array
    runs: Int64Array
    n_incomplete: int
    without_formula: dict[str, int]
    has_control_flow: bool


def count_profile_flops(program: Program, profile: Profile) -> OpFlops:
    """Count the float operations of every op.

    Args:
        program: The program, whose nodes are the rows of the profile's ops.
        profile: The profile.
    """
    formulas, free = all_formulas()
    observed = observed_control_flow(profile)
    settings = Settings(
        trip_counts=observed.trips,
        branch_runs=observed.branches,
        node_runs=observed.nodes,
        formulas=formulas,
        free=free,
    )
    try:
        analysis = Engine(program, settings).run()
    except OverflowError:  # too many unknown sizes for one formula
        n = len(profile.ops)
        return OpFlops(np.zeros(n, np.int64), np.ones(n, np.int64), n, {}, has_control_flow=True)
    counted = _by_row(analysis)
    counted.runs[[*_initializers(profile.ops, counted.flops)]] = 0
    return counted


def _initializers(ops: OpTable, flops: Int64Array) -> Iterator[int]:
    """Rows of the ops with float operations that initialize variables."""
    op_ids = ops.op_ids.array
    for row in np.flatnonzero(flops).tolist():
        phase = phase_of(ops.name(row), ops.strings[int(op_ids[row])], Phase.FORWARD)
        if phase is Phase.INITIALIZATION:
            yield row


def _by_row(analysis: Analysis) -> OpFlops:
    """Counts of all rows, from the outcomes that rows share."""
    shared = analysis.outcomes.column()
    distinct = [*analysis.outcomes.distinct, None]  # the last one is for number -1
    own = list(map(_count, distinct))
    flops = np.array([in_64_bits(count) if count else 0 for count in own], np.int64)[shared]
    is_incomplete = np.array([count is None for count in own], np.bool_)[shared]
    runs = np.ones(len(shared), np.int64)
    called: dict[int, Number] = {}
    for row, calls in analysis.calls.items():
        outcome = analysis.outcomes[row]
        if id(calls) not in called:  # many calls may share them
            called[id(calls)] = total(scaled(each.analysis.flops, each.times) for each in calls)
        count = called[id(calls)]
        is_known = outcome is not None and outcome.verdict.status is not Status.UNCOUNTED
        is_incomplete[row] = not is_known or not isinstance(count, int)
        flops[row] = in_64_bits(count) if is_known and isinstance(count, int) else 0
    for row, times in analysis.times.items():
        if not flops[row]:
            continue
        if isinstance(times, int):
            runs[row] = in_64_bits(times)
        else:
            is_incomplete[row], flops[row] = True, 0
    without_formula = _without_formula(analysis, distinct, shared)
    has_control_flow = bool(analysis.calls or analysis.times)
    return OpFlops(flops, runs, int(is_incomplete.sum()), without_formula, has_control_flow)


def _count(outcome: Outcome | None) -> int | None:
    """Float operations of an op without the functions that it calls; None if unknown."""
    if outcome is None or not outcome.op:  # seen only at run time
        return 0
    verdict = outcome.verdict
    if verdict.status is Status.UNCOUNTED:
        return None if verdict.formula is not None else 0
    flops = verdict.cost.flops
    return flops if isinstance(flops, int) else None


def _without_formula(
    analysis: Analysis, outcomes: Sequence[Outcome | None], shared: Int64Array
) -> dict[str, int]:
    """Number of ops without a formula, except calls, by op type."""
    is_call = np.zeros(len(shared), np.bool_)
    is_call[list(analysis.calls)] = True
    counts = np.bincount(shared[~is_call] % len(outcomes), minlength=len(outcomes)).tolist()
    counts_by_type: dict[str, int] = defaultdict(int)
    for outcome, count in zip(outcomes, counts, strict=True):
        if outcome is None or not outcome.op or not count:
            continue
        if outcome.verdict.status is Status.UNCOUNTED and outcome.verdict.formula is None:
            counts_by_type[outcome.op] += count
    return dict(counts_by_type)


class RunsByName(Mapping[str, int]):
    """How often each op ran, by name, without those that never ran.

    Args:
        ops: The ops.
        counts: How often each ran, shape (n,).
    """

    def __init__(self, ops: OpTable, counts: Int64Array) -> None:
        self._ops = ops
        self._counts = counts

    def __getitem__(self, name: str) -> int:
        row = self._ops.row(name)
        if not 0 <= row < len(self._counts) or not self._counts[row]:
            raise KeyError(name)
        return int(self._counts[row])

    def __iter__(self) -> Iterator[str]:
        return map(self._ops.name, np.flatnonzero(self._counts).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._counts))


def observed_control_flow(profile: Profile) -> ObservedControlFlow:
    """Control flow that the recorded ops show, with the ops that TensorFlow makes of a loop."""
    ops, steps = profile.ops, profile.steps
    counts = np.zeros(len(ops), np.int64)
    for records in steps.records.values():
        np.add.at(counts, records.rows, np.maximum(records.values[0], 0))
    loops: dict[str, dict[str, int]] = defaultdict(dict)
    branches: dict[str, dict[str, int]] = defaultdict(dict)
    rows = np.flatnonzero(counts)
    names = ops.names.values
    ran = [names[name_id] for name_id in ops.name_ids.array[rows].tolist()]
    is_part = np.array([op_type in _PARTS for op_type in ops.strings.values], np.bool_)
    of_loops = np.flatnonzero(is_part[ops.op_ids.array[rows]]).tolist()
    lowered = [place for place, name in enumerate(ran) if "/_" in name]
    for place in sorted({*of_loops, *lowered}):
        name, count = ran[place], int(counts[rows[place]])
        part = _PARTS.get(ops.strings[int(ops.op_ids.array[rows[place]])])
        owner = name.rpartition("/")[0]
        if part is None:
            match = _LOWERED.match(name)
            if match is None:
                continue
            owner, part = match["node"], _PARTS.get(match["part"])
            if part is None:
                role = _ROLES.get(match["part"], f"branch{match['number']}")
                branches[owner][role] = max(branches[owner].get(role, 0), count)
                continue
        loops[owner][part] = max(loops[owner].get(part, 0), count)
    trips = {
        loop: round(parts.get("repeats", 0) / parts["enters"])
        for loop, parts in loops.items()
        if "asks" in parts and "enters" in parts
    }
    return ObservedControlFlow(trips, dict(branches), RunsByName(ops, counts))


_PARTS = {
    "Enter": "enters", "NextIteration": "repeats", "LoopCond": "asks",
    "enter": "enters", "next_iteration": "repeats",
}  # fmt: skip
"""Parts of a loop by op type, and by their names in an optimized graph."""
