"""``ViewTree``: the answer of a view, as columns over the rows that are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.described import Described
from tfprof.core.columns.frames_of_rows import ReadByDataFrames
from tfprof.core.columns.mixins import DiffMixin, NotebookMixin
from tfprof.core.columns.remarks import Notice
from tfprof.core.columns.tree import Tree
from tfprof.errors import UsageError
from tfprof.files.checkpoint.value_text import short_text
from tfprof.files.checkpoint.variable_values import VariableValue
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.accounting.accounting import METRIC_COLUMNS, METRIC_ROW, METRICS, Metrics
from tfprof.profiles.accounting.op_facts import InputShapes, OpFacts
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import Profile
from tfprof.views.code import CodeTree
from tfprof.views.ordering import known_cells

if TYPE_CHECKING:
    import graphviz


SELECT = "tensor_value"


def note_strange_values(profile: Profile, options: ProfileOptions, names: Sequence[str]) -> None:
    """Add a notice if values are selected, but no row, shown or not, is a variable with values."""
    source = profile.variable_values
    if options.classic or source is None or SELECT not in options.select:
        return
    profile.notices.set(
        "values-of-others",
        "no op has the name of a variable of the checkpoint, so there are no values to show; "
        "tfprof checkpoint lists its variables",
        count=int(set(source.names()).isdisjoint(names)),
    )


ViewKind = Literal["scope", "graph", "op", "code"]
Row = dict[str, int | str | None]

VIEWS: tuple[ViewKind, ...] = get_args(ViewKind)

COLUMNS = (
    Described("name", "string", "",
              "name of the node: an op, a scope, an op type or a line of code"),
    Described("depth", "number", "", "depth in the tree; the root has 0"),
    *METRIC_COLUMNS,
    *(
        replace(one, name=f"total_{one.name}", meaning=f"{one.meaning}, with all below")
        for one in METRIC_COLUMNS
    ),
    Described("total_definition_count", "number", "ops",
              "ops of the graph that it is made of; scope and graph view"),
)  # fmt: skip
"""What each of ``to_rows`` holds."""

Draw = Callable[["ViewTree", str | None, int | None], "graphviz.Digraph"]
"""Draws a view: the view, and the arguments of ``ViewTree.to_graphviz``."""


@dataclass(frozen=True, repr=False)
class ViewTree(NotebookMixin, ReadByDataFrames, DiffMixin):
    """A view: one row per shown node in display order, the root first.

    It can be used like its root: it has the ``name``, ``children``, ``to_rows()`` and metrics
    (``tree.total_exec_micros``) of a ``ViewNode``.

    Attributes:
        kind: Which view.
        options: The options it was made with.
        names: Name of each row, shape (n,).
        parent: Row of the parent, shape (n,); -1 for the root.
        own: Metrics of the row itself; ``METRIC_COLUMNS`` has their units. Each is computed when
            first read, from what the profile held when the view was built.
        total: Metrics of the row and all below it: its subtree (scope, graph, code), or
            itself and everything after it in the list (op).
        definitions: Number of ops defined in the row's subtree, shape (n,); scope and graph.
        accounted: Rows that match ``account_type_regexes``, shape (n,).
        op_rows: Row in the op table, shape (n,), or ``NO_OP`` for the root and for scopes that
            are not ops; scope and graph.
        member_offsets: Start of each row's ops in ``members``, shape (n + 1,); op and code.
        members: Ops that belong to the rows; op and code.
        op_metrics: Metrics of every op.
        facts: Types, device and input shapes of every op.
        profile: The profile, which may have grown since.
        counts: How often each op counts (op and code view).
        positions: Position of each row in ``code``, shape (n,); code view.
        code: All lines, shown or not; code view.
        is_empty: The profile has no ops for this view.
        n_idle: Number of rows that were left out because they never ran.
        draw: Draws the view.
    """

    kind: ViewKind
    options: ProfileOptions
    names: Sequence[str]
    parent: Int64Array
    own: Metrics
    total: Metrics
    definitions: Int64Array
    accounted: BoolArray
    op_rows: Int64Array
    member_offsets: Int64Array
    members: Int64Array
    op_metrics: Metrics
    facts: OpFacts
    profile: Profile
    is_empty: bool = False
    counts: Int64Array = field(default_factory=no_rows)
    positions: Int64Array = field(default_factory=no_rows)
    code: CodeTree | None = None
    n_idle: int = 0
    draw: Draw | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<ViewTree {self.kind}: {len(self)} rows>"

    @property
    def root(self) -> ViewNode:
        """The root."""
        return ViewNode(self, 0)

    @property
    def name(self) -> str:
        """Name of the root."""
        return self.names[0]

    @property
    def children(self) -> list[ViewNode]:
        """Top-level nodes."""
        return self.root.children

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Remarks on the data."""
        return self.profile.notices.as_tuple()

    @property
    def ops(self) -> OpTable:
        """The op table that ``op_rows`` and ``members`` point into."""
        return self.profile.ops

    @property
    def columns(self) -> dict[str, Int64Array]:
        """All metrics by name, own and ``total_``, each of shape (n,).

        Unknown numbers are 0, as in the messages of the original; ``to_rows`` has None.
        """
        columns = {name: self.own[row] for row, name in enumerate(METRICS)}
        columns |= {f"total_{name}": self.total[row] for row, name in enumerate(METRICS)}
        columns["total_definition_count"] = self.definitions
        return columns

    @cached_property
    def depth(self) -> Int64Array:
        """Number of shown ancestors of each row, shape (n,)."""
        steps = np.ones(len(self), np.int64)
        steps[0] = 0
        return Tree.from_parents(self.parent).path_sums(steps)

    def children_of(self, row: int) -> list[int]:
        """Rows of the shown children."""
        return self._children[row]

    @cached_property
    def _children(self) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in self.names]
        for child, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                lists[parent].append(child)
        return lists

    def members_of(self, row: int) -> Int64Array:
        """Op rows that belong to a row (op and code view), in byte order of their names."""
        return self.members[self.member_offsets[row] : self.member_offsets[row + 1]]

    def op_types(self, op_row: int) -> set[str]:
        """All types of an op."""
        return self.facts.types(op_row)

    def device(self, op_row: int) -> str:
        """Canonical device of an op, lower case; empty if none was seen."""
        return self.facts.device(op_row)

    @property
    def input_shapes(self) -> InputShapes:
        """Input shapes of every op."""
        return self.facts.input_shapes

    def __getattr__(self, name: str) -> int:
        # Only for metrics: Python finds all other attributes first.
        if name.removeprefix("total_") in {*METRIC_ROW, "definition_count"}:
            return int(getattr(self.root, name))
        raise AttributeError(f"a view has no attribute {name!r}")

    @property
    def shows_values(self) -> bool:
        """Whether it shows values of variables: they are selected and known, and rows are ops."""
        return (
            SELECT in self.options.select
            and self.kind in ("scope", "graph")
            and self.profile.variable_values is not None
        )

    def value_of(self, row: int) -> VariableValue | None:
        """The variable with the name of a row, or None; each is read once for each view.

        Raises:
            InputError: It cannot be read.
        """
        source = self.profile.variable_values
        if source is None:
            return None
        name = self.names[row]
        if name not in self._values:
            self._values[name] = source.value(name)
        return self._values[name]

    @cached_property
    def _values(self) -> dict[str, VariableValue | None]:
        return {}

    def to_rows(self) -> list[Row]:
        """All shown nodes as flat dicts: ``name``, ``depth``, and every metric.

        None is unknown: the profile does not hold it, or no float operations are known; in classic
        mode that is 0.

        If ``tensor_value`` is selected and there is a checkpoint, the scope and graph view have
        it, too: the first values of a variable as text, and how many more there are.

        Raises:
            InputError: Values cannot be read.
        """
        rows = self.root.to_rows()
        if self.shows_values:
            for place, row in enumerate(rows):
                value = self.value_of(place)
                row[SELECT] = "" if value is None else short_text(value)
        return rows

    def _kind_of(self, name: str) -> str:
        return "string" if name in ("name", SELECT) else "number"

    def to_graphviz(
        self, *, attribute: str | None = None, max_nodes: int | None = None
    ) -> graphviz.Digraph:
        """The view as a picture.

        Args:
            attribute: The metric for size and colour of nodes: ``micros``, ``bytes``, ``params``,
                ``float_ops`` …; by default the first of ``select`` that has a value.
            max_nodes: Nodes to draw, 50 by default; the lighter ones are counted in boxes.

        Raises:
            UsageError: It is an op view, which has no edges; or an argument is wrong.
            MissingDependencyError: The package ``graphviz`` is not installed.
        """
        assert self.draw is not None, "views of profilers can be drawn"
        return self.draw(self, attribute, max_nodes)


@dataclass(frozen=True, slots=True, repr=False)
class ViewNode:
    """One shown node; its metrics are attributes: ``node.total_exec_micros``."""

    tree: ViewTree
    row: int

    @property
    def name(self) -> str:
        """Full name of the node, scope, op type or code line."""
        return self.tree.names[self.row]

    @property
    def columns(self) -> dict[str, int]:
        """All metrics by name."""
        return {name: int(values[self.row]) for name, values in self.tree.columns.items()}

    @property
    def children(self) -> list[ViewNode]:
        """Shown children, in display order."""
        return [ViewNode(self.tree, row) for row in self.tree.children_of(self.row)]

    def __getattr__(self, name: str) -> int:
        tree = self.tree
        if name in METRIC_ROW:
            return int(tree.own[METRIC_ROW[name], self.row])
        if name == "total_definition_count":
            return int(tree.definitions[self.row])
        if name.startswith("total_") and name[6:] in METRIC_ROW:
            return int(tree.total[METRIC_ROW[name[6:]], self.row])
        raise AttributeError(f"a view node has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<ViewNode {self.name!r} of the {self.tree.kind} view>"

    def __iter__(self) -> Iterator[ViewNode]:
        return iter(self.children)

    def to_rows(self) -> list[Row]:
        """This node and all below it as flat dicts, in display order."""
        tree = self.tree
        depth = tree.depth
        end = self.row + 1
        while end < len(tree) and depth[end] > depth[self.row]:
            end += 1
        shown = slice(self.row, end)
        columns: dict[str, Sequence[object]] = {
            "name": tree.names[shown],
            "depth": (depth[shown] - depth[self.row]).tolist(),
        }
        known = known_cells(tree)
        for name, values in tree.columns.items():
            cells = zip(values[shown].tolist(), known[name][shown].tolist(), strict=True)
            columns[name] = [value if is_known else None for value, is_known in cells]
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


def view_kind(cmd: str) -> ViewKind:
    """The view that a command names.

    Raises:
        UsageError: There is none.
    """
    for kind in VIEWS:
        if cmd == kind:
            return kind
    raise UsageError(f"unknown cmd: {cmd!r}; use one of {', '.join(VIEWS)}")
