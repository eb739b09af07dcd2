"""Our own layout for graphs, where Graphviz is missing: layers from top to bottom.

The steps are those of Sugiyama: lines that would close a cycle are reversed, each box goes below
all boxes that lead to it, long lines get a place in each layer that they pass, layers are sorted so
that few lines cross (``crossings.py``), and boxes and lines get their positions (``routes.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tfprof.ui.pages.crossings import sort_layers
from tfprof.ui.pages.routes import GAP_X, Layers, Placed, placed_in_layers

_MOST_PASSED: Final = 12_000
"""Places that long lines may take in all; with more, long lines lead around all boxes."""


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Placed:
    """Place boxes in layers.

    Args:
        sizes: Width and height of each box.
        edges: From which box to which; no line twice.
    """
    if not edges:
        return _in_rows(sizes)
    down = _without_circles(len(sizes), edges)
    layer_of = _layers_of(len(sizes), down)
    is_turned = [edge != pair for edge, pair in zip(edges, down, strict=True)]
    chains = _chains(down, is_turned, layer_of)
    layers: list[list[int]] = [[] for _ in range(max(layer_of) + 1)]
    for place, layer in enumerate(layer_of):
        layers[layer].append(place)
    above: list[list[int]] = [[] for _ in layer_of]
    below: list[list[int]] = [[] for _ in layer_of]
    joined = dict.fromkeys(pair for chain in chains for pair in pairwise(chain))
    for start, end in joined:
        if layer_of[end] == layer_of[start] + 1:
            above[end].append(start)
            below[start].append(end)
    sort_layers(layers, above, below)
    return placed_in_layers(sizes, Layers(layers, above, below, chains, is_turned))


def _in_rows(sizes: Sequence[tuple[float, float]]) -> Placed:
    """Boxes without lines, side by side in about as many rows as columns."""
    columns = max(1, round(len(sizes) ** 0.5))
    corners: list[tuple[float, float]] = []
    x = y = tallest = width = 0.0
    for place, (wide, high) in enumerate(sizes):
        if place and place % columns == 0:
            x, y, tallest = 0.0, y + tallest + GAP_X, 0.0
        corners.append((x, y))
        x += wide + GAP_X
        tallest = max(tallest, high)
        width = max(width, x - GAP_X)
    return Placed(corners, [], width, y + tallest)


def _without_circles(n: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The lines, with few of them turned so that none closes a circle.

    After Eades, Lin and Smyth (1993): boxes without lines out go to the end of an order, those
    without lines in to its begin; where there are neither, the one with the most lines out beyond
    those in comes next. Lines against the order are turned.
    """
    out: list[list[int]] = [[] for _ in range(n)]
    into: list[list[int]] = [[] for _ in range(n)]
    for start, end in edges:
        if start != end:
            out[start].append(end)
            into[end].append(start)
    n_out, n_in = [len(each) for each in out], [len(each) for each in into]
    begin: list[int] = []
    ending: list[int] = []
    left = dict.fromkeys(range(n))
    ends = [box for box in left if not n_out[box]]
    begins = [box for box in left if not n_in[box]]
    while left:
        if ends or begins:
            box, order = (ends.pop(), ending) if ends else (begins.pop(0), begin)
            if box not in left:
                continue
        else:
            box, order = max(left, key=lambda each: n_out[each] - n_in[each]), begin
        del left[box]
        order.append(box)
        for end in out[box]:
            n_in[end] -= 1
            if not n_in[end]:
                begins.append(end)
        for start in into[box]:
            n_out[start] -= 1
            if not n_out[start]:
                ends.append(start)
    place = {box: at for at, box in enumerate([*begin, *reversed(ending)])}
    return [(start, end) if place[start] <= place[end] else (end, start) for start, end in edges]


def _layers_of(n: int, down: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box: one below the lowest box that leads to it.

    Boxes with more lines down than up move down to just above the first box they lead to: constants
    and parameters stand beside their readers, and lines are short.
    """
    out: list[list[int]] = [[] for _ in range(n)]
    n_in = [0] * n
    for start, end in down:
        if start != end:
            out[start].append(end)
            n_in[end] += 1
    waits = list(n_in)
    layer = [0] * n
    order = [box for box in range(n) if not waits[box]]
    for box in order:  # grows on the way
        for end in out[box]:
            layer[end] = max(layer[end], layer[box] + 1)
            waits[end] -= 1
            if not waits[end]:
                order.append(end)
    for box in reversed(order):
        if len(out[box]) > n_in[box]:
            layer[box] = min(layer[end] for end in out[box]) - 1
    return layer


def _chains(
    down: Sequence[tuple[int, int]], is_turned: Sequence[bool], layer_of: list[int]
) -> list[list[int]]:
    """Each line as places from layer to layer; adds the places that long lines pass.

    Lines that leave the same box share these places, and part where the first one ends.
    """
    deepest: dict[tuple[int, bool], int] = {}
    for (start, end), turned in zip(down, is_turned, strict=True):
        deepest[start, turned] = max(deepest.get((start, turned), 0), layer_of[end])
    passed = sum(max(last - layer_of[start] - 1, 0) for (start, _), last in deepest.items())
    if passed > _MOST_PASSED:
        return [[start, end] for start, end in down]
    trunks: dict[tuple[int, bool], list[int]] = {}
    for (start, turned), last in deepest.items():
        first = len(layer_of)
        layer_of.extend(range(layer_of[start] + 1, last))
        trunks[start, turned] = list(range(first, len(layer_of)))
    return [
        [start, *trunks[start, turned][: layer_of[end] - layer_of[start] - 1], end]
        for (start, end), turned in zip(down, is_turned, strict=True)
    ]
