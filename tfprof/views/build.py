"""``ViewBuilder``: from a profile and options to a ``ViewTree``."""

from __future__ import annotations

import numpy as np

from tfprof.analysis.accounting import METRICS, op_metrics
from tfprof.analysis.op_facts import OpFacts
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.profile import Profile
from tfprof.options.parse import ProfileOptions
from tfprof.views.code import CodeTree, build_code_tree
from tfprof.views.graph import build_graph_tree
from tfprof.views.hierarchy import Accounted, show
from tfprof.views.members import Groups
from tfprof.views.op import OpTypes, build_op_types, show_op_types
from tfprof.views.result import (
    GRAPH_ROOT_TYPE,
    NO_OP,
    ROOT_NAME,
    SCOPE_PARENT_TYPE,
    ViewKind,
    ViewTree,
)
from tfprof.views.scope import OpTree, build_scope_tree

Structure = OpTree | OpTypes | CodeTree

_NO_ROWS = np.zeros(0, np.int64)


class ViewBuilder:
    """Builds views of one profile and keeps what does not depend on the options.

    Args:
        profile: The profile, which may grow between calls.
        tree_class: Class of the views; layers above add ways to show them.
    """

    def __init__(self, profile: Profile, tree_class: type[ViewTree] = ViewTree) -> None:
        self._profile = profile
        self._tree_class = tree_class
        self._kept_facts: tuple[tuple[int, bool], OpFacts] | None = None
        self._structures: dict[ViewKind, tuple[tuple[int, ...], Structure]] = {}

    def build(self, kind: ViewKind, options: ProfileOptions) -> ViewTree:
        """Compute a view.

        Raises:
            UsageError: The step was never added.
            EmptyProfileError: The code view has no call stacks to show.
        """
        profile = self._profile
        # First of all, as in the original, where a refused query fixes the structure, too.
        structure = self.structure(kind, classic=options.classic)
        if options.step >= 0 and options.step not in profile.steps.records:
            steps = " ".join(map(str, profile.steps.steps)) or "none"
            raise UsageError(f"step {options.step} was not added; available steps: {steps}")
        if isinstance(structure, OpTypes):
            return self._op(structure, options)
        if isinstance(structure, CodeTree):
            if not profile.has_traces:
                raise EmptyProfileError(
                    "the code view needs call stacks, and this profile has none: give a live "
                    "graph, or an op log written with add_trace=True"
                )
            return self._code(structure, options)
        return (
            self._scope(structure, options)
            if kind == "scope"
            else (self._graph(structure, options))
        )

    def structure(self, kind: ViewKind, *, classic: bool) -> Structure:
        """What does not depend on the options, made once per state of the profile.

        The original drops its structures only when a graph brings new ops: what arrives later
        by other ways never shows in a view that was used before. Classic mode does the same.
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
        """The facts of the ops, taken anew when the profile has changed."""
        state = (self._profile.version, classic)
        if self._kept_facts is None or self._kept_facts[0] != state:
            self._kept_facts = (state, OpFacts.from_profile(self._profile, classic=classic))
        return self._kept_facts[1]

    def _metrics(self, options: ProfileOptions) -> Int64Array:
        return op_metrics(
            self._profile,
            options.step,
            classic=options.classic,
            static_float_ops=options.static_float_ops,
        )

    def _scope(self, tree: OpTree, options: ProfileOptions) -> ViewTree:
        is_scope = tree.op_rows == NO_OP
        accounted = self._accounted(options, tree, SCOPE_PARENT_TYPE)
        kept = tree.tree.subtree_counts(accounted) > 0
        # The original lets a scope that is a real but unaccounted op add its own numbers when
        # something below it is accounted.
        contributes = kept if options.classic else kept & (accounted | is_scope)
        return self._hierarchy("scope", options, tree, accounted, kept, contributes)

    def _graph(self, tree: OpTree, options: ProfileOptions) -> ViewTree:
        accounted = self._accounted(options, tree, GRAPH_ROOT_TYPE)
        return self._hierarchy("graph", options, tree, accounted, accounted, accounted)

    def _accounted(self, options: ProfileOptions, tree: OpTree, type_of_rest: str) -> BoolArray:
        """Positions that match ``account_type_regexes``; the root never does."""
        counts = self._facts(options.classic).match_counts(options.account)
        rest = any(pattern.matches(type_of_rest) for pattern in options.account)
        accounted = np.append(counts > 0, rest)[tree.op_rows]  # NO_OP picks the last
        accounted[0] = False
        return accounted

    def _hierarchy(
        self,
        kind: ViewKind,
        options: ProfileOptions,
        tree: OpTree,
        accounted: BoolArray,
        kept: BoolArray,
        contributes: BoolArray,
    ) -> ViewTree:
        metrics = self._metrics(options)
        own = np.zeros((len(METRICS), len(tree.op_rows)), np.int64)
        if metrics.size:
            np.take(metrics, tree.op_rows, axis=1, out=own, mode="wrap")
            own[:, tree.op_rows == NO_OP] = 0
        if not options.classic and not accounted[1:].all():
            own *= accounted
        contributes = contributes.copy()
        contributes[0] = False
        data = Accounted(tree.tree, tree.names, own, accounted, kept, contributes, None)
        shown = show(data, options)
        return self._tree_class(
            kind=kind,
            options=options,
            names=[tree.names[position] for position in shown.positions.tolist()],
            parent=shown.parent,
            own=shown.own,
            total=shown.total,
            definitions=shown.definitions,
            accounted=accounted[shown.positions],
            op_rows=tree.op_rows[shown.positions],
            member_offsets=np.zeros(len(shown.positions) + 1, np.int64),
            members=_NO_ROWS,
            op_metrics=metrics,
            facts=self._facts(options.classic),
            profile=self._profile,
        )

    def _counts(self, options: ProfileOptions) -> Int64Array:
        """How often each op counts: the original counts an op once per regex that matches."""
        counts = self._facts(options.classic).match_counts(options.account)
        return counts if options.classic else np.minimum(counts, 1)

    def _op(self, types: OpTypes, options: ProfileOptions) -> ViewTree:
        counts = self._counts(options)
        groups = types.groups.only(counts)
        metrics = self._metrics(options)
        own = groups.sums(metrics, counts)
        accounted = (groups.sizes > 0) | options.account_everything
        shown = show_op_types(types.names, own, groups.sizes, accounted, options)
        return self._grouped(
            "op",
            options,
            names=[types.names[group] for group in shown.groups.tolist()],
            parent=np.arange(-1, len(shown.groups), dtype=np.int64),
            own=own[:, shown.groups],
            total=np.concatenate([shown.root_total[:, None], shown.total], axis=1),
            accounted=accounted[shown.groups],
            groups=groups.take(shown.groups),
            metrics=metrics,
            counts=counts,
            is_empty=not types.names,
        )

    def _code(self, tree: CodeTree, options: ProfileOptions) -> ViewTree:
        self._profile.notices.set(
            "gradient-without-forward",
            "gradient ops were left out of the code view: their forward op has no call stack",
            tree.dropped_gradients,
        )
        counts = self._counts(options)
        groups = tree.groups.only(counts)
        metrics = self._metrics(options)
        own = groups.sums(metrics, counts)
        accounted = (groups.sizes > 0) | options.account_everything
        accounted[0] = False
        kept = tree.tree.subtree_counts(accounted) > 0
        data = Accounted(tree.tree, tree.names, own, accounted, kept, kept, groups.sizes)
        shown = show(data, options, by_code_line=True)
        below_root = shown.positions[1:]
        return self._grouped(
            "code",
            options,
            names=[tree.names[position] for position in below_root.tolist()],
            parent=shown.parent,
            own=shown.own[:, 1:],
            total=shown.total,
            accounted=accounted[below_root],
            groups=groups.take(below_root),
            metrics=metrics,
            counts=counts,
            positions=shown.positions,
            code=tree,
        )

    def _grouped(
        self,
        kind: ViewKind,
        options: ProfileOptions,
        *,
        names: list[str],
        parent: Int64Array,
        own: Int64Array,
        total: Int64Array,
        accounted: BoolArray,
        groups: Groups,
        metrics: Int64Array,
        counts: Int64Array,
        is_empty: bool = False,
        positions: Int64Array = _NO_ROWS,
        code: CodeTree | None = None,
    ) -> ViewTree:
        """A view of groups of ops; everything but ``parent`` and ``total`` lacks the root."""
        size = len(names) + 1
        return self._tree_class(
            kind=kind,
            options=options,
            names=[ROOT_NAME, *names],
            parent=parent,
            own=np.concatenate([np.zeros((len(METRICS), 1), np.int64), own], axis=1),
            total=total,
            definitions=np.zeros(size, np.int64),
            accounted=np.concatenate([[False], accounted]),
            op_rows=np.full(size, NO_OP, np.int64),
            member_offsets=np.concatenate([[0], groups.offsets]),
            members=groups.rows,
            op_metrics=metrics,
            facts=self._facts(options.classic),
            profile=self._profile,
            is_empty=is_empty,
            counts=counts,
            positions=positions,
            code=code,
        )
