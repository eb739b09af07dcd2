"""``ViewBuilder``: from a profile and options to a ``ViewTree``; the trees of its ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.tree import Tree
from tfprof.core.text import how_to_capture
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.accounting.accounting import (
    METRIC_ROW,
    FloatOpsLater,
    Metrics,
    op_metrics,
)
from tfprof.profiles.accounting.op_facts import OpFacts
from tfprof.profiles.model.executions import NO_OP
from tfprof.profiles.model.profile import Profile
from tfprof.views.code import CodeTree, build_code_tree
from tfprof.views.hierarchy import Accounted, OpTypes, build_op_types, show, show_op_types
from tfprof.views.ordering import NameRanks, settled
from tfprof.views.result import Draw, ViewKind, ViewTree, note_strange_values
from tfprof.views.roots import GRAPH_ROOT_TYPE, ROOT_NAME, SCOPE_PARENT_TYPE
from tfprof.views.spans import Groups


@dataclass(frozen=True, slots=True)
class OpTree:
    """A tree whose positions are ops, or scopes that are not ops.

    Attributes:
        tree: The tree; position 0 is the root.
        names: Full name of each position.
        op_rows: Op row of each position, ``NO_OP`` for the root and for plain scopes.
        ranks: Ranks of the names.
    """

    tree: Tree
    names: list[str]
    op_rows: Int64Array
    ranks: NameRanks


def build_scope_tree(profile: Profile) -> OpTree:
    """Every op, and a parent for every prefix that ends before a ``/`` and is not an op itself.

    Names are taken literally: ``/x`` has the parent with the empty name, ``p//q`` the parents
    ``p/`` and ``p``. Siblings are in byte order.
    """
    ops = profile.ops
    names = tree_walks.taken(ops.names.values, ops.name_ids.array)
    tree_names, parent, op_rows = tree_walks.scopes(names, ROOT_NAME)
    return OpTree(Tree.from_parents(parent), tree_names, op_rows, NameRanks(tree_names))


def build_graph_tree(profile: Profile, *, classic: bool) -> OpTree:
    """Depth-first tree along the inputs, from the ops that no other op consumes.

    Args:
        profile: The profile.
        classic: Leave out what no such op leads to (pure cycles), as the original does.
            Otherwise the first op of each such component, in byte order, is taken as its top.
    """
    ops = profile.ops
    offsets, producers = ops.input_offsets(), ops.input_rows()
    names = tree_walks.taken(ops.names.values, ops.name_ids.array)
    consumed = np.zeros(len(ops), np.bool_)
    consumed[producers[producers >= 0]] = True
    tops = _by_name(names, ~consumed)
    order, parent = tree_walks.depth_first(offsets, producers, tops)
    if len(order) < len(ops) and not classic:
        missed = np.ones(len(ops), np.bool_)
        missed[order] = False
        tops = np.concatenate([tops, _by_name(names, missed)])
        order, parent = tree_walks.depth_first(offsets, producers, tops)
    tree_names = [ROOT_NAME, *tree_walks.taken(names, order)]
    op_rows = np.concatenate([[NO_OP], order])
    return OpTree(Tree.from_parents(parent), tree_names, op_rows, NameRanks(tree_names))


def _by_name(names: list[str], chosen: BoolArray) -> Int64Array:
    """Some rows in byte order of their names."""
    rows = np.flatnonzero(chosen)
    sorted_rows: Int64Array = rows[tree_walks.name_order(tree_walks.taken(names, rows))]
    return sorted_rows


Structure = OpTree | OpTypes | CodeTree

_PARAMETERS = METRIC_ROW["parameters"]


@dataclass(frozen=True, slots=True)
class _Question:
    """A view to build, its options without any ``auto``, and the data of the ops."""

    kind: ViewKind
    options: ProfileOptions
    metrics: Metrics
    facts: OpFacts

    def times_accounted(self) -> Int64Array:
        """How often each op counts: the original counts an op once per regex that matches."""
        counts = self.facts.match_counts(self.options.account)
        return counts if self.options.classic else np.minimum(counts, 1)


class ViewBuilder:
    """Builds views of one profile and caches all parts that do not depend on the options.

    Args:
        profile: The profile, which may grow between calls.
        draw: Draws views.
    """

    def __init__(self, profile: Profile, draw: Draw | None = None) -> None:
        self._profile = profile
        self._draw = draw
        self._kept_facts: tuple[tuple[int, bool], OpFacts] | None = None
        self._structures: dict[ViewKind, tuple[tuple[int, ...], Structure]] = {}

    def build(
        self, kind: ViewKind, options: ProfileOptions, *, later: FloatOpsLater | None = None
    ) -> ViewTree:
        """Compute a view.

        Args:
            kind: Which one.
            options: The options.
            later: As for ``op_metrics``. Without it, the table of ops must hold the float
                operations, as far as the view shows them.

        Raises:
            UsageError: The step was never added.
            EmptyProfileError: The code view has no call stacks to show.
        """
        profile = self._profile
        # First, as in the original, where even a refused query fixes the structure.
        structure = self.structure(kind, classic=options.classic)
        if options.step >= 0 and options.step not in profile.steps.records:
            steps = " ".join(map(str, profile.steps.steps)) or "none"
            raise UsageError(f"step {options.step} was not added; available steps: {steps}")
        metrics = op_metrics(
            profile,
            options.step,
            classic=options.classic,
            static_float_ops=options.static_float_ops,
            later=later,
        )
        options = settled(options, profile, metrics)
        if "params" in options.select:
            metrics[_PARAMETERS]  # computed now, as this may add a notice
        question = _Question(kind, options, metrics, self._facts(options.classic))
        if isinstance(structure, OpTypes):
            return self._op(structure, question)
        if isinstance(structure, CodeTree):
            if not profile.has_traces:
                raise EmptyProfileError(
                    "the code view needs call stacks, and this profile has none: give a live "
                    "graph, an op log written with add_trace=True, or "
                    f"{how_to_capture.STACKS}"
                )
            return self._code(structure, question)
        note_strange_values(profile, options, structure.names)
        return self._tree_of_ops(structure, question)

    def structure(self, kind: ViewKind, *, classic: bool) -> Structure:
        """The part of a view that does not depend on options, made once per state of the profile.

        The original drops its structures only when a graph brings new ops, so ops from other
        sources never show in a view that was used before. Classic mode does the same.
        """
        profile = self._profile
        state: tuple[int, ...] = (profile.graph_version,)
        if not classic:
            state += (len(profile.ops), profile.trace_version)
        kept = self._structures.get(kind)
        if kept is None or kept[0] != state:
            kept = self._structures[kind] = (state, self._make_structure(kind, classic))
        return kept[1]

    def _make_structure(self, kind: ViewKind, classic: bool) -> Structure:
        if kind == "scope":
            return build_scope_tree(self._profile)
        if kind == "graph":
            return build_graph_tree(self._profile, classic=classic)
        if kind == "op":
            return build_op_types(self._profile, self._facts(classic))
        return build_code_tree(self._profile)

    def _facts(self, classic: bool) -> OpFacts:
        state = (self._profile.version, classic)
        if self._kept_facts is None or self._kept_facts[0] != state:
            self._kept_facts = (state, OpFacts.from_profile(self._profile, classic=classic))
        return self._kept_facts[1]

    def _tree_of_ops(self, tree: OpTree, question: _Question) -> ViewTree:
        """Scope or graph view."""
        options = question.options
        data = _accounted_tree(tree, question)
        shown = show(data, options)
        size = len(shown.positions)
        return self._view(
            question,
            names=tree_walks.taken(tree.names, shown.positions),
            parent=shown.parent,
            own=shown.own,
            total=shown.total,
            definitions=shown.definitions,
            accounted=data.accounted[shown.positions],
            op_rows=tree.op_rows[shown.positions],
            member_offsets=np.zeros(size + 1, np.int64),
            members=np.zeros(0, np.int64),
            n_idle=shown.n_idle,
        )

    def _op(self, types: OpTypes, question: _Question) -> ViewTree:
        counts = question.times_accounted()
        groups = types.groups.only(counts)
        own = question.metrics.map(lambda column: groups.sums(column, counts), len(types.names))
        accounted = (groups.sizes > 0) | question.options.account_everything
        shown = show_op_types(types.names, own, groups.sizes, accounted, question.options)
        size = len(shown.groups) + 1
        return self._view(
            question,
            **_of_groups(groups.take(shown.groups), accounted[shown.groups]),
            names=[ROOT_NAME, *(types.names[group] for group in shown.groups.tolist())],
            parent=np.arange(-1, size - 1, dtype=np.int64),
            own=own.map(lambda column: np.concatenate([[0], column[shown.groups]]), size),
            total=shown.total,
            n_idle=shown.n_idle,
            counts=counts,
            is_empty=not types.names,
        )

    def _code(self, tree: CodeTree, question: _Question) -> ViewTree:
        self._profile.notices.set(
            "gradient-without-forward",
            "gradient ops were left out of the code view: their forward op has no call stack",
            tree.dropped_gradients,
        )
        counts = question.times_accounted()
        groups = tree.groups.only(counts)
        own = question.metrics.map(lambda column: groups.sums(column, counts), len(tree.names))
        accounted = (groups.sizes > 0) | question.options.account_everything
        accounted[0] = False
        kept = tree.tree.subtree_counts(accounted) > 0
        data = Accounted(
            tree.tree, tree.names, own, accounted, kept, kept, groups.sizes, tree.ranks
        )
        shown = show(data, question.options, by_code_line=True)
        below_root = shown.positions[1:]
        return self._view(
            question,
            **_of_groups(groups.take(below_root), accounted[below_root]),
            names=tree_walks.taken(tree.names, shown.positions),
            parent=shown.parent,
            own=shown.own,  # no op is the root's: its own numbers are 0
            total=shown.total,
            n_idle=shown.n_idle,
            counts=counts,
            positions=shown.positions,
            code=tree,
        )

    def _view(self, question: _Question, **columns: Any) -> ViewTree:
        return ViewTree(
            kind=question.kind,
            options=question.options,
            op_metrics=question.metrics,
            facts=question.facts,
            profile=self._profile,
            draw=self._draw,
            **columns,
        )


def _of_groups(groups: Groups, accounted: BoolArray) -> dict[str, Any]:
    """Columns of a view of groups of ops; both arguments are of the rows below the root."""
    size = len(accounted) + 1
    return {
        "definitions": np.zeros(size, np.int64),
        "accounted": np.concatenate([[False], accounted]),
        "op_rows": np.full(size, NO_OP, np.int64),
        "member_offsets": np.concatenate([[0], groups.offsets]),
        "members": groups.rows,
    }


def _accounted_tree(tree: OpTree, question: _Question) -> Accounted:
    """The tree with the numbers of its ops, and which positions count."""
    options = question.options
    is_scope = question.kind == "scope"
    counts = question.facts.match_counts(options.account)
    type_of_rest = SCOPE_PARENT_TYPE if is_scope else GRAPH_ROOT_TYPE
    rest = any(pattern.matches(type_of_rest) for pattern in options.account)
    accounted = np.append(counts > 0, rest)[tree.op_rows]  # NO_OP picks the last
    accounted[0] = False
    kept = contributes = accounted
    if is_scope:
        kept = tree.tree.subtree_counts(accounted) > 0
        # The original lets a scope that is a real but unaccounted op add its own numbers when
        # something below it is accounted.
        contributes = kept if options.classic else kept & (accounted | (tree.op_rows == NO_OP))
    contributes = contributes.copy()
    contributes[0] = False
    only_some = not options.classic and not accounted[1:].all()

    def own(column: Int64Array) -> Int64Array:
        numbers: Int64Array = np.append(column, 0)[tree.op_rows]  # NO_OP picks the last
        return numbers * accounted if only_some else numbers

    of_tree = question.metrics.map(own, len(tree.tree))
    return Accounted(
        tree.tree,
        tree.names,
        of_tree,
        accounted,
        kept,
        contributes,
        occurrence=None,
        ranks=tree.ranks,
        is_by_name=is_scope,
    )
