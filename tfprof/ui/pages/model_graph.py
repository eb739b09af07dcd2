"""The page of the drawn graph: scopes as boxes that open, data flow as lines between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.numerals import whole_number
from tfprof.core.columns.tree import Tree
from tfprof.core.text.metrics import METRIC_FORMS, Metric
from tfprof.core.text.units import human_time
from tfprof.core.text.wording import sentence
from tfprof.errors import UsageError
from tfprof.inputs.opened import Opened
from tfprof.options.spec import UNASKED
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.model.executions import NO_OP
from tfprof.ui.pages.document import Block, Control, Page, empty, remarks, words
from tfprof.ui.pages.graph_block import GraphEdge, GraphNode, graph_block
from tfprof.ui.pages.host_choice import chosen_profiler, host_control_of
from tfprof.ui.pages.missing_views import NO_LINES
from tfprof.ui.pages.view_titles import MODEL_GRAPH
from tfprof.views.result import ViewTree

ID, TITLE = MODEL_GRAPH
_ABOUT: Final = "Scopes and ops as boxes, data flow from top to bottom. Scopes open and close."

MOST_INSIDE: Final = 14
"""Most boxes within one box; the lightest of more are merged into one."""

_LIGHT: Final = 0.002
"""With more boxes, those below this share of the whole are merged, too."""

MOST_OPEN: Final = 12
"""Most scopes that are open at once; the earliest close."""

_MEASURES: Final = ("micros", "bytes", "float_ops", "params")
_BETWEEN: Final = "\n"
"""Between the names of open scopes in an address."""


def model_graph_page(opened: Opened, params: Mapping[str, str], *, dot: str | None = None) -> Page:
    """The page of the drawn graph.

    Args:
        opened: The opened run, which has a profiler.
        params: ``open``: whole names of open scopes, a line each; ``at``: a scope or op to show,
            whose scopes are opened, too; ``last``: the box in focus; ``step``; ``host``.
        dot: As for ``laid_out``.

    Raises:
        UsageError: There is no such host.
        InputError: The run cannot be read.
    """
    profiler = chosen_profiler(opened, params)
    controls = [*host_control_of(opened, params), *_step_control(profiler.steps, params)]
    options: dict[str, Any] = {
        **UNASKED, "select": list(_MEASURES), "order_by": "name", "max_depth": 1_000_000,
        "output": "none",
    }  # fmt: skip
    if params.get("step", "").isdigit():
        options["step"] = whole_number(params["step"], -1)
    try:
        tree = profiler.view("scope", options)
    except UsageError as error:
        return Page(ID, TITLE, _ABOUT, [remarks([("error", str(error), "")])], controls)
    if len(tree) < 2:
        return Page(ID, TITLE, _ABOUT, [empty("The profile has no ops.")], controls)
    if not len(tree.ops.input_rows()):
        return Page(ID, TITLE, _ABOUT, [empty(f"{sentence(NO_LINES)}.")], controls)
    row_of = {name: row for row, name in enumerate(tree.names)}
    at = row_of.get(params.get("at", ""), 0)
    drawn = _Drawn(tree, _open_rows(tree, row_of, at, params), at)
    return Page(ID, TITLE, _ABOUT, _blocks(tree, drawn, params, dot), controls)


def _step_control(steps: Sequence[int], params: Mapping[str, str]) -> list[Control]:
    if len(steps) < 2:
        return []
    choices = [("", "average of all"), *((str(step), str(step)) for step in steps[:200])]
    return [Control("step", "Step", "choice", params.get("step", ""), "", choices)]


def _blocks(
    tree: ViewTree, drawn: _Drawn, params: Mapping[str, str], dot: str | None
) -> list[Block]:
    measures = [metric for metric in METRIC_FORMS if metric.select in _MEASURES]
    known = [each for each in measures if tree.total[METRIC_ROW[each.metric], 0]]
    nodes, edges = drawn.nodes(known), drawn.edges()
    blocks: list[Block] = [words([_sentence(tree, drawn)], lead=True)]
    if params.get("at") and params["at"] not in {tree.names[row] for row in drawn.shown}:
        blocks.append(remarks([("info", f"There is no {params['at']} in the drawing.", "")]))
    shown = [(each.select, each.title, _unit(each)) for each in known]
    focus = params.get("at") or params.get("last", "")
    blocks.append(graph_block(nodes, edges, shown, id=ID, title="Data flow", focus=focus, dot=dot))
    return blocks


def _sentence(tree: ViewTree, drawn: _Drawn) -> str:
    """The heaviest part of the graph, and how much is drawn."""
    exec_micros = tree.total[METRIC_ROW["exec_micros"]]
    whole, boxes = (
        int(exec_micros[0]),
        f"{len(tree.ops):,} ops, drawn as {len(drawn.shown):,} boxes",
    )
    leaves = [row for row in drawn.shown if not drawn.is_open(row)]
    heaviest = max(leaves, key=lambda row: (int(exec_micros[row]), -row), default=0)
    if not whole or not heaviest:
        return f"{boxes}."
    own = int(exec_micros[heaviest])
    share = f"{own / whole:.1%} of {human_time(whole)}"
    return f"{boxes}; {tree.names[heaviest]} takes the most time of them, {share}."


def _unit(metric: Metric) -> str:
    return {"micros": "us", "bytes": "bytes"}.get(metric.metric.rpartition("_")[2], "count")


def _open_rows(
    tree: ViewTree, row_of: Mapping[str, int], at: int, params: Mapping[str, str]
) -> list[int]:
    """Rows of the scopes that are open, outer ones first; the root is always."""
    parents = tree.parent.tolist()
    wanted = [row_of[name] for name in params.get("open", "").split(_BETWEEN) if name in row_of]
    wanted = [row for row in wanted if row > 0][-MOST_OPEN:]
    if not params.get("open") and len(tree.children_of(0)) == 1:
        wanted.append(tree.children_of(0)[0])
    if at > 0:
        wanted.append(at)
    rows = {0}
    for each in wanted:
        row = each
        while row > 0:
            if tree.children_of(row):
                rows.add(row)
            row = parents[row]
    return sorted(rows)


@dataclass(frozen=True, slots=True)
class _Rest:
    """The lightest children of an open scope, as one box."""

    scope: int
    rows: list[int]


class _Drawn:
    """The boxes, and the box of each op.

    Args:
        tree: A scope view of all ops.
        open_rows: Rows of open scopes, the root first.
        at: Row of the scope or op to show; 0 for none.
    """

    def __init__(self, tree: ViewTree, open_rows: Sequence[int], at: int = 0) -> None:
        self.tree = tree
        self._open = [row for row in open_rows if row]
        self._weights = tree.total[METRIC_ROW["exec_micros"]]
        if not self._weights.any():
            self._weights = tree.definitions
        self._n_ops = Tree.from_parents(tree.parent).subtree_counts(tree.op_rows != NO_OP)
        self.shown: list[int] = []
        self._rests: list[_Rest] = []
        hidden: set[int] = set()
        for row in open_rows:
            if row in hidden:
                continue
            self._choose(row, {*open_rows, at}, hidden)
        self.shown.sort()
        self._box_of = self._boxes_of_rows()

    def _choose(self, scope: int, wanted: set[int], hidden: set[int]) -> None:
        """The heaviest children of a scope; wanted ones are always among them."""
        children = self.tree.children_of(scope)
        by_weight = sorted(
            children, key=lambda row: (row not in wanted, -int(self._weights[row]), row)
        )
        kept = by_weight[:MOST_INSIDE]
        if len(by_weight) > MOST_INSIDE + 1:
            least = _LIGHT * int(self._weights[scope])
            kept = [row for row in kept if row in wanted or self._weights[row] >= least]
        elif len(by_weight) == MOST_INSIDE + 1:
            kept = by_weight
        self.shown += kept
        if rest := by_weight[len(kept) :]:
            self._rests.append(_Rest(scope, rest))
            hidden.update(rest)

    def is_open(self, row: int) -> bool:
        """Whether the box of a row shows what is in it."""
        return row in self._open

    def _boxes_of_rows(self) -> Int64Array:
        """The box that each row is in: a row, or ``-2 - i`` for the i-th rest."""
        box = np.zeros(len(self.tree), np.int64)
        box[self.shown] = self.shown
        for place, rest in enumerate(self._rests):
            box[rest.rows] = -2 - place
        boxes = box.tolist()
        for row, parent in enumerate(self.tree.parent.tolist()):
            if row and not boxes[row]:
                boxes[row] = boxes[parent]
        return np.array(boxes, np.int64)

    def nodes(self, metrics: Sequence[Metric]) -> list[GraphNode]:
        """The boxes, outer ones first."""
        nodes = [self._node(row, metrics) for row in self.shown]
        for rest in self._rests:
            sums = {each.select: float(self._total(each, rest.rows)) for each in metrics}
            inside = self._name(rest.scope) if rest.scope else ""
            label = f"{len(rest.rows):,} others"
            nodes.append(GraphNode(self._rest_id(rest), label, "the lightest", (), inside, sums))
        return nodes

    def _node(self, row: int, metrics: Sequence[Metric]) -> GraphNode:
        tree = self.tree
        parent = int(tree.parent[row])
        name = tree.names[row]
        label = name.removeprefix(f"{tree.names[parent]}/") if parent else name
        is_open = self.is_open(row)
        can_open = bool(tree.children_of(row))
        weights = {each.select: float(self._total(each, [row])) for each in metrics}
        micros = int(tree.total[METRIC_ROW["exec_micros"], row])
        op_row = int(tree.op_rows[row])
        parts = [f"{int(self._n_ops[row]):,} ops"] if can_open else []
        if op_row != NO_OP:
            parts.insert(0, _type_of(tree, op_row))
        if micros:
            parts.append(human_time(micros))
        return GraphNode(
            self._name(row),
            label,
            " · ".join(parts),
            inside=self._name(parent) if parent else "",
            weights=weights,
            toggle=self._toggle(row, is_open) if can_open else None,
            is_open=is_open,
            kind=_type_of(tree, op_row) if op_row != NO_OP else "scope",
        )

    def _toggle(self, row: int, is_open: bool) -> dict[str, str]:
        return {"open": self._after(row, is_open), "at": "", "last": self._name(row)}

    def _total(self, metric: Metric, rows: Sequence[int]) -> int:
        return int(self.tree.total[METRIC_ROW[metric.metric]][[*rows]].sum())

    def _name(self, row: int) -> str:
        return self.tree.names[row]

    def _rest_id(self, rest: _Rest) -> str:
        return f"{self._name(rest.scope)}/…" if rest.scope else "…"

    def _after(self, row: int, is_open: bool) -> str:
        """The parameter ``open`` after a box has been opened or closed."""
        name = self._name(row)
        inner = f"{name}/"
        names = [self._name(each) for each in self._open]
        if is_open:
            kept = [each for each in names if each != name and not each.startswith(inner)]
            return _BETWEEN.join(kept) or _BETWEEN
        return _BETWEEN.join([*names, name])

    def edges(self) -> list[GraphEdge]:
        """Lines between boxes, with how many ops' outputs flow along each."""
        tree = self.tree
        ops = tree.ops
        row_of_op = np.zeros(len(ops), np.int64)
        is_op = tree.op_rows != NO_OP
        row_of_op[tree.op_rows[is_op]] = np.flatnonzero(is_op)
        readers = np.repeat(np.arange(len(ops)), np.diff(ops.input_offsets()))
        producers = ops.input_rows()
        flows = (producers >= 0) & (ops.input_ports >= 0)
        start = self._box_of[row_of_op[producers[flows]]]
        end = self._box_of[row_of_op[readers[flows]]]
        differ = (start != end) & (start != 0) & (end != 0)
        pairs, counts = np.unique(
            np.stack([start[differ], end[differ]], axis=1), axis=0, return_counts=True
        )
        edges = []
        for (source, target), count in zip(pairs.tolist(), counts.tolist(), strict=True):
            label = f"{count:,} tensor" + ("s" if count > 1 else "")
            edges.append(GraphEdge(self._id(source), self._id(target), label, count))
        return edges

    def _id(self, box: int) -> str:
        return self._name(box) if box > 0 else self._rest_id(self._rests[-2 - box])


def _type_of(tree: ViewTree, op_row: int) -> str:
    return tree.facts.strings[int(tree.facts.type_ids[op_row])]
