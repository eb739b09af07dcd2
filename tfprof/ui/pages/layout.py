"""Positions of the boxes of a graph: layers from top to bottom, boxes within boxes.

Graphviz places them where its program ``dot`` is installed, otherwise our own layers do. Both give
the same result for the same graph. ``dot`` receives only sizes and numbers of boxes: no name leaves
this process.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tfprof.ui.pages.layers import layered
from tfprof.ui.pages.routes import Placed

INCH: Final = 72.0
"""Graphviz counts in inches, boxes in points."""

PAD: Final = 14.0
"""Room between a box and what is in it."""

TITLE: Final = 26.0
"""Room for the title of a box that holds others."""

_MOST_FOR_DOT: Final = 600
"""Boxes and lines at one level that ``dot`` places within a second or two."""

_DOT_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes and lines that have their places, in points.

    Attributes:
        boxes: Left, top, width and height of each box.
        lines: Points of each line; empty if it joins a box to itself or to one around it.
        curved: Whether the points of each line are those of cubic Bézier curves.
        width: Of all.
        height: Of all.
    """

    boxes: list[tuple[float, float, float, float]]
    lines: list[list[tuple[float, float]]]
    curved: list[bool]
    width: float
    height: float


def laid_out(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    inside: Sequence[int] = (),
    *,
    dot: str | None = None,
) -> Layout:
    """Place boxes so that most lines lead down.

    Args:
        sizes: Width and height of each box; those of a box that holds others are found out.
        edges: From which box to which; a line to a box within another ends at the border of
            the outermost box that does not hold both ends.
        inside: The box around each box, -1 for none; boxes around others come before them.
        dot: Graphviz' program ``dot``; by default the one that is installed, if there is one;
            an empty text takes our own layers.
    """
    program = shutil.which("dot") if dot is None else dot
    around = list(inside) or [-1] * len(sizes)
    children: dict[int, list[int]] = {-1: []}
    for box, outer in enumerate(around):
        children.setdefault(outer, []).append(box)
    lifted = [_lifted(start, end, around) for start, end in edges]
    of_level: dict[int, list[int]] = {}
    for place, pair in enumerate(lifted):
        if pair is not None:
            of_level.setdefault(around[pair[0]], []).append(place)
    real = list(sizes)
    placed: dict[int, Placed] = {}
    lines_of: dict[int, list[tuple[int, int]]] = {}
    # Boxes around others come first: from the last to the first, all that is in a box has a size.
    for outer in sorted(children, reverse=True):
        inner = children[outer]
        here = {box: at for at, box in enumerate(inner)}
        pairs = [lifted[place] for place in of_level.get(outer, [])]
        distinct = sorted({(here[pair[0]], here[pair[1]]) for pair in pairs if pair is not None})
        lines_of[outer] = distinct
        placed[outer] = _placed([real[box] for box in inner], distinct, program)
        if outer >= 0:
            width, height = placed[outer].width + 2 * PAD, placed[outer].height + PAD + TITLE
            real[outer] = (max(width, sizes[outer][0]), max(height, sizes[outer][1]))
    return _in_one_frame(real, around, children, placed, lines_of, lifted, of_level)


def _in_one_frame(
    sizes: Sequence[tuple[float, float]],
    around: Sequence[int],
    children: dict[int, list[int]],
    placed: dict[int, Placed],
    lines_of: dict[int, list[tuple[int, int]]],
    lifted: Sequence[tuple[int, int] | None],
    of_level: dict[int, list[int]],
) -> Layout:
    """Boxes and lines of all levels in the frame of the whole picture."""
    boxes = [(0.0, 0.0, 0.0, 0.0)] * len(sizes)
    origin = {-1: (0.0, 0.0)}
    lines: list[list[tuple[float, float]]] = [[] for _ in lifted]
    curved = [False] * len(lifted)
    for outer in sorted(children):
        left, top = origin[outer]
        for at, box in enumerate(children[outer]):
            x, y = placed[outer].corners[at]
            width, height = sizes[box]
            boxes[box] = (_round(left + x), _round(top + y), _round(width), _round(height))
            origin[box] = (left + x + PAD, top + y + TITLE)
        here = {box: at for at, box in enumerate(children[outer])}
        place_of = {pair: at for at, pair in enumerate(lines_of[outer])}
        for place in of_level.get(outer, []):
            pair = lifted[place]
            if pair is None:
                continue
            at = place_of[here[pair[0]], here[pair[1]]]
            points = placed[outer].lines[at]
            lines[place] = [(_round(left + x), _round(top + y)) for x, y in points]
            curved[place] = placed[outer].is_curved
    return Layout(boxes, lines, curved, _round(placed[-1].width), _round(placed[-1].height))


def _lifted(start: int, end: int, around: Sequence[int]) -> tuple[int, int] | None:
    """The ends of a line at the level where they are in the same box; None if one holds another."""
    path = [start]
    while around[path[-1]] >= 0:
        path.append(around[path[-1]])
    level_of = {around[box]: box for box in path}
    box = end
    while around[box] not in level_of:
        box = around[box]
    other = level_of[around[box]]
    return None if other == box else (other, box)


def _round(value: float) -> float:
    return round(value, 1)


def _placed(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], program: str | None
) -> Placed:
    if program and edges and len(sizes) + len(edges) <= _MOST_FOR_DOT:
        answer = _by_dot(sizes, edges, program)
        if answer is not None:
            return answer
    return layered(sizes, edges)


def _by_dot(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], program: str
) -> Placed | None:
    """The output of ``dot``; None if it fails."""
    import subprocess

    lines = ['digraph{nodesep=0.25;ranksep=0.4;node[shape=box fixedsize=true label=""];']
    for box, (width, height) in enumerate(sizes):
        lines.append(f"{box}[width={width / INCH:.4f} height={height / INCH:.4f}];")
    lines += [f"{start}->{end};" for start, end in edges] + ["}"]
    try:
        done = subprocess.run(
            [program, "-Tplain"], input="".join(lines), capture_output=True, text=True,
            timeout=_DOT_SECONDS, check=True,
        )  # fmt: skip
        return _plain(done.stdout, sizes, edges)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError):
        return None


def _plain(
    text: str, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]
) -> Placed:
    """Reads ``-Tplain``: inches from the lower left corner, middles of boxes."""
    corners = [(0.0, 0.0)] * len(sizes)
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    width = height = 0.0
    for line in text.replace("\\\n", "").splitlines():
        words = line.split()
        if words[0] == "graph":
            width, height = float(words[2]) * INCH, float(words[3]) * INCH
        elif words[0] == "node":
            box = int(words[1])
            x, y = float(words[2]) * INCH, height - float(words[3]) * INCH
            corners[box] = (x - sizes[box][0] / 2, y - sizes[box][1] / 2)
        elif words[0] == "edge":
            numbers = [float(word) * INCH for word in words[4 : 4 + 2 * int(words[3])]]
            points = [(x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            found[int(words[1]), int(words[2])] = points
    return Placed(corners, [found[edge] for edge in edges], width, height, is_curved=True)
