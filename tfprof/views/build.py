"""``ViewBuilder``: from a profile and options to a ``ViewTree``."""

from __future__ import annotations

from itertools import count
from weakref import ref

import numpy as np

from tfprof.columns import tree_walks
from tfprof.columns.columns import BoolArray, Int64Array
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.accounting.accounting import METRIC_ROW, FlopCounter, Metrics, op_metrics
from tfprof.profiles.accounting.op_facts import OpFacts
from tfprof.profiles.model.profile import Profile
from tfprof.views.code import CodeTree, build_code_tree
from tfprof.views.defaults import settled
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
from tfprof.views.variable_values import note_strange_values

Structure = OpTree | OpTypes | CodeTree

_NO_ROWS = np.zeros(0, np.int64)
_PARAMETERS = METRIC_ROW["parameters"]
_FLOAT_OPS = METRIC_ROW["float_ops"]


class ViewBuilder:
    """Builds views of one profile and keeps what does not depend on the options.

    Args:
        profile: The profile, which may grow between calls.
        tree_class: Class of the views; layers above add ways to show them.
        counter: Counts the float operations when a view needs them. Without it, they are those
            that the profile holds when the view is built.
    """

    def __init__(
        self,
        profile: Profile,
        tree_class: type[ViewTree] = ViewTree,
        counter: FlopCounter | None = None,
    ) -> None:
        self._profile = profile
        self._tree_class = tree_class
        self._counter = counter
        self._uncounted: dict[int, ref[Metrics]] = {}
        self._numbers = count()
        self._kept_facts: tuple[tuple[int, bool], OpFacts] | None = None
        self._structures: dict[ViewKind, tuple[tuple[int, ...], Structure]] = {}

    def settle(self) -> None:
        """Count the float operations of the views that are still held, before they change."""
        # Other threads may drop views meanwhile: what is single here does not depend on the rest.
        while self._uncounted:
            try:
                _, held = self._uncounted.popitem()
            except KeyError:  # the last one was dropped right now
                return
            metrics = held()
            if metrics is not None:
                metrics[_FLOAT_OPS]

    def _count_later(self, metrics: Metrics) -> None:
        waiting, number = self._uncounted, next(self._numbers)
        waiting[number] = ref(metrics, lambda _: waiting.pop(number, None))

    def build(
        self, kind: ViewKind, options: ProfileOptions, *, with_float_ops: bool = True
    ) -> ViewTree:
        """Compute a view.

        Args:
            kind: Which one.
            options: The options.
            with_float_ops: Count float operations, at the latest when somebody reads them.

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
        metrics = self._metrics(options, with_float_ops)
        options = settled(options, profile, metrics)
        self._read_what_has_notices(options, metrics)
        if isinstance(structure, OpTypes):
            return self._op(structure, options, metrics)
        if isinstance(structure, CodeTree):
            if not profile.has_traces:
                raise EmptyProfileError(
                    "the code view needs call stacks, and this profile has none: give a live "
                    "graph, an op log written with add_trace=True, or a capture with the Python "
                    "tracer (docs/captures.md says how)"
                )
            return self._code(structure, options, metrics)
        note_strange_values(profile, options, structure.names)
        if kind == "scope":
            return self._scope(structure, options, metrics)
        return self._graph(structure, options, metrics)

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

    def _metrics(self, options: ProfileOptions, with_float_ops: bool) -> Metrics:
        counter = self._counter if with_float_ops and not options.classic else None
        metrics = op_metrics(
            self._profile,
            options.step,
            classic=options.classic,
            static_float_ops=options.static_float_ops,
            counter=counter,
        )
        if counter is not None:
            self._count_later(metrics)
        return metrics

    @staticmethod
    def _read_what_has_notices(options: ProfileOptions, metrics: Metrics) -> None:
        """Whoever shows these also wants to know what the notices say of them."""
        if "params" in options.select:
            metrics[_PARAMETERS]
        if "float_ops" in options.select:
            metrics[_FLOAT_OPS]

    def _scope(self, tree: OpTree, options: ProfileOptions, metrics: Metrics) -> ViewTree:
        is_scope = tree.op_rows == NO_OP
        accounted = self._accounted(options, tree, SCOPE_PARENT_TYPE)
        kept = tree.tree.subtree_counts(accounted) > 0
        # The original lets a scope that is a real but unaccounted op add its own numbers when
        # something below it is accounted.
        contributes = kept if options.classic else kept & (accounted | is_scope)
        data = self._accounted_tree(options, tree, metrics, (accounted, kept, contributes))
        return self._hierarchy("scope", options, data, tree, metrics)

    def _graph(self, tree: OpTree, options: ProfileOptions, metrics: Metrics) -> ViewTree:
        accounted = self._accounted(options, tree, GRAPH_ROOT_TYPE)
        data = self._accounted_tree(options, tree, metrics, (accounted, accounted, accounted))
        return self._hierarchy("graph", options, data, tree, metrics)

    def _accounted(self, options: ProfileOptions, tree: OpTree, type_of_rest: str) -> BoolArray:
        """Positions that match ``account_type_regexes``; the root never does."""
        counts = self._facts(options.classic).match_counts(options.account)
        rest = any(pattern.matches(type_of_rest) for pattern in options.account)
        accounted = np.append(counts > 0, rest)[tree.op_rows]  # NO_OP picks the last
        accounted[0] = False
        return accounted

    @staticmethod
    def _accounted_tree(
        options: ProfileOptions,
        tree: OpTree,
        metrics: Metrics,
        marks: tuple[BoolArray, BoolArray, BoolArray],
    ) -> Accounted:
        """The tree with the numbers of its ops.

        Args:
            options: The options.
            tree: The tree.
            metrics: Metrics of the ops.
            marks: Positions that are accounted, kept and that contribute.
        """
        accounted, kept, contributes = marks
        only_some = not options.classic and not accounted[1:].all()

        def own(column: Int64Array) -> Int64Array:
            numbers: Int64Array = np.append(column, 0)[tree.op_rows]  # NO_OP picks the last
            return numbers * accounted if only_some else numbers

        contributes = contributes.copy()
        contributes[0] = False
        of_tree = metrics.map(own, len(tree.tree))
        return Accounted(tree.tree, tree.names, of_tree, accounted, kept, contributes, None)

    def _hierarchy(
        self,
        kind: ViewKind,
        options: ProfileOptions,
        data: Accounted,
        tree: OpTree,
        metrics: Metrics,
    ) -> ViewTree:
        shown = show(data, options)
        return self._tree_class(
            kind=kind,
            options=options,
            names=tree_walks.taken(tree.names, shown.positions),
            parent=shown.parent,
            own=shown.own,
            total=shown.total,
            definitions=shown.definitions,
            accounted=data.accounted[shown.positions],
            op_rows=tree.op_rows[shown.positions],
            member_offsets=np.zeros(len(shown.positions) + 1, np.int64),
            members=_NO_ROWS,
            op_metrics=metrics,
            facts=self._facts(options.classic),
            profile=self._profile,
            n_idle=shown.n_idle,
        )

    def _counts(self, options: ProfileOptions) -> Int64Array:
        """How often each op counts: the original counts an op once per regex that matches."""
        counts = self._facts(options.classic).match_counts(options.account)
        return counts if options.classic else np.minimum(counts, 1)

    def _op(self, types: OpTypes, options: ProfileOptions, metrics: Metrics) -> ViewTree:
        counts = self._counts(options)
        groups = types.groups.only(counts)
        own = metrics.map(lambda column: groups.sums(column, counts), len(types.names))
        accounted = (groups.sizes > 0) | options.account_everything
        shown = show_op_types(types.names, own, groups.sizes, accounted, options)
        size = len(shown.groups) + 1
        return self._grouped(
            "op",
            options,
            names=[ROOT_NAME, *(types.names[group] for group in shown.groups.tolist())],
            parent=np.arange(-1, size - 1, dtype=np.int64),
            own=own.map(lambda column: np.concatenate([[0], column[shown.groups]]), size),
            total=shown.total,
            accounted=accounted[shown.groups],
            groups=groups.take(shown.groups),
            metrics=metrics,
            counts=counts,
            is_empty=not types.names,
            n_idle=shown.n_idle,
        )

    def _code(self, tree: CodeTree, options: ProfileOptions, metrics: Metrics) -> ViewTree:
        self._profile.notices.set(
            "gradient-without-forward",
            "gradient ops were left out of the code view: their forward op has no call stack",
            tree.dropped_gradients,
        )
        counts = self._counts(options)
        groups = tree.groups.only(counts)
        own = metrics.map(lambda column: groups.sums(column, counts), len(tree.names))
        accounted = (groups.sizes > 0) | options.account_everything
        accounted[0] = False
        kept = tree.tree.subtree_counts(accounted) > 0
        data = Accounted(tree.tree, tree.names, own, accounted, kept, kept, groups.sizes)
        shown = show(data, options, by_code_line=True)
        below_root = shown.positions[1:]
        return self._grouped(
            "code",
            options,
            names=tree_walks.taken(tree.names, shown.positions),
            parent=shown.parent,
            own=shown.own,  # no op is the root's
            total=shown.total,
            accounted=accounted[below_root],
            groups=groups.take(below_root),
            metrics=metrics,
            counts=counts,
            positions=shown.positions,
            code=tree,
            n_idle=shown.n_idle,
        )

    def _grouped(
        self,
        kind: ViewKind,
        options: ProfileOptions,
        *,
        names: list[str],
        parent: Int64Array,
        own: Metrics,
        total: Metrics,
        accounted: BoolArray,
        groups: Groups,
        metrics: Metrics,
        counts: Int64Array,
        is_empty: bool = False,
        positions: Int64Array = _NO_ROWS,
        code: CodeTree | None = None,
        n_idle: int = 0,
    ) -> ViewTree:
        """A view of groups of ops; ``accounted`` and ``groups`` lack the root."""
        size = len(names)
        return self._tree_class(
            kind=kind,
            options=options,
            names=names,
            parent=parent,
            own=own,
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
            n_idle=n_idle,
        )
