"""The graph view as a drawing: the heaviest ops, the data flow between them, their scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfprof.core.text.drawing.plan import NO_CLUSTER, Cluster, Drawing, Node
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.flows import NO_PART, Flows, flows_between
from tfprof.views.show.drawing.labels import line, relative, says, scopes_of
from tfprof.views.show.drawing.weights import Weights


def draw_operations(tree: ViewTree, weights: Weights, max_nodes: int) -> tuple[Drawing, Flows]:
    """Draw the heaviest ops of a graph view; what is left out is counted in each frame."""
    rows = np.flatnonzero(tree.op_rows != NO_OP)
    heaviest = rows[np.lexsort((rows, -weights.own[rows]))][:max_nodes]
    drawn = heaviest[np.argsort(tree.op_rows[heaviest])].tolist()  # producers mostly come first
    drawing = Drawing()
    frame_of = _frames(drawing, [tree.names[row] for row in drawn])
    largest = max((int(weights.own[row]) for row in drawn), default=0)
    part_of_op = np.full(len(tree.ops), NO_PART, np.int64)
    for row in drawn:
        part_of_op[tree.op_rows[row]] = len(drawing.nodes)
        drawing.nodes.append(_node(tree, weights, row, frame_of, largest))
    _add_rest(drawing, tree, weights, sorted({*rows.tolist()} - {*drawn}), frame_of)
    flows = flows_between(tree.profile, part_of_op, tree.options.step)
    drawing.edges += flows.edges
    return drawing, flows


def _node(
    tree: ViewTree, weights: Weights, row: int, frame_of: Mapping[str, int], largest: int
) -> Node:
    name = tree.names[row]
    op_row = int(tree.op_rows[row])
    op_type = tree.facts.strings[int(tree.facts.type_ids[op_row])]
    frame, scope = _innermost(name, frame_of)
    value = int(weights.own[row])
    lines = [line(relative(name, scope))]
    if not says(name, op_type):
        lines.append(line(op_type))
    about = [name, op_type, tree.device(op_row)]
    if weights.own.any():
        lines.append(weights.text(value))
        about.append(f"{weights.title}: {weights.text(value)}")
    return Node(lines, "\n".join(filter(None, about)), value / largest if largest else 0.0, frame)


def _frames(drawing: Drawing, names: Sequence[str]) -> dict[str, int]:
    """Clusters by scope, for the scopes that hold more than one thing that is drawn."""
    below: dict[str, set[str]] = {}
    for name in names:
        scope = ""
        for inner in scopes_of(name):
            below.setdefault(scope, set()).add(inner + "/")
            scope = inner
        below.setdefault(scope, set()).add(name)
    frame_of: dict[str, int] = {}
    for scope in sorted(below, key=lambda scope: (scope.count("/"), scope)):
        if scope and len(below[scope]) > 1:
            parent, around = _innermost(scope, frame_of)
            frame_of[scope] = len(drawing.clusters)
            drawing.clusters.append(Cluster([line(relative(scope, around))], scope, parent))
    return frame_of


def _innermost(name: str, frame_of: Mapping[str, int]) -> tuple[int, str]:
    """The cluster that a name lies in, and its scope."""
    cluster, scope = NO_CLUSTER, ""
    for outer in scopes_of(name):
        if outer in frame_of:
            cluster, scope = frame_of[outer], outer
    return cluster, scope


def _add_rest(
    drawing: Drawing,
    tree: ViewTree,
    weights: Weights,
    rows: Iterable[int],
    frame_of: Mapping[str, int],
) -> None:
    """A node in each cluster for the ops there that are not drawn."""
    counts: Counter[int] = Counter()
    values: Counter[int] = Counter()
    for row in rows:
        frame, _ = _innermost(tree.names[row], frame_of)
        counts[frame] += 1
        values[frame] += int(weights.own[row])
    for frame in sorted(counts):
        add_rest(drawing, weights, frame, counts[frame], values[frame])


def add_rest(drawing: Drawing, weights: Weights, frame: int, count: int, value: int) -> None:
    """Say in a frame, or in a node where there is none, how much is not drawn."""
    text = f"{count:,} more" + (f": {weights.text(value)}" if value else "")
    if frame == NO_CLUSTER:
        drawing.nodes.append(Node([text], f"{text}, not drawn one by one", kind="rest"))
        return
    cluster = drawing.clusters[frame]
    drawing.clusters[frame] = replace(cluster, lines=[*cluster.lines, f"+ {text}"])
