"""Our own layout for graphs, where Graphviz is missing: layers from top to bottom.

The steps are those of Sugiyama: lines that would close a cycle are reversed, each box goes below
all boxes that lead to it, long lines get a place in each layer that they pass, layers are sorted by
the mean position of the neighbours until few lines cross, and boxes move towards their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

GAP_X: Final = 18.0
GAP_Y: Final = 32.0
_SWEEPS: Final = 8
_THIN: Final = 8.0
"""Width of the place that a line takes in a layer that it passes."""

_MOST_PASSED: Final = 4000
"""Places that long lines may take in all; with more, lines are straight."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Boxes and lines at one level.

    Attributes:
        corners: Left and top of each box.
        lines: Points of each line.
        width: Of all.
        height: Of all.
        is_curved: Whether the points are those of cubic Bézier curves.
    """

    corners: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float
    is_curved: bool = False


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Placed:
    """Place boxes in layers.

    Args:
        sizes: Width and height of each box.
        edges: From which box to which; no line twice.
    """
    if not sizes:
        return Placed([], [], 0.0, 0.0)
    if not edges:
        return _in_rows(sizes)
    down = _without_circles(len(sizes), edges)
    layer_of = _layers_of(len(sizes), down)
    wide = [size[0] for size in sizes]
    chains = _chains(down, layer_of, wide)
    layers: list[list[int]] = [[] for _ in range(max(layer_of) + 1)]
    for box, layer in enumerate(layer_of):
        layers[layer].append(box)
    above: list[list[int]] = [[] for _ in layer_of]
    below: list[list[int]] = [[] for _ in layer_of]
    for chain in chains:
        for start, end in pairwise(chain):
            if layer_of[end] == layer_of[start] + 1:
                above[end].append(start)
                below[start].append(end)
    _sort(layers, above, below)
    middle = _spread(layers, above, below, wide)
    return _finished(sizes, edges, down, chains, layers, middle)


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
    """The lines, turned where they lead back to a box that a walk has come through."""
    out: list[list[int]] = [[] for _ in range(n)]
    for place, (start, _) in enumerate(edges):
        out[start].append(place)
    state = [0] * n  # 0: not seen, 1: on the way, 2: done
    down = list(edges)
    for first in range(n):
        if state[first]:
            continue
        state[first] = 1
        walk = [(first, 0)]
        while walk:
            box, at = walk.pop()
            if at == len(out[box]):
                state[box] = 2
                continue
            walk.append((box, at + 1))
            place = out[box][at]
            end = edges[place][1]
            if state[end] == 1:
                down[place] = (end, box)
            elif state[end] == 0:
                state[end] = 1
                walk.append((end, 0))
    return down


def _layers_of(n: int, down: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box: one below the lowest box that leads to it."""
    out: list[list[int]] = [[] for _ in range(n)]
    waits = [0] * n
    for start, end in down:
        if start != end:
            out[start].append(end)
            waits[end] += 1
    layer = [0] * n
    ready = [box for box in range(n) if not waits[box]]
    for box in ready:
        for end in out[box]:
            layer[end] = max(layer[end], layer[box] + 1)
            waits[end] -= 1
            if not waits[end]:
                ready.append(end)
    return layer


def _chains(
    down: Sequence[tuple[int, int]], layer_of: list[int], wide: list[float]
) -> list[list[int]]:
    """Each line as boxes from layer to layer; adds the places that long lines pass."""
    passed = sum(max(abs(layer_of[end] - layer_of[start]) - 1, 0) for start, end in down)
    chains = []
    for start, end in down:
        chain = [start]
        if passed <= _MOST_PASSED:
            for layer in range(layer_of[start] + 1, layer_of[end]):
                chain.append(len(layer_of))
                layer_of.append(layer)
                wide.append(_THIN)
        chains.append([*chain, end])
    return chains


def _sort(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort each layer by the mean place of the neighbours, down and up in turns."""
    place = {box: at for layer in layers for at, box in enumerate(layer)}
    for sweep in range(_SWEEPS):
        neighbours = below if sweep % 2 else above
        for layer in reversed(layers) if sweep % 2 else layers:
            keys = {}
            for at, box in enumerate(layer):
                near = neighbours[box]
                keys[box] = sum(place[each] for each in near) / len(near) if near else float(at)
            layer.sort(key=lambda box: (keys[box], place[box]))
            for at, box in enumerate(layer):
                place[box] = at


def _spread(
    layers: Sequence[Sequence[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    wide: Sequence[float],
) -> list[float]:
    """The middle of each box: near the mean of its neighbours, without touching others."""
    middle = [0.0] * len(wide)
    for layer in layers:
        x = 0.0
        for box in layer:
            middle[box] = x + wide[box] / 2
            x += wide[box] + GAP_X
    for sweep in range(2 * _SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = []
            for box in layer:
                near = neighbours[box]
                wanted.append(sum(middle[n] for n in near) / len(near) if near else middle[box])
            _apart(layer, wanted, wide, middle)
    return middle


def _apart(
    layer: Sequence[int], wanted: Sequence[float], wide: Sequence[float], middle: list[float]
) -> None:
    """Put the boxes of a layer as near to their ideal positions as their order allows.

    Boxes that would touch become a block, at the mean of their ideal positions.
    """
    blocks: list[tuple[float, int, float]] = []  # sum of wanted left ends, boxes, width
    for at, box in enumerate(layer):
        left, n, width = wanted[at] - wide[box] / 2, 1, wide[box] + GAP_X
        total = left
        while blocks and blocks[-1][0] / blocks[-1][1] + blocks[-1][2] > total / n:
            before, many, length = blocks.pop()
            total = before + total - n * length
            n, width = n + many, width + length
        blocks.append((total, n, width))
    at = 0
    for total, n, _ in blocks:
        x = total / n
        for box in layer[at : at + n]:
            middle[box] = x + wide[box] / 2
            x += wide[box] + GAP_X
        at += n


def _finished(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    down: Sequence[tuple[int, int]],
    chains: Sequence[Sequence[int]],
    layers: Sequence[Sequence[int]],
    middle: Sequence[float],
) -> Placed:
    """Corners and lines, from 0."""
    n = len(sizes)
    high = [size[1] for size in sizes] + [0.0] * (len(middle) - n)
    half = [size[0] / 2 for size in sizes] + [_THIN / 2] * (len(middle) - n)
    least = min(x - half[box] for box, x in enumerate(middle))
    center = [0.0] * len(middle)
    y = 0.0
    for layer in layers:
        tallest = max((high[box] for box in layer), default=0.0)
        for box in layer:
            center[box] = y + tallest / 2
        y += tallest + GAP_Y
    corners = [
        (middle[box] - least - sizes[box][0] / 2, center[box] - sizes[box][1] / 2)
        for box in range(n)
    ]
    lines = []
    for edge, pair, chain in zip(edges, down, chains, strict=True):
        points = [(middle[box] - least, center[box]) for box in chain]
        points[0] = (points[0][0], center[chain[0]] + high[chain[0]] / 2)
        points[-1] = (points[-1][0], center[chain[-1]] - high[chain[-1]] / 2)
        lines.append(points if edge == pair else points[::-1])
    width = max(x + half[box] for box, x in enumerate(middle)) - least
    return Placed(corners, lines, width, max(y - GAP_Y, 0.0))
