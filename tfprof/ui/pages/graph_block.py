"""The block ``graph``: boxes and lines with their positions, for any graph on any page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tfprof.core.text.characters import escaped
from tfprof.ui.pages.document import Block
from tfprof.ui.pages.layout import laid_out

_LETTER: Final = 7.0
"""Width of a letter in points; the front end draws 12 px."""

_SIGN: Final = 2
"""Letters of the sign of a box that opens."""

_LEAST, _MOST = 64.0, 230.0
_LINE: Final = 16.0
_MARGIN: Final = 12.0


@dataclass(frozen=True, slots=True)
class Handle:
    """Adds boxes around a box, or takes them away.

    Attributes:
        side: Where it is: ``above`` the box or ``below`` it.
        label: What it does: ``show 3 inputs``.
        sign: That in a sign: ``+3``.
        params: Parameters of the page that do it.
    """

    side: Literal["above", "below"]
    label: str
    sign: str
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The box that was chosen, described beside the picture.

    Attributes:
        title: Its name.
        facts: Names and values that describe it.
        text: Its text in the language of the graph; empty for none.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A box.

    Attributes:
        id: Its name, unique in the graph.
        label: Its text.
        detail: A second line; empty for none.
        hover: Lines of the tooltip after the name.
        inside: ``id`` of the box around it; boxes around others come before them.
        weights: Values for colours, by the names in ``measures``; None if unknown. Texts for a
            measure whose unit is ``text``.
        tone: Its kind, such as ``input``, which decides the colour of its edge.
        strong: Whether it stands out, such as on a critical path.
        toggle: Parameters of the page that open or close it; None if it has no content.
        is_open: Whether it shows its content.
        link: Page and parameters behind it; None for none.
        kind: What it is, such as an opcode, for the sentence on boxes that are left out.
        handles: What adds boxes around it.
    """

    id: str
    label: str
    detail: str = ""
    hover: Sequence[str] = ()
    inside: str = ""
    weights: Mapping[str, float | str | None] = field(default_factory=dict)
    tone: str = ""
    strong: bool = False
    toggle: Mapping[str, str] | None = None
    is_open: bool = False
    link: tuple[str, Mapping[str, str]] | None = None
    kind: str = ""
    handles: Sequence[Handle] = ()


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A line.

    Attributes:
        start: ``id`` of the box that it leaves.
        end: ``id`` of the box that it leads to.
        label: The data that flow, as a tooltip.
        count: Number of edges that it stands for; more make it thicker.
        strong: Whether it stands out, such as on a critical path.
    """

    start: str
    end: str
    label: str = ""
    count: int = 1
    strong: bool = False


def graph_block(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    measures: Sequence[tuple[str, str, str]] = (),
    *,
    id: str = "graph",
    title: str = "",
    focus: str = "",
    chosen: Chosen | None = None,
    note: str = "",
    dot: str | None = None,
) -> Block:
    """A drawn graph. Boxes without lines are counted, not drawn, if others have some.

    Args:
        nodes: Boxes; those that hold others come before them.
        edges: Lines; those that join a box to itself or to one around it are not drawn.
        measures: Name, title and unit of values for colours; the first is shown.
        id: Name of the block on its page.
        title: Its heading.
        focus: ``id`` of the box to look at first, if the whole is too large to be read.
        chosen: What to describe beside the picture.
        note: A sentence below it.
        dot: As for ``laid_out``.
    """
    lone = _lone(nodes, edges, focus)
    nodes = [node for node in nodes if node.id not in lone]
    place = {node.id: at for at, node in enumerate(nodes)}
    sizes = [_size(node) for node in nodes]
    inside = [place[node.inside] if node.inside else -1 for node in nodes]
    pairs = [(place[edge.start], place[edge.end]) for edge in edges]
    layout = laid_out(sizes, pairs, inside, dot=dot)
    return {
        "kind": "graph",
        "id": id,
        "title": escaped(title),
        "width": layout.width,
        "height": layout.height,
        "focus": place.get(focus, -1),
        "measures": [{"id": name, "label": label, "unit": unit} for name, label, unit in measures],
        "note": " ".join(filter(None, [note, _left_out(list(lone.values()))])),
        "chosen": None if chosen is None else _chosen(chosen),
        "nodes": [
            _node(node, box, around)
            for node, box, around in zip(nodes, layout.boxes, inside, strict=True)
        ],
        "edges": [
            _edge(edge, pair, points, curved)
            for edge, pair, points, curved in zip(
                edges, pairs, layout.lines, layout.curved, strict=True
            )
        ],
    }


def _lone(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], focus: str
) -> dict[str, GraphNode]:
    """Boxes to leave out: without lines to and from them and all within them."""
    around = {node.id: node.inside for node in nodes}
    joined = {end for edge in edges if edge.start != edge.end for end in (edge.start, edge.end)}
    if not joined:
        return {}
    for each in [*joined, focus]:
        box = each
        while box and box in around:  # a scope of a profile may have an empty name
            joined.add(box)
            box = around[box]
    return {node.id: node for node in nodes if node.id not in joined}


def _left_out(lone: Sequence[GraphNode]) -> str:
    """The sentence on boxes that are left out; empty without any."""
    if not lone:
        return ""
    counts = Counter(node.kind for node in lone if node.kind)
    kinds = ", ".join(f"{n:,} {escaped(kind)}" for kind, n in counts.most_common(_MOST_KINDS))
    is_are = "box without lines is" if len(lone) == 1 else "boxes without lines are"
    return f"{len(lone):,} {is_are} not drawn{f': {kinds}' if kinds else ''}."


_MOST_KINDS: Final = 4


def _chosen(chosen: Chosen) -> dict[str, Any]:
    return {
        "title": escaped(chosen.title),
        "facts": [[escaped(name), escaped(value)] for name, value in chosen.facts],
        "text": escaped(chosen.text, keep="\n"),
    }


def _size(node: GraphNode) -> tuple[float, float]:
    sign = _SIGN if node.toggle is not None else 0
    letters = max(len(node.label) + sign, len(node.detail))
    width = min(max(_LETTER * letters + 2 * _MARGIN, _LEAST), _MOST)
    return width, _MARGIN + _LINE * (1 + bool(node.detail))


def _node(node: GraphNode, box: tuple[float, float, float, float], inside: int) -> dict[str, Any]:
    link = None
    if node.link is not None:
        link = {"page": node.link[0], "params": dict(node.link[1])}
    return {
        "id": escaped(node.id), "label": escaped(node.label), "detail": escaped(node.detail),
        "hover": [escaped(text) for text in node.hover], "inside": inside,
        "x": box[0], "y": box[1], "w": box[2], "h": box[3],
        "weights": {
            name: escaped(value) if isinstance(value, str) else value
            for name, value in node.weights.items()
        },
        "tone": node.tone, "strong": node.strong,
        "toggle": None if node.toggle is None else dict(node.toggle), "is_open": node.is_open,
        "link": link,
        "handles": [
            {"side": each.side, "label": escaped(each.label), "sign": each.sign,
             "params": dict(each.params)}
            for each in node.handles
        ],
    }  # fmt: skip


def _edge(
    edge: GraphEdge, pair: tuple[int, int], points: Sequence[tuple[float, float]], curved: bool
) -> dict[str, Any]:
    return {
        "start": pair[0], "end": pair[1], "label": escaped(edge.label), "count": edge.count,
        "strong": edge.strong, "curved": curved,
        "points": [number for point in points for number in point],
    }  # fmt: skip
