"""Finds the events that a search is about: all of them in order of time, and a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tfprof.captures.trace.model import TraceModel, TraceTrack, Wanted
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.text.matching import compiled, matched
from tfprof.errors import UsageError
from tfprof.ui.pages.trace.packing import packed
from tfprof.ui.pages.trace.spent import listed_events
from tfprof.ui.pages.trace.terms import Terms, terms_of

MOST_MARKED: Final = 200_000
"""Most events to mark in the picture and to go to one after the other: the first."""

MOST_READ: Final = 300_000
"""Most events whose arguments a search reads."""


def search(model: TraceModel, text: str, *, regex: bool = False) -> dict[str, Any]:
    """The events that have all that a search names, as plain data.

    Args:
        model: The trace.
        text: The search, as ``terms_of`` reads it.
        regex: Texts in names are regular expressions.

    Returns:
        As ``found_events``.

    Raises:
        UsageError: A term or a regular expression is wrong, or takes too long.
    """
    terms = terms_of(text)
    wanted = _wanted_names(model, terms.names, regex=regex)
    chosen = {
        number: places
        for number, track in enumerate(model.tracks)
        if len(places := _of_track(model, track, terms, wanted))
    }
    if terms.arguments:
        chosen = _with_arguments(model, chosen, terms)
    return found_events(model, chosen)


def found_events(model: TraceModel, chosen: dict[int, Int64Array]) -> dict[str, Any]:
    """Events as plain data.

    Args:
        model: The trace.
        chosen: Their places, by the number of their track.

    Returns:
        ``n_events``; ``n_names`` that they have; ``n_marked`` of them, the first in order of time,
        with the columns ``tracks``, ``places``, ``lanes`` and ``gaps`` of them: each start less
        the one before; and ``table``, the longest of them.
    """
    tracks = _joined(np.full(len(places), number) for number, places in chosen.items())
    places = _joined(chosen.values())
    starts, _ = model.times_of(tracks, places)
    is_named = np.zeros(len(model.names), np.bool_)
    for number, own in chosen.items():
        is_named[model.tracks[number].names_of(own)] = True
    marked = _first(starts, MOST_MARKED)
    order = marked[np.lexsort((places[marked], tracks[marked], starts[marked]))][:MOST_MARKED]
    return {
        "n_events": len(places),
        "n_names": int(is_named.sum()),
        "n_marked": len(order),
        "tracks": packed(tracks[order]),
        "places": packed(places[order]),
        "lanes": packed(_lanes(model, tracks[order], places[order])),
        "gaps": packed(np.diff(starts[order], prepend=0), signed=True),
        "table": listed_events(model, tracks, places),
    }


def _first(starts: Int64Array, most: int) -> Int64Array:
    """Rows of the first ``most`` starts, and of those that begin with the last of them."""
    if len(starts) <= most:
        return np.arange(len(starts))
    return np.flatnonzero(starts <= np.partition(starts, most)[most])


def _lanes(model: TraceModel, tracks: Int64Array, places: Int64Array) -> Int64Array:
    lanes = np.zeros(len(tracks), np.int64)
    for number in np.unique(tracks).tolist():
        at = np.flatnonzero(tracks == number)
        lanes[at] = model.tracks[number].lanes.lanes_of(places[at])
    return lanes


def _joined(parts: Any) -> Int64Array:
    return np.concatenate([no_rows(), *parts])


def _wanted_names(model: TraceModel, texts: Sequence[str], *, regex: bool) -> Wanted:
    """Which short and full names hold all of some texts, in upper or lower case."""
    short, long = (np.ones(len(names), np.bool_) for names in (model.names, model.long_names))
    for text in texts:
        fitting = _fitting(text, regex=regex)
        short &= fitting(model.names)
        long &= fitting(model.long_names)
    return Wanted(short, long)


def _fitting(text: str, *, regex: bool) -> Callable[[Sequence[str]], BoolArray]:
    if regex:
        pattern = compiled(text, re.IGNORECASE)
        return lambda names: matched(pattern, names, "search")
    wanted = text.lower()
    return lambda names: np.array([wanted in name.lower() for name in names], np.bool_)


def _of_track(model: TraceModel, track: TraceTrack, terms: Terms, wanted: Wanted) -> Int64Array:
    """Places of the events of a track that have all but the arguments."""
    if not any(terms):
        return no_rows()
    titles = f"{model.processes[track.process]}\n{track.name}".lower()
    if not all(text in titles for text in terms.tracks):
        return no_rows()
    places = track.named(wanted) if terms.names else np.arange(len(track))
    for bound in terms.durations:
        places = places[bound.holds(track.durations[places])]
    return places


def _with_arguments(
    model: TraceModel, chosen: dict[int, Int64Array], terms: Terms
) -> dict[int, Int64Array]:
    n_events = sum(map(len, chosen.values()))
    if n_events > MOST_READ:
        raise UsageError(
            f"arg: would read the arguments of {n_events:,} events, and reads {MOST_READ:,} at "
            "most; add name:, track: or dur> to search fewer"
        )
    known: dict[str, bool] = {}

    def holds(arguments: str) -> bool:
        if arguments not in known:
            known[arguments] = all(each.holds(arguments) for each in terms.arguments)
        return known[arguments]

    found = {}
    for number, places in chosen.items():
        kept = np.array([holds(each) for each in model.tracks[number].texts(places)], np.bool_)
        if kept.any():
            found[number] = places[kept]
    return found
