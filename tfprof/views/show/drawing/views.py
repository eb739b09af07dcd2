"""From a view to its drawing.

The graph and scope views show the heaviest ops or scopes, in their scopes, and the data flow
between them. That of the code view is a graph of calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.drawing.dot import to_digraph
from tfprof.core.text.drawing.plan import NO_CLUSTER, Cluster, Drawing, Edge, Node, NodeKind
from tfprof.errors import UsageError
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.flows import NO_PART, Flows, flows_between
from tfprof.views.show.drawing.labels import MAX_SCOPES, line, relative, says, scopes_of
from tfprof.views.show.drawing.weights import Weights, choose_weights

if TYPE_CHECKING:
    import graphviz


def draw_operations(tree: ViewTree, weights: Weights, max_nodes: int) -> tuple[Drawing, Flows]:
    """Draw the heaviest ops of a graph view; each frame counts the ops left out."""
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
    """Write into a frame, or a node where there is none, how much is not drawn."""
    text = f"{count:,} more" + (f": {weights.text(value)}" if value else "")
    if frame == NO_CLUSTER:
        drawing.nodes.append(Node([text], f"{text}, not drawn one by one", kind="rest"))
        return
    cluster = drawing.clusters[frame]
    drawing.clusters[frame] = replace(cluster, lines=[*cluster.lines, f"+ {text}"])


_ROOT = 0


def draw_scopes(tree: ViewTree, weights: Weights, max_nodes: int) -> tuple[Drawing, Flows]:
    """Open the heaviest scopes until there are ``max_nodes`` nodes."""
    opened = _open_scopes(tree, weights.total, max_nodes)
    painter = _Painter(tree, weights, opened)
    painter.paint()
    part_of_op = _parts(tree, painter.node_of_row, opened)
    flows = flows_between(tree.profile, part_of_op, tree.options.step)
    painter.drawing.edges += flows.edges
    return painter.drawing, flows


def _open_scopes(tree: ViewTree, total: Int64Array, max_nodes: int) -> dict[int, list[int]]:
    """Draw as many of the heaviest rows as there is room for.

    A row is never heavier than its parent, so the heaviest k rows hold the parents of each. The
    number of nodes nearly always grows with k, so a bisection finds a k close to the largest.
    """
    order = np.lexsort((np.arange(len(tree)), tree.depth, -total))
    order = np.concatenate([[_ROOT], order[order != _ROOT]])
    sizes = range(len(order) + 1)
    size = bisect_right(sizes, max_nodes, 2, key=lambda n: _opened(tree, order[:n])[1]) - 1
    return _opened(tree, order[:size])[0]


def _opened(tree: ViewTree, rows: Int64Array) -> tuple[dict[int, list[int]], int]:
    """The scopes to draw for some rows, with their children that are drawn; and how many nodes.

    A scope with one of the rows is replaced by that row: a frame around one node says nothing.
    """
    below: dict[int, list[int]] = {}
    n_nodes = 0
    for row in np.sort(rows)[::-1].tolist():  # children come before their parents
        inside = below.get(row, [])
        if len(inside) == 1 and inside[0] not in below and row != _ROOT:
            del below[row]
            n_nodes -= 1
        if row not in below or tree.op_rows[row] != NO_OP:
            n_nodes += 1
        if row != _ROOT:
            below.setdefault(int(tree.parent[row]), []).append(row)
    return {row: inside[::-1] for row, inside in below.items()}, n_nodes


@dataclass(slots=True)
class _Painter:
    """Makes nodes and clusters of the rows that are drawn."""

    tree: ViewTree
    weights: Weights
    opened: dict[int, list[int]]
    drawing: Drawing = field(default_factory=Drawing)
    node_of_row: dict[int, int] = field(default_factory=dict)
    largest: int = 0
    rest: dict[int, list[int]] = field(default_factory=dict)

    def paint(self) -> None:
        """Fill the drawing, outer scopes first."""
        below = self.opened
        drawn = [row for rows in below.values() for row in rows if row not in below]
        self.largest = max((int(self.weights.total[row]) for row in drawn), default=0)
        pending: list[tuple[int, int, str]] = [(_ROOT, NO_CLUSTER, "")]
        while pending:
            row, frame, scope = pending.pop(0)
            if row != _ROOT and row not in below:
                self._add_node(row, frame, scope, self.weights.total)
            elif row == _ROOT or self._needs_no_frame(row, frame):
                self._fill(row, frame, scope, pending)
            else:
                name = self.tree.names[row]
                value = self.weights.text(int(self.weights.total[row]))
                lines = [line(relative(name, scope)), value]
                self.drawing.clusters.append(Cluster(lines, f"{name}\n{value}", frame))
                self._fill(row, len(self.drawing.clusters) - 1, name, pending)
        for frame, rows in sorted(self.rest.items()):
            left_out = int(self.weights.total[rows].sum())
            add_rest(self.drawing, self.weights, frame, len(rows), left_out)

    def _needs_no_frame(self, row: int, frame: int) -> bool:
        """Whether a scope holds only another frame, or lies too deep for one."""
        if len(self.opened[row]) == 1 and self.tree.op_rows[row] == NO_OP:
            return True
        depth = 0
        while frame != NO_CLUSTER:
            frame = self.drawing.clusters[frame].parent
            depth += 1
        return depth >= MAX_SCOPES

    def _fill(self, row: int, frame: int, scope: str, pending: list[tuple[int, int, str]]) -> None:
        if self.tree.op_rows[row] != NO_OP:
            self._add_node(row, frame, scope, self.weights.own)
        drawn = {*self.opened.get(row, ())}
        pending += [(child, frame, scope) for child in self.opened.get(row, ())]
        rest = [child for child in self.tree.children_of(row) if child not in drawn]
        if rest:
            self.rest.setdefault(frame, []).extend(rest)

    def _add_node(self, row: int, frame: int, scope: str, values: Int64Array) -> None:
        tree, value = self.tree, int(values[row])
        name = tree.names[row]
        is_scope = bool(tree.children_of(row)) and row not in self.opened
        lines = [line(relative(name, scope))]
        about = [name]
        if is_scope and tree.definitions[row] > 1:
            about.append(f"{tree.definitions[row]:,} defined")
        elif tree.op_rows[row] != NO_OP:
            op_type = tree.facts.strings[int(tree.facts.type_ids[tree.op_rows[row]])]
            about.append(op_type)
            if not says(name, op_type):
                lines.append(line(op_type))
        lines.append(self.weights.text(value))
        about.append(f"{self.weights.title}: {self.weights.text(value)}")
        self.node_of_row[row] = len(self.drawing.nodes)
        share = min(value / self.largest, 1.0) if self.largest else 0.0
        kind: NodeKind = "scope" if is_scope else "op"
        self.drawing.nodes.append(Node(lines, "\n".join(about), share, frame, kind))


def _parts(
    tree: ViewTree, node_of_row: Mapping[int, int], opened: dict[int, list[int]]
) -> Int64Array:
    """The node that each op is part of: its own, or that of the scope around it."""
    own = {tree.names[row]: node for row, node in node_of_row.items()}
    # An op whose scope is opened counts without what is in the scope.
    parts = {tree.names[row]: node for row, node in node_of_row.items() if row not in opened}
    ops = tree.ops
    part_of_op = []
    for name_id in ops.name_ids.array.tolist():
        name = ops.names[name_id]
        part = own.get(name)
        part_of_op.append(_part_of_scope(name, parts) if part is None else part)
    return np.array(part_of_op, np.int64)


def _part_of_scope(name: str, parts: dict[str, int]) -> int:
    """Node of the scopes around a name; ``parts`` gets those that were looked up."""
    missed = []
    part = NO_PART
    scope = name.rpartition("/")[0]
    while scope:
        if scope in parts:
            part = parts[scope]
            break
        missed.append(scope)
        scope = scope.rpartition("/")[0]
    parts.update(dict.fromkeys(missed, part))
    return part


def draw_calls(tree: ViewTree, weights: Weights, max_nodes: int) -> tuple[Drawing, Flows]:
    """Draw the heaviest lines of a code view, each with the number of its callees left out.

    A line is never heavier than its caller, so the callers of all drawn lines are drawn, too.
    """
    order = np.lexsort((np.arange(len(tree)), tree.depth, -weights.total))
    drawn = np.sort(order[order > 0][:max_nodes]).tolist()
    node_of_row = {row: node for node, row in enumerate(drawn)}
    here = _not_in_callees(tree, weights, drawn)
    largest_here = max(here.values(), default=0)
    largest = max((int(weights.total[row]) for row in drawn), default=0)
    drawing = Drawing()
    for row in drawn:
        own, total = int(weights.own[row]), int(weights.total[row])
        lines = [line(tree.names[row]), *_values(weights, own, total)]
        rest = _rest(tree, weights, row, node_of_row)
        about = "\n".join([tree.names[row], *lines[1:], *rest])
        share = here[row] / largest_here if largest_here else 0.0
        drawing.nodes.append(Node([*lines, *rest], about, share))
    for row in drawn:
        caller = node_of_row.get(int(tree.parent[row]))
        if caller is not None:
            total = int(weights.total[row])
            share = total / largest if largest else 0.0
            drawing.edges.append(Edge(caller, node_of_row[row], "call", weights.form(total), share))
    top = _rest(tree, weights, 0, node_of_row)
    if top:
        drawing.nodes.append(Node(top, "lines that are not drawn", kind="rest"))
    return drawing, Flows([], f"{weights.title} of the call", 0)


def _not_in_callees(tree: ViewTree, weights: Weights, drawn: list[int]) -> dict[int, int]:
    """The cost of each drawn line without its drawn callees."""
    here = {row: int(weights.total[row]) for row in drawn}
    for row in drawn:
        caller = int(tree.parent[row])
        if caller in here:
            here[caller] = max(0, here[caller] - int(weights.total[row]))
    return here


def _values(weights: Weights, own: int, total: int) -> list[str]:
    if own == total:
        return [weights.text(own)]
    return [weights.text(total), f"own: {weights.text(own)}"] if own else [weights.text(total)]


def _rest(tree: ViewTree, weights: Weights, row: int, drawn: dict[int, int]) -> list[str]:
    """A line about the callees that are not drawn; none if all are."""
    rest = [child for child in tree.children_of(row) if child not in drawn]
    if not rest:
        return []
    value = int(weights.total[rest].sum())
    return [f"+ {len(rest):,} more" + (f": {weights.text(value)}" if value else "")]


MAX_NODES: Final = 50
"""More make a picture too large to read."""


def view_to_graphviz(
    tree: ViewTree, *, attribute: str | None = None, max_nodes: int = MAX_NODES
) -> graphviz.Digraph:
    """Draw a view.

    The graph view shows the heaviest ops, the scope view opens the heaviest scopes, both with
    the data that flows between them; the code view is a call graph. Dashed boxes count what is
    left out.

    Args:
        tree: A scope, graph or code view.
        attribute: What makes a node large and dark: ``micros``, ``bytes``, ``params``,
            ``float_ops`` …; None is the first of the view's ``select`` that has a value.
        max_nodes: Nodes to draw besides those dashed boxes.

    Raises:
        UsageError: The view has no edges, there is no such attribute, or ``max_nodes`` is not
            positive.
        MissingDependencyError: The package ``graphviz`` is not installed.
    """
    return to_digraph(draw_view(tree, attribute=attribute, max_nodes=max_nodes))


def draw_view(
    tree: ViewTree, *, attribute: str | None = None, max_nodes: int = MAX_NODES
) -> Drawing:
    """The drawing as plain data. Arguments and errors as in ``view_to_graphviz``."""
    if max_nodes < 1:
        raise UsageError(f"max_nodes={max_nodes} must be at least 1")
    if tree.kind == "op":
        raise UsageError(
            "the op view is a list, which has no edges to draw; draw the scope, graph or code view"
        )
    weights = choose_weights(tree, attribute)
    draw = {"graph": draw_operations, "scope": draw_scopes, "code": draw_calls}[tree.kind]
    drawing, flows = draw(tree, weights, max_nodes)
    drawing.title = _title(tree, drawing, weights, flows)
    return drawing


def _title(tree: ViewTree, drawing: Drawing, weights: Weights, flows: Flows) -> list[str]:
    """The title and a legend."""
    step = tree.options.step
    several = len(tree.profile.steps.steps) > 1
    of_step = f", step {step}" if step >= 0 else ", average of a step" if several else ""
    whole = weights.form(int(weights.total[0]))
    n_drawn = sum(node.kind != "rest" for node in drawing.nodes)
    things = {"graph": "ops", "scope": "scopes and ops", "code": "lines"}[tree.kind]
    own = "own " if tree.kind == "graph" else ""
    rest = ", without the lines below that are drawn" if tree.kind == "code" else ""
    lines = [
        f"{tree.kind} view{of_step}: {weights.title} {whole}; "
        f"{n_drawn:,} of {len(tree) - 1:,} {things}",
    ]
    if not own or weights.own.any():
        lines.append(f"size and colour of boxes: {own}{weights.title}{rest}")
    if flows.measure:
        lines.append(f"width of arrows: {flows.measure}")
    kinds = {edge.kind for edge in drawing.edges}
    dashes = [
        text
        for kind, text in (
            ("through", "dotted: data flow through ops that are not drawn"),
            ("control", "dashed: control inputs"),
        )
        if kind in kinds
    ]
    if dashes:
        lines.append("; ".join(dashes))
    if flows.n_left_out:
        lines.append(f"{flows.n_left_out:,} narrow arrows are left out; others connect these boxes")
    return lines
