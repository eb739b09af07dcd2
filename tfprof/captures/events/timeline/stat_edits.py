"""Stats with some values replaced: pure functions from a column to another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.captures.events.timeline.sources import place_type
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.core.columns.columns import Int64Array, narrowed


def without(stat: SparseStat, events: Int64Array) -> SparseStat:
    """A stat without its values at some events."""
    return stat.only(~np.isin(stat.events, events))


def copied(stat: SparseStat, targets: Int64Array, sources: Int64Array) -> SparseStat:
    """A stat with the values of source events at target events, which have none.

    Args:
        stat: The stat.
        targets: Events, shape (n,).
        sources: The event whose value each takes; sources without a value give none, shape (n,).
    """
    rows = stat.rows_of(sources)
    has = rows >= 0
    return _merged(stat, targets[has], stat.kinds[rows[has]], stat.values[rows[has]], stat.texts)


def with_texts(
    stat: SparseStat, events: Int64Array, texts: Sequence[str], which: Int64Array
) -> SparseStat:
    """A stat with a text at each of some events, which have no value.

    Args:
        stat: The stat.
        events: Events, shape (n,).
        texts: Texts.
        which: The place of each event's text among these, shape (n,).
    """
    known = list(stat.texts)
    numbers = {text: number for number, text in enumerate(known)}
    for text in texts:
        if text not in numbers:
            numbers[text] = len(known)
            known.append(text)
    place = np.array([numbers[text] for text in texts], np.int64)
    kinds = np.full(len(events), StatKind.STR, np.uint8)
    return _merged(stat, events, kinds, place[which], known)


def with_ids(
    stat: SparseStat, events: Int64Array, ids: Sequence[int], which: Int64Array
) -> SparseStat:
    """A stat with an unsigned number at each of some events, as in ``with_texts``."""
    values = np.array(ids, np.uint64).view(np.int64)
    kinds = np.full(len(events), StatKind.UINT64, np.uint8)
    return _merged(stat, events, kinds, values[which], stat.texts)


def _merged(
    stat: SparseStat,
    events: Int64Array,
    kinds: np.ndarray[tuple[int], np.dtype[np.uint8]],
    values: Int64Array,
    texts: list[str],
) -> SparseStat:
    at = np.concatenate([stat.events, events])
    order = np.argsort(at, kind="stable")
    return SparseStat(
        at[order].astype(place_type(int(at.max(initial=0)) + 1)),
        np.concatenate([stat.kinds, kinds])[order],
        narrowed(np.concatenate([stat.values, values])[order]),
        texts,
    )
