"""Data flow between the parts of a drawing, each part being some ops, and its sizes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import Shape, is_fully_defined
from tfprof.core.text.drawing.plan import Edge
from tfprof.core.text.units import human_count, human_memory
from tfprof.profiles.model.profile import Profile

UNKNOWN: Final = -1

_LARGEST: Final = 1 << 62
"""More elements than any tensor has; hostile shapes have more."""

_PORTS: Final = 1 << 20
"""More outputs than any op has."""


@dataclass(frozen=True, slots=True)
class TensorSizes:
    """Sizes of outputs.

    Attributes:
        keys: Op row × ``_PORTS`` + output index, ascending, shape (n,).
        values: Size of each, shape (n,).
    """

    keys: Int64Array
    values: Int64Array

    def find(self, rows: Int64Array, ports: Int64Array) -> Int64Array:
        """Size of each output, ``UNKNOWN`` where there is none."""
        if not len(self.keys):
            return np.full(len(rows), UNKNOWN, np.int64)
        wanted = rows * _PORTS + np.minimum(ports, _PORTS - 1)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[places] == wanted, self.values[places], UNKNOWN)

    def largest_of(self, rows: Int64Array) -> int:
        """The largest output of some ops, 0 without any."""
        chosen = self.values[np.isin(self.keys // _PORTS, rows)]
        return int(chosen.max(initial=0))


def recorded_bytes(profile: Profile, step: int) -> TensorSizes:
    """Bytes of the outputs as the run recorded them, all executions of a step together.

    A negative step averages each output over the steps that recorded it.
    """
    details = profile.steps.details
    chosen = [details[step]] if step in details else list(details.values()) if step < 0 else []
    keys: list[Int64Array] = []
    sums: list[Int64Array] = []
    for detail in chosen:
        outputs = detail.outputs
        slots = np.clip(outputs.slots, 0, _PORTS - 1)
        step_keys, place = np.unique(
            detail.memory.rows[outputs.uses] * _PORTS + slots, return_inverse=True
        )
        total = np.zeros(len(step_keys), np.int64)
        np.add.at(total, place, np.maximum(outputs.sizes, 0))
        keys.append(step_keys)
        sums.append(total)
    if not keys:
        return TensorSizes(np.zeros(0, np.int64), np.zeros(0, np.int64))
    merged, place, n_steps = np.unique(
        np.concatenate(keys), return_inverse=True, return_counts=True
    )
    values = np.zeros(len(merged), np.int64)
    np.add.at(values, place, np.concatenate(sums))
    return TensorSizes(merged, values // n_steps)


def output_shape(profile: Profile, row: int, port: int) -> Shape:
    """Shape of an output; None if its rank or the whole shape is unknown."""
    shapes = profile.ops.shapes.list_of(int(profile.ops.output_shapes_ids.array[row]))
    return shapes[port] if 0 <= port < len(shapes) else None


def shape_text(shape: Shape) -> str:
    """``8×112×112×64``; ``scalar``; ``?`` for an unknown dimension; empty for unknown rank."""
    if shape is None:
        return ""
    return "×".join("?" if dim < 0 else str(dim) for dim in shape) or "scalar"


def elements(shape: Shape) -> int:
    """Number of elements, ``UNKNOWN`` if the shape is not fully known."""
    if shape is None or not is_fully_defined(shape):
        return UNKNOWN
    return min(math.prod(shape), _LARGEST)


NO_PART = -1
"""Part of an op that is not drawn."""

_ROOM_FOR_EDGES = 40
_EDGES_PER_PART = 1.25
"""With more, a large drawing is a tangle, and takes minutes to lay out."""

Pair = tuple[int, int]


@dataclass(slots=True)
class _Flow:
    """The tensors that flow from one part to another, each counted once."""

    tensors: list[tuple[int, int]]
    sizes: list[int]


@dataclass(frozen=True, slots=True)
class Flows:
    """Edges between parts.

    Attributes:
        edges: The edges.
        measure: What their widths mean; empty if nothing.
        n_left_out: Narrow edges that were left out.
    """

    edges: list[Edge]
    measure: str
    n_left_out: int


def flows_between(profile: Profile, part_of_op: Int64Array, step: int) -> Flows:
    """Edges between parts.

    Data flow through ops in no part is an edge of its own kind, unless other edges connect the
    same parts.

    Args:
        profile: The profile.
        part_of_op: Part of each op, or ``NO_PART``, shape (n ops,).
        step: The step whose tensors are measured, or negative for the average.
    """
    data, control = _direct(profile, part_of_op, step)
    known = any(size != UNKNOWN for flow in data.values() for size in flow.sizes)
    if not known:
        for flow in data.values():
            flow.sizes = [elements(output_shape(profile, *tensor)) for tensor in flow.tensors]
    drawn = np.flatnonzero(part_of_op != NO_PART)
    largest = recorded_bytes(profile, step).largest_of(drawn) if known else 0
    edges = _data_edges(profile, data, in_bytes=known, largest=largest)
    for tail, head in sorted(control - data.keys()):
        edges.append(Edge(tail, head, "control", about="control input"))
    through = _through(profile, part_of_op) - data.keys()
    for tail, head in sorted(through & _without_shortcuts({*data, *through})):
        edges.append(Edge(tail, head, "through", about="through ops that are not drawn"))
    measure = ""
    if known:
        measure = "bytes of the tensors, as the run recorded them"
    elif any(edge.share for edge in edges):
        measure = "elements of the tensors; bytes need a run"
    kept = _thinned(edges, int(part_of_op.max(initial=-1)) + 1)
    return Flows(kept, measure, len(edges) - len(kept))


def _thinned(edges: list[Edge], n_parts: int) -> list[Edge]:
    """The edges without the narrowest of those that other paths replace, in their order."""
    room = max(_ROOM_FOR_EDGES, int(_EDGES_PER_PART * n_parts))
    needed = _without_shortcuts({(edge.tail, edge.head) for edge in edges})
    by_width = sorted(
        range(len(edges)),
        key=lambda place: (
            (edges[place].tail, edges[place].head) not in needed,
            -edges[place].share,
            place,
        ),
    )
    return [edges[place] for place in sorted(by_width[: max(room, len(needed))])]


def _direct(
    profile: Profile, part_of_op: Int64Array, step: int
) -> tuple[dict[Pair, _Flow], set[Pair]]:
    """What flows from part to part, and the pairs that a control input joins."""
    ops = profile.ops
    producers, ports = ops.input_rows(), ops.input_ports
    consumers = np.repeat(np.arange(len(ops)), np.diff(ops.input_offsets()))
    tails = np.where(producers >= 0, part_of_op[producers], NO_PART)
    heads = part_of_op[consumers]
    joined = (tails >= 0) & (heads >= 0) & (tails != heads)
    control = joined & (ports < 0)
    joined &= ports >= 0
    sizes = recorded_bytes(profile, step).find(producers[joined], ports[joined])
    rows = np.stack([tails[joined], heads[joined], producers[joined], ports[joined], sizes])
    data: dict[Pair, _Flow] = {}
    for tail, head, producer, port, size in np.unique(rows, axis=1).T.tolist():
        flow = data.setdefault((tail, head), _Flow([], []))
        flow.tensors.append((producer, port))
        flow.sizes.append(size)
    return data, set(zip(tails[control].tolist(), heads[control].tolist(), strict=True))


def _data_edges(
    profile: Profile, data: Mapping[Pair, _Flow], *, in_bytes: bool, largest: int
) -> list[Edge]:
    """Edges of data flow.

    Args:
        profile: The profile.
        data: What flows between the parts.
        in_bytes: Sizes are bytes, else elements.
        largest: The largest output of the drawn parts. Widths are relative to it, so that small
            tensors have narrow arrows even if all large ones go to ops that are not drawn.
    """
    sums = {
        pair: sum(size for size in flow.sizes if size != UNKNOWN) for pair, flow in data.items()
    }
    largest = max(largest, *sums.values(), 0)
    form = human_memory if in_bytes else human_count
    edges = []
    for pair, flow in data.items():
        shape = output_shape(profile, *flow.tensors[0]) if len(flow.tensors) == 1 else None
        n_unknown = flow.sizes.count(UNKNOWN)
        size = ""
        if n_unknown < len(flow.sizes):
            size = f"{'≥ ' if n_unknown else ''}{form(sums[pair])}"
        tensors = f"{len(flow.tensors)} tensors" if len(flow.tensors) > 1 else shape_text(shape)
        about = ", ".join(filter(None, [size, tensors]))
        label = size if in_bytes and size else tensors
        share = sums[pair] / largest if largest else 0.0
        edges.append(Edge(*pair, "data", label, share, about))
    return edges


def _through(profile: Profile, part_of_op: Int64Array) -> set[Pair]:
    """Pairs of parts with data flow from one to the other through ops in no part."""
    ops = profile.ops
    offsets = ops.input_offsets().tolist()
    flowing = np.where(ops.input_ports >= 0, ops.input_rows(), -1).tolist()
    inputs = [[row for row in flowing[first:stop] if row >= 0] for first, stop in pairwise(offsets)]
    parts = part_of_op.tolist()
    outside = [[] if part != NO_PART else rows for part, rows in zip(parts, inputs, strict=True)]
    reaching = _collected(outside, [0 if part == NO_PART else 1 << part for part in parts])
    heads: dict[int, int] = {}
    for op, part in enumerate(parts):
        if part != NO_PART:
            for row in inputs[op]:
                if parts[row] == NO_PART:
                    heads[part] = heads.get(part, 0) | reaching[row]
    return {(tail, head) for head, tails in heads.items() for tail in _bits(tails) if tail != head}


def _inputs_first(inputs: Sequence[Sequence[int]]) -> list[int]:
    """Nodes in an order in which each follows its inputs; those in and after loops come last."""
    missing = [len(rows) for rows in inputs]
    consumers: list[list[int]] = [[] for _ in inputs]
    for op, rows in enumerate(inputs):
        for row in rows:
            consumers[row].append(op)
    ready = deque(op for op, count in enumerate(missing) if count == 0)
    order = []
    while ready:
        op = ready.popleft()
        order.append(op)
        for consumer in consumers[op]:
            missing[consumer] -= 1
            if missing[consumer] == 0:
                ready.append(consumer)
    return order + [op for op, count in enumerate(missing) if count > 0]


def _without_shortcuts(edges: set[Pair]) -> set[Pair]:
    """Edges whose head cannot be reached from their tail by other edges; loops stay whole."""
    following: dict[int, set[int]] = {}
    for tail, head in edges:
        following.setdefault(tail, set()).add(head)
    reached = _reachable(following)
    return {
        (tail, head)
        for tail, head in edges
        if not any(
            reached[between] >> head & 1
            and not reached[between] >> tail & 1
            and not reached[head] >> between & 1
            for between in following[tail]
            if between != head
        )
    }


def _reachable(following: Mapping[int, set[int]]) -> list[int]:
    """The nodes that each node leads to, as the bits of a number."""
    size = 1 + max((node for pair in following.items() for node in (pair[0], *pair[1])), default=-1)
    heads = [sorted(following.get(node, ())) for node in range(size)]
    return _collected(heads, [1 << node for node in range(size)])


def _collected(inputs: Sequence[Sequence[int]], bits: Sequence[int]) -> list[int]:
    """The bits of all direct and indirect inputs of each node, in one number."""
    collected = [0] * len(inputs)
    order = _inputs_first(inputs)
    changed = True
    while changed:  # once, and more often only if there are loops
        changed = False
        for node in order:
            found = collected[node]
            for source in inputs[node]:
                found |= bits[source] | collected[source]
            if found != collected[node]:
                collected[node] = found
                changed = True
    return collected


def _bits(number: int) -> list[int]:
    """Positions of the bits that are set."""
    positions = []
    while number:
        lowest = number & -number
        positions.append(lowest.bit_length() - 1)
        number ^= lowest
    return positions
