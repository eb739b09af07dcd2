"""A drawing as a ``graphviz.Digraph``."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from tfprof.core.text.characters import escaped
from tfprof.core.text.drawing.plan import NO_CLUSTER, Drawing, Edge, Node
from tfprof.errors import MissingDependencyError

if TYPE_CHECKING:
    import graphviz

# ColorBrewer's "OrRd": light to dark in one hue, told apart with any colour vision and in grey.
_FILLS: Final = ("#ffffff", "#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548",
                 "#d7301f", "#b30000")  # fmt: skip
_FIRST_DARK: Final = 7
_INK, _PALE_INK, _LINE, _PAPER = "#222222", "#666666", "#9a9a9a", "#ffffff"
_FRAMES: Final = ("#f6f6f6", "#ededed")
_FONT: Final = "Helvetica,Arial,sans-serif"
_SMALLEST, _LARGEST = 11.0, 22.0
"""Font sizes, which the size of a box follows, in points."""
_THINNEST, _THICKEST = 0.6, 6.0
_MANY_NODES: Final = 120
_QUICK_LAYOUT: Final = {"nslimit": "2", "nslimit1": "20", "mclimit": "0.5"}
"""Limits on the search for a good layout, which else takes minutes; small drawings need none."""
_MAX_LABELLED_EDGES: Final = 200
"""Beyond that many edges only the wide ones have a label: each makes the layout slower."""


def import_graphviz() -> Any:
    """The package ``graphviz``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        import graphviz
    except ImportError:
        raise MissingDependencyError(
            "drawing needs the package 'graphviz'; install it with: pip install 'tfprof[graphviz]'"
        ) from None
    return graphviz


def to_digraph(drawing: Drawing) -> graphviz.Digraph:
    """Write a drawing in DOT; equal drawings give equal texts.

    Names from a profile become text and nothing else: no markup, no escapes, no ports.
    """
    graph = import_graphviz().Digraph(
        "tfprof",
        graph_attr={
            "bgcolor": _PAPER, "fontname": _FONT, "fontsize": "14", "fontcolor": _INK,
            "label": _left_aligned(drawing.title), "labelloc": "t", "labeljust": "l",
            "nodesep": "0.2", "ranksep": "0.35", "tooltip": " ", "newrank": "true",
            **(_QUICK_LAYOUT if len(drawing.nodes) > _MANY_NODES else {}),
        },
        node_attr={
            "fontname": _FONT, "fontcolor": _INK, "shape": "box", "style": "filled,rounded",
            "color": _LINE, "fillcolor": _PAPER, "margin": "0.12,0.06", "height": "0.2",
        },
        edge_attr={
            "fontname": _FONT, "fontsize": "10", "fontcolor": _PALE_INK, "color": _LINE,
            "arrowsize": "0.6",
        },
    )  # fmt: skip
    _add_nodes(graph, drawing)
    labelled = _labelled(drawing.edges)
    for edge in drawing.edges:
        _add_edge(graph, edge, labelled=edge.share >= labelled)
    return graph


def _add_nodes(graph: Any, drawing: Drawing) -> None:
    """Add the nodes, and the frames around them."""
    nodes: dict[int, list[int]] = {}
    for number, node in enumerate(drawing.nodes):
        nodes.setdefault(node.cluster, []).append(number)
    inner: dict[int, list[int]] = {}
    for number, cluster in enumerate(drawing.clusters):
        inner.setdefault(cluster.parent, []).append(number)

    def add(frame: Any, cluster: int, depth: int) -> None:  # frames are never nested deeply
        for number in nodes.get(cluster, ()):
            node = drawing.nodes[number]
            frame.node(f"n{number}", label=_centred(node.lines), **_look(node))
        for number in inner.get(cluster, ()):
            with frame.subgraph(name=f"cluster_{number}") as within:
                about = drawing.clusters[number]
                within.attr(
                    label=_left_aligned(about.lines), tooltip=_text(about.about),
                    style="filled,rounded", color=_LINE, fillcolor=_FRAMES[depth % len(_FRAMES)],
                    penwidth="0.5", fontsize="12", labeljust="l",
                )  # fmt: skip
                add(within, number, depth + 1)

    add(graph, NO_CLUSTER, 0)


def _look(node: Node) -> dict[str, str]:
    """Size and colour by share; the area of the text grows with it."""
    tooltip = _text(node.about or "\n".join(node.lines))
    if node.kind == "rest":
        return {
            "tooltip": tooltip, "style": "dashed,rounded", "fontcolor": _PALE_INK,
            "fontsize": f"{_SMALLEST:g}",
        }  # fmt: skip
    fill = min(int(sqrt(node.share) * len(_FILLS)), len(_FILLS) - 1)
    look = {
        "tooltip": tooltip,
        "fontsize": f"{_SMALLEST + (_LARGEST - _SMALLEST) * sqrt(node.share):.1f}",
        "fillcolor": _FILLS[fill],
    }
    if fill >= _FIRST_DARK:
        look["fontcolor"] = _PAPER
    if node.kind == "scope":
        look["peripheries"] = "2"
    return look


def _add_edge(graph: Any, edge: Edge, *, labelled: bool) -> None:
    look = {"tooltip": _text(edge.about or edge.label)}
    if edge.kind in ("data", "call"):
        look["penwidth"] = f"{_THINNEST + (_THICKEST - _THINNEST) * edge.share:.2f}"
        if labelled and edge.label:
            look["label"] = _centred([edge.label])
    else:
        look["style"] = "dashed" if edge.kind == "control" else "dotted"
        look["color"] = _PALE_INK
    graph.edge(f"n{edge.tail}", f"n{edge.head}", **look)


def _labelled(edges: Sequence[Edge]) -> float:
    """The share from which on edges have a label."""
    shares = sorted((edge.share for edge in edges if edge.label), reverse=True)
    return shares[_MAX_LABELLED_EDGES - 1] if len(shares) > _MAX_LABELLED_EDGES else 0.0


def _centred(lines: Sequence[str]) -> str:
    return _quoted("\\n".join(map(_literal, lines)))


def _left_aligned(lines: Sequence[str]) -> str:
    return _quoted("".join(f"{_literal(line)}\\l" for line in lines))


def _text(text: str) -> str:
    """A text of several lines, as tooltips have it.

    Versions of Graphviz differ in how many backslashes make one in a tooltip, and with too few a
    ``\\N`` in a name is replaced. So there is a sign that looks like it.
    """
    return _centred([line.replace("\\", "\u2216") for line in map(escaped, text.split("\n"))])


def _literal(text: str) -> str:
    """Text that Graphviz shows as it is: no entities (``&lt;``), no escapes (``\\N``)."""
    return escaped(text).replace("&", "&amp;").replace("\\", "\\\\")


def _quoted(text: str) -> str:
    """A text without markup, even in angle brackets."""
    quoted: str = import_graphviz().nohtml(text)
    return quoted
