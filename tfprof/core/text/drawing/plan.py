"""A drawing as plain data: nodes, clusters around them, and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

NodeKind = Literal["op", "scope", "rest"]
EdgeKind = Literal["data", "control", "through", "call"]

NO_CLUSTER: Final = -1
"""The drawing itself, as the cluster of what lies in no other."""


@dataclass(frozen=True, slots=True)
class Node:
    """One box.

    Attributes:
        lines: Lines of text.
        about: The full name, and whatever has no room in the box.
        share: Part of the largest value that is drawn, 0 to 1: size and colour.
        cluster: Index in ``Drawing.clusters``, or ``NO_CLUSTER``.
        kind: An op or code line, a scope that stands for all in it, or what was left out.
    """

    lines: Sequence[str]
    about: str = ""
    share: float = 0.0
    cluster: int = NO_CLUSTER
    kind: NodeKind = "op"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A frame around nodes.

    Attributes:
        lines: What stands at its top: a name, a value, how much in it is not drawn.
        about: The full name.
        parent: Index of the cluster around it, smaller than its own, or ``NO_CLUSTER``.
    """

    lines: Sequence[str]
    about: str = ""
    parent: int = NO_CLUSTER


@dataclass(frozen=True, slots=True)
class Edge:
    """One arrow.

    Attributes:
        tail: Index of the node where it starts.
        head: Index of the node where it ends.
        kind: Data flow, a control input, data flow through ops that are not drawn, or a call.
        label: Size, or empty.
        share: Part of the largest edge, 0 to 1: width.
        about: More on it.
    """

    tail: int
    head: int
    kind: EdgeKind = "data"
    label: str = ""
    share: float = 0.0
    about: str = ""


@dataclass(slots=True)
class Drawing:
    """A drawing, still without places.

    Attributes:
        title: Lines above it: what is shown, and how to read it.
        nodes: The boxes.
        clusters: Frames, outer ones first.
        edges: The arrows.
    """

    title: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
