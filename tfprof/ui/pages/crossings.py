"""The order of boxes within layers that lets few lines cross.

After Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993): each
layer is sorted by the medians of its neighbours, down and up in turns, neighbours in a layer change
places where that helps, and the best order of all rounds wins.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import Final

_ROUNDS: Final = 12
_ROUNDS_OF_MANY: Final = 4
_MANY: Final = 3000
"""Places from which on fewer rounds have to do."""

_MOST_SWAPPED: Final = 40
"""Neighbours of a place beyond which it stays where its median is."""

Neighbours = Sequence[Sequence[int]]


def sort_layers(layers: list[list[int]], above: Neighbours, below: Neighbours) -> None:
    """Sort the places of each layer so that few lines cross.

    Args:
        layers: Places of each layer; sorted in place.
        above: Places in the layer above that each place has a line to.
        below: The same below.
    """
    at = {place: n for layer in layers for n, place in enumerate(layer)}
    best, least = [list(layer) for layer in layers], _all_crossings(layers, below, at)
    is_small = len(above) <= _MANY
    for turn in range(_ROUNDS if is_small else _ROUNDS_OF_MANY):
        if not least:
            break
        is_down = turn % 2 == 0
        for layer in layers if is_down else reversed(layers):
            _sort_by_medians(layer, above if is_down else below, at)
        if is_small:
            _swap(layers, above, below, at)
        crossings = _all_crossings(layers, below, at)
        if crossings < least:
            best, least = [list(layer) for layer in layers], crossings
    layers[:] = best


def _sort_by_medians(layer: list[int], near: Neighbours, at: dict[int, int]) -> None:
    keys = {
        place: _median(sorted(at[other] for other in near[place]), at[place]) for place in layer
    }
    layer.sort(key=lambda place: (keys[place], at[place]))
    for n, place in enumerate(layer):
        at[place] = n


def _median(places: Sequence[int], default: float) -> float:
    """The median; between two middle ones, nearer to the side where the others are closer."""
    n = len(places)
    if not n:
        return default
    middle = n // 2
    if n % 2:
        return places[middle]
    if n == 2:
        return (places[0] + places[1]) / 2
    left, right = places[middle - 1] - places[0], places[-1] - places[middle]
    if not left + right:
        return (places[middle - 1] + places[middle]) / 2
    return (places[middle - 1] * right + places[middle] * left) / (left + right)


def _swap(
    layers: Sequence[list[int]], above: Neighbours, below: Neighbours, at: dict[int, int]
) -> None:
    """Swap neighbours in a layer while fewer lines cross."""
    for layer in layers:
        for n in range(len(layer) - 1):
            left, right = layer[n], layer[n + 1]
            before = after = 0
            for near in (above, below):
                ours, theirs = near[left], near[right]
                if max(len(ours), len(theirs)) > _MOST_SWAPPED:
                    continue
                for one in ours:
                    for other in theirs:
                        before += at[one] > at[other]
                        after += at[one] < at[other]
            if after < before:
                layer[n], layer[n + 1] = right, left
                at[left], at[right] = n + 1, n


def _all_crossings(layers: Sequence[Sequence[int]], below: Neighbours, at: dict[int, int]) -> int:
    """How many lines between neighbouring layers cross."""
    crossings = 0
    for layer in layers:
        ends: list[int] = []
        for place in layer:
            own = [at[other] for other in below[place]]
            crossings += sum(len(ends) - bisect_right(ends, end) for end in own)
            for end in own:
                insort(ends, end)
    return crossings
