"""Op view: op types as a list (``tfprof_op.cc``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.accounting.accounting import Metrics
from tfprof.profiles.accounting.op_facts import OpFacts
from tfprof.profiles.model.profile import Profile
from tfprof.views.hierarchy import busy_nodes, named_to_show, within_bounds
from tfprof.views.ordering import NameRanks, name_ranks, sort_keys
from tfprof.views.spans import Groups


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
