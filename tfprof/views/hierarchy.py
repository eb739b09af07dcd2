"""Account a tree of the scope, graph or code view, choose the shown rows, and lay them out.

The minimum bounds and the name filters are those of ``TFShow::ShouldShow``.

The original recurses node by node (``tfprof_scope.cc``, ``tfprof_graph.cc``, ``tfprof_code.cc``);
here each rule is one step over whole columns in preorder, so depth costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.tree import Tree, reorder_preorder
from tfprof.options.parse import ProfileOptions
from tfprof.options.regex import NameMatcher
from tfprof.profiles.accounting.accounting import METRIC_ROW, Metrics
from tfprof.profiles.accounting.op_facts import OpFacts
from tfprof.profiles.model.profile import Profile
from tfprof.views.ordering import (
    METRIC_OF_ORDER,
    OF_GRAPHS,
    NameRanks,
    idle_metrics,
    name_ranks,
    sort_keys,
)
from tfprof.views.spans import Groups


def within_bounds(
    options: ProfileOptions,
    positions: Int64Array,
    total: Metrics,
    counted: Metrics,
    occurrence: Int64Array | None,
) -> BoolArray:
    """Which of some nodes pass every ``min_*`` option.

    A negative bound on float operations has an effect in classic mode only: other modes do not
    count them for it.

    Args:
        options: The bounds.
        positions: The nodes to look at, shape (m,).
        total: Total metrics of every node.
        counted: Metrics that ``min_params`` and ``min_float_ops`` look at: own metrics in scope
            and graph view, totals in op and code view.
        occurrence: What ``min_occurrence`` looks at, shape (n,); None where it has no effect.

    Returns:
        Shape (m,).
    """
    passed = np.ones(len(positions), np.bool_)
    for option, metric in METRIC_OF_ORDER.items():
        metrics = counted if option in OF_GRAPHS else total
        minimum = options.minimum(option)
        certain = metrics.never_negative or (option == "float_ops" and not options.classic)
        if minimum > 0 or not certain:
            passed &= metrics[METRIC_ROW[metric]][positions] >= minimum
    if occurrence is not None:
        passed &= occurrence[positions] >= options.minimum("occurrence")
    return passed


def busy_nodes(options: ProfileOptions, numbers: Metrics) -> BoolArray:
    """Nodes that ran or have a shown number, shape (n,); all nodes without ``hides_idle``."""
    busy = np.full(numbers.shape[1], not options.hides_idle)
    if options.hides_idle:
        for row in idle_metrics(options):
            busy |= numbers[row] != 0
    return busy


def named_to_show(options: ProfileOptions, names: list[str], positions: Int64Array) -> BoolArray:
    """Positions of names that some show regex and no hide regex matches."""
    shown = names_mask(options.show, names, positions)
    return shown & ~names_mask(options.hide, names, positions)


def names_mask(matcher: NameMatcher, names: list[str], positions: Int64Array) -> BoolArray:
    """Which of the names at some positions a matcher takes, shape (len(positions),)."""
    if matcher.everything:
        return np.ones(len(positions), np.bool_)
    if not matcher.patterns:
        return np.zeros(len(positions), np.bool_)
    return matcher.mask(tree_walks.taken(names, positions))


_ROOT_DEPTH = 1


@dataclass(frozen=True, slots=True)
class Accounted:
    """A tree with its numbers; position 0 is the root.

    Attributes:
        tree: The tree.
        names: Name of each position, shape (n,).
        own: Own metrics of each position; 0 for the root.
        accounted: Positions that match ``account_type_regexes``, shape (n,).
        kept: Positions that are part of the accounted tree. Later rules ignore the others, whose
            kept descendants move up.
        contributes: Positions whose own metrics and definition go into totals.
        occurrence: Number of ops of a position for ordering, or None to order by name.
        ranks: Ranks of the names.
        is_by_name: Siblings are in byte order of their names.
    """

    tree: Tree
    names: list[str]
    own: Metrics
    accounted: BoolArray
    kept: BoolArray
    contributes: BoolArray
    occurrence: Int64Array | None
    ranks: NameRanks
    is_by_name: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """The shown part of an accounted tree, in display order.

    Attributes:
        positions: Position in the accounted tree, shape (m,); the root is first.
        parent: Row of the shown parent, shape (m,), -1 for the root.
        own: Own metrics of each row.
        total: Total metrics of each row.
        definitions: Number of definitions in the subtree, shape (m,).
        n_idle: How many positions were left out because they never ran.
    """

    positions: Int64Array
    parent: Int64Array
    own: Metrics
    total: Metrics
    definitions: Int64Array
    n_idle: int = 0


def show(data: Accounted, options: ProfileOptions, *, by_code_line: bool = False) -> Shown:
    """Apply start, trim, depth, bounds and name options.

    Args:
        data: The accounted tree.
        options: The options.
        by_code_line: Follow the code view's rules: a trimmed node goes with its subtree,
            bounds on parameters and float operations look at totals, and
            ``account_displayed_op_only`` has no effect.
    """
    tree = data.tree
    counted = data.contributes
    total = _totals(data, counted)
    candidate, depth = _reached(data, options, by_code_line)
    if by_code_line:
        passed = within_bounds(options, candidate, total, total, None)
    else:
        run_count = data.own[METRIC_ROW["run_count"]]
        passed = within_bounds(options, candidate, total, data.own, run_count)
    passed &= depth[candidate] <= options.max_depth
    passed &= named_to_show(options, data.names, candidate)
    busy = busy_nodes(options, total)[candidate]
    n_idle = int((passed & ~busy).sum())
    passed &= busy

    shown = np.zeros(len(tree), np.bool_)
    shown[candidate[passed]] = True
    shown[0] = True
    displayed_only = options.account_displayed_op_only and not by_code_line
    if displayed_only:
        displayed = shown & counted
        if (displayed != counted).any():
            counted = displayed
            total = _totals(data, counted)
    definitions = tree.subtree_counts(counted)
    definitions[0] += displayed_only  # the original counts the root itself here
    laid_out = _laid_out(data, options, shown, total, definitions)
    return replace(laid_out, n_idle=n_idle) if n_idle else laid_out


def _totals(data: Accounted, counted: BoolArray) -> Metrics:
    """Sums over subtrees of the own metrics where ``counted``."""
    tree = data.tree
    if counted[1:].all():  # the root has nothing of its own
        return data.own.map(tree.subtree_sums, len(tree))
    return data.own.map(lambda own: tree.subtree_sums(own * counted), len(tree))


def _reached(
    data: Accounted, options: ProfileOptions, by_code_line: bool
) -> tuple[Int64Array, Int64Array]:
    """Positions that can be displayed (without the root), and the depth of every position.

    Depth counts kept levels from the start node, which stands at depth 2.
    """
    tree, kept = data.tree, data.kept
    below_root = kept & ~_is_root(len(tree))
    level = tree.path_sums(below_root.astype(np.int64))
    if options.start.everything:
        reached = below_root
        depth = level + _ROOT_DEPTH
    else:
        matches = _matching(options.start, data.names, below_root)
        start = matches & ~tree.below(matches)
        base = tree.path_sums(np.where(start, level, 0))
        reached = below_root & (start | tree.below(start))
        depth = level - base + _ROOT_DEPTH + 1
    trimmed = _matching(options.trim, data.names, reached | _is_root(len(tree)))
    reached = reached & ~tree.below(trimmed)
    if by_code_line:
        reached &= ~trimmed
    return np.flatnonzero(reached), depth


def _laid_out(
    data: Accounted,
    options: ProfileOptions,
    shown: BoolArray,
    total: Metrics,
    definitions: Int64Array,
) -> Shown:
    """Hang shown nodes under their nearest shown ancestor and sort siblings."""
    tree = data.tree
    everything = bool(shown.all())
    positions = np.flatnonzero(shown)
    parent = tree.parent
    if not everything:
        ancestors = tree.nearest_marked_ancestor(shown)[positions]
        row_of = np.full(len(shown), -1, np.int64)
        row_of[positions] = np.arange(len(positions))
        parent = np.where(ancestors >= 0, row_of[ancestors], -1)
    own = data.own
    if everything and data.is_by_name and options.order_by == "name":
        return Shown(positions, parent, own, total, definitions)
    keys = sort_keys(options.order_by, positions, data.ranks, total, data.occurrence)
    order = reorder_preorder(parent, keys)
    if everything and bool((order[1:] > order[:-1]).all()):  # nothing moves
        return Shown(positions, parent, own, total, definitions)
    new_row = np.empty_like(order)
    new_row[order] = np.arange(len(order))
    moved = parent[order]
    rows = positions[order]
    return Shown(
        rows,
        np.where(moved >= 0, new_row[moved], -1),
        own.map(lambda column: column[rows], len(rows)),
        total.map(lambda column: column[rows], len(rows)),
        definitions[rows],
    )


def _is_root(size: int) -> BoolArray:
    root = np.zeros(size, np.bool_)
    root[0] = True
    return root


def _matching(matcher: NameMatcher, names: list[str], among: BoolArray) -> BoolArray:
    """Positions among some whose name a matcher takes."""
    matched = np.zeros(len(among), np.bool_)
    positions = np.flatnonzero(among)
    matched[positions] = names_mask(matcher, names, positions)
    return matched


@dataclass(frozen=True, slots=True)
class OpTypes:
    """All op types in byte order, and the ops of each."""

    names: list[str]
    groups: Groups


@dataclass(frozen=True, slots=True)
class ShownOpTypes:
    """The op types that are shown, in order.

    Attributes:
        groups: Index into ``OpTypes.names``, shape (m,).
        total: Metrics of the root, then of each type and everything after it.
        n_idle: How many types were left out because none of their ops ran.
    """

    groups: Int64Array
    total: Metrics
    n_idle: int


def build_op_types(profile: Profile, facts: OpFacts) -> OpTypes:
    """Sort the ops of a profile by type."""
    ops = profile.ops
    rows = ops.rows_by_name()
    type_ids = facts.type_ids[rows]
    distinct, keys = np.unique(type_ids, return_inverse=True)
    texts = [ops.strings[type_id] for type_id in distinct.tolist()]
    ranks = name_ranks(texts)
    return OpTypes(sorted(texts), Groups.from_keys(rows, ranks[keys.reshape(-1)], len(texts)))


def show_op_types(
    names: list[str],
    own: Metrics,
    occurrence: Int64Array,
    accounted: BoolArray,
    options: ProfileOptions,
) -> ShownOpTypes:
    """Order, account and filter op types.

    Totals are suffix sums of the ordered list: a type's total is its own plus that of every
    accounted type after it, and the bounds look at those totals.

    Args:
        names: Op types in byte order.
        own: Own metrics of each type.
        occurrence: Number of accounted ops of each type, shape (n,).
        accounted: Types that have accounted ops, shape (n,).
        options: The options.
    """
    everything = np.arange(len(names), dtype=np.int64)
    keys = sort_keys(options.order_by, everything, NameRanks(names), own, occurrence)
    order = np.argsort(keys, kind="stable")
    order = order[accounted[order]]
    busy = busy_nodes(options, own)[order]
    n_busy = int(busy.sum())
    order = np.concatenate([order[busy], order[~busy]])  # totals include hidden types
    total = own.map(lambda column: _suffix_sums(column[order]), len(order))

    listed = [names[group] for group in order.tolist()]
    restricts = options.values["start_name_regexes"] and not options.start.everything
    first = _first(options.start.mask(listed)) if restricts else 0
    stop = first + min(max(n_busy - first, 0), max(options.max_depth + 1, 0))
    stop = first + min(stop - first, _first(options.trim.mask(listed[first:stop])))
    walked = np.arange(first, stop)
    passed = within_bounds(options, walked, total, total, occurrence[order])
    passed &= named_to_show(options, listed, walked)
    shown = walked[passed]
    counted, rows = order, shown
    if options.account_displayed_op_only:
        counted, rows = order[shown], np.arange(len(shown))

    def with_root(column: Int64Array) -> Int64Array:
        sums = _suffix_sums(column[counted])
        return np.concatenate([sums[:1] if len(sums) else [0], sums[rows]])

    return ShownOpTypes(order[shown], own.map(with_root, len(shown) + 1), len(order) - n_busy)


def _first(mask: BoolArray) -> int:
    """Position of the first True, or the length."""
    places = np.flatnonzero(mask)
    return int(places[0]) if len(places) else len(mask)


def _suffix_sums(values: Int64Array) -> Int64Array:
    sums: Int64Array = np.cumsum(values[::-1])[::-1]
    return sums
