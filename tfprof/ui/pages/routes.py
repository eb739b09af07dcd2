"""Positions of boxes that are sorted into layers, and lines that lead between them.

No line touches a box but at its ends: within a layer lines run straight down, at places of their
own; they bend only between layers, where no box is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

GAP_X: Final = 18.0
GAP_Y: Final = 40.0
_SWEEPS: Final = 24
_THIN: Final = 4.0
"""Width of the place that a line takes in a layer that it passes."""

_STIFF: Final = 4
"""Weight of places of lines, beside 1 of boxes: long lines are straight."""

_PORT: Final = 14.0
"""Most room between the ends of two lines at one side of a box."""

_HEAD: Final = 9.0
"""Room for the head of an arrow."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """Boxes and lines at one level.

    Attributes:
        corners: Left and top of each box.
        lines: Points of each line.
        width: Of all.
        height: Of all.
        is_curved: Whether the points are those of cubic Bézier curves, which end where the head of
            the arrow begins.
    """

    corners: list[Point]
    lines: list[list[Point]]
    width: float
    height: float
    is_curved: bool = False


@dataclass(frozen=True, slots=True)
class Layers:
    """Boxes and places of lines, sorted. Places are numbered, those of boxes first.

    Attributes:
        order: Places of each layer from left to right.
        above: Places in the layer above that each place has a line to.
        below: The same below.
        chains: The places of each line from top to bottom.
        is_turned: Whether a line leads from its last place to its first.
    """

    order: Sequence[Sequence[int]]
    above: Sequence[Sequence[int]]
    below: Sequence[Sequence[int]]
    chains: Sequence[Sequence[int]]
    is_turned: Sequence[bool]


def placed_in_layers(sizes: Sequence[tuple[float, float]], layers: Layers) -> Placed:
    """Give boxes and lines their positions.

    Args:
        sizes: Width and height of each box.
        layers: The boxes and the places of lines.
    """
    n_thin = len(layers.above) - len(sizes)
    wide = [width for width, _ in sizes] + [_THIN] * n_thin
    high = [height for _, height in sizes] + [0.0] * n_thin
    middle = _spread(layers, wide, len(sizes))
    bands: list[tuple[float, float]] = []
    layer_of = [0] * len(wide)
    y = 0.0
    for at, layer in enumerate(layers.order):
        tallest = max((high[place] for place in layer), default=0.0)
        bands.append((y, y + tallest))
        y += tallest + GAP_Y
        for place in layer:
            layer_of[place] = at
    goes_around = any(
        layer_of[end] - layer_of[start] > 1
        for chain in layers.chains
        for start, end in pairwise(chain)
    )
    left = min(x - wide[place] / 2 for place, x in enumerate(middle))
    left -= 2 * GAP_X if goes_around else 0
    middle = [x - left for x in middle]
    center = [sum(bands[at]) / 2 for at in layer_of]
    corners = [
        (middle[box] - width / 2, center[box] - height / 2)
        for box, (width, height) in enumerate(sizes)
    ]
    routes = _Routes(sizes, layers, middle, corners, bands, layer_of)
    width = max(x + wide[place] / 2 for place, x in enumerate(middle))
    lines = [
        routes.line(chain, turned)
        for chain, turned in zip(layers.chains, layers.is_turned, strict=True)
    ]
    return Placed(corners, lines, width, max(y - GAP_Y, 0.0), is_curved=True)


def _spread(layers: Layers, wide: Sequence[float], n_boxes: int) -> list[float]:
    """The middle of each place: near the mean of its neighbours, without touching others."""
    middle = [0.0] * len(wide)
    for layer in layers.order:
        x = 0.0
        for place in layer:
            middle[place] = x + wide[place] / 2
            x += wide[place] + GAP_X
    weight = [1 if place < n_boxes else _STIFF for place in range(len(wide))]
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        for layer in layers.order if is_down else reversed(layers.order):
            wanted = []
            for place in layer:
                near = layers.above[place] if is_down else layers.below[place]
                weights = [weight[other] for other in near]
                sums = sum(middle[other] * own for other, own in zip(near, weights, strict=True))
                wanted.append(sums / sum(weights) if near else middle[place])
            _apart(layer, wanted, wide, weight, middle)
    return middle


def _apart(
    layer: Sequence[int],
    wanted: Sequence[float],
    wide: Sequence[float],
    weight: Sequence[int],
    middle: list[float],
) -> None:
    """Put the places of a layer as near to their ideal positions as their order allows.

    Those that would touch become a block, at the mean of their ideal positions.
    """
    blocks: list[tuple[float, float, int, float]] = []  # sum of wanted left ends, weight, n, width
    for at, place in enumerate(layer):
        heavy: float = weight[place]
        total, n, width = (wanted[at] - wide[place] / 2) * heavy, 1, wide[place] + GAP_X
        while blocks and blocks[-1][0] / blocks[-1][1] + blocks[-1][3] > total / heavy:
            before, others, many, length = blocks.pop()
            total = before + total - heavy * length
            heavy, n, width = heavy + others, n + many, width + length
        blocks.append((total, heavy, n, width))
    at = 0
    for total, heavy, n, _ in blocks:
        x = total / heavy
        for place in layer[at : at + n]:
            middle[place] = x + wide[place] / 2
            x += wide[place] + GAP_X
        at += n


class _Routes:
    """Lines between boxes that have their positions."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        layers: Layers,
        middle: Sequence[float],
        corners: Sequence[Point],
        bands: Sequence[tuple[float, float]],
        layer_of: Sequence[int],
    ) -> None:
        self._sizes = sizes
        self._middle = middle
        self._corners = corners
        self._bands = bands
        self._layer_of = layer_of
        self._ports: dict[tuple[int, int, bool, bool], float] = {}
        ends: dict[tuple[int, bool], dict[tuple[int, bool], None]] = {}
        for chain, turned in zip(layers.chains, layers.is_turned, strict=True):
            ends.setdefault((chain[0], False), {})[chain[1], turned] = None
            ends.setdefault((chain[-1], True), {})[chain[-2], turned] = None
        for (box, on_top), others in ends.items():
            in_order = sorted(others, key=lambda other: (middle[other[0]], other))
            room = min(_PORT, max(sizes[box][0] - 2 * _PORT, 0.0) / max(len(in_order) - 1, 1))
            for at, (other, turned) in enumerate(in_order):
                aside = (at - (len(in_order) - 1) / 2) * room
                self._ports[box, other, on_top, turned] = middle[box] + aside

    def line(self, chain: Sequence[int], turned: bool) -> list[Point]:
        """The points of a line, from where it begins to the head of its arrow."""
        first, last = chain[0], chain[-1]
        x = self._ports[first, chain[1], False, turned]
        begins = self._corners[first][1] + self._sizes[first][1] + (_HEAD if turned else 0)
        ends = self._corners[last][1] - (0 if turned else _HEAD)
        end_x = self._ports[last, chain[-2], True, turned]
        points = [(x, begins)]
        if len(chain) == 2 and self._layer_of[last] > self._layer_of[first] + 1:
            self._lead_around(points, first, last, end_x)
        else:
            for before, place in pairwise(chain):
                x = end_x if place == last else self._middle[place]
                self._bend(points, x, self._layer_of[before], place == last, turned)
                if place != last:
                    _down(points, self._bands[self._layer_of[place]][1])
        _down(points, ends)
        return points[::-1] if turned else points

    def _bend(self, points: list[Point], x: float, layer: int, at_end: bool, turned: bool) -> None:
        """Between a layer and the one below it."""
        bottom, top = self._bands[layer][1], self._bands[layer + 1][0]
        if len(points) == 1 and turned:
            bottom += _HEAD
        if at_end and not turned:
            top -= _HEAD
        _down(points, bottom)
        from_x = points[-1][0]
        halfway = (bottom + top) / 2
        points += [(from_x, halfway), (x, halfway), (x, top)]

    def _lead_around(self, points: list[Point], first: int, last: int, end_x: float) -> None:
        """To the left of all boxes."""
        y = self._bands[self._layer_of[first]][1] + GAP_Y / 2
        below = self._bands[self._layer_of[last]][0] - GAP_Y / 2
        _down(points, y)
        for x, to_y in ((GAP_X, y), (GAP_X, below), (end_x, below)):
            points += [points[-1], (x, to_y), (x, to_y)]


def _down(points: list[Point], y: float) -> None:
    """Straight down to a height; nothing if the line is there."""
    x, here = points[-1]
    if y > here:
        points += [(x, here), (x, y), (x, y)]
