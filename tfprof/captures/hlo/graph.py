"""The instructions around one, and what flows between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from tfprof.captures.model.hlo import Computation, HloModule, Instruction

EdgeKind = Literal["data", "control", "call"]

MAX_NODES: Final = 1000
"""The most that people can still read."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An instruction of the graph.

    Attributes:
        instruction: It.
        computation: The computation that it is in.
        distance: Steps from the instruction in the middle.
        owner: The fusion whose inside it is a part of; None outside.
        n_hidden: Operands and users that are not in the graph.
    """

    instruction: Instruction
    computation: Computation
    distance: int
    owner: Instruction | None = None
    n_hidden: int = 0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """What flows from one node of the graph to another.

    Attributes:
        tail: Index of the node that it comes from.
        head: Index of the node that it goes to.
        kind: A value, nothing but order, or a computation that is called.
    """

    tail: int
    head: int
    kind: EdgeKind = "data"


@dataclass(frozen=True)
class Neighbourhood:
    """A part of a program.

    Attributes:
        nodes: The instruction in the middle first, then by distance.
        edges: Between them.
        is_cut: Whether there were too many nodes.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    is_cut: bool = False


def neighbourhood(
    module: HloModule,
    center: Instruction,
    width: int = 3,
    *,
    expand_fusions: bool = False,
    most: int = MAX_NODES,
) -> Neighbourhood:
    """The instructions from which, or to which, so many steps lead.

    Args:
        module: The program.
        center: One of its instructions.
        width: How many steps.
        expand_fusions: Show what is inside of fusions, too.
        most: How many nodes there may be.
    """
    home = module.home[center]
    users = home.users()
    distance, is_cut = {center: 0}, False
    waiting = [center]
    for one in waiting:  # grows on the way
        if distance[one] == width:
            continue
        for other in (*one.operands, *one.waits_for, *users[one]):
            if other in distance or other not in users:
                continue
            if len(distance) >= most:
                is_cut = True
                break
            distance[other] = distance[one] + 1
            waiting.append(other)
    nodes = [
        GraphNode(one, home, steps, n_hidden=_hidden(one, users[one], distance))
        for one, steps in distance.items()
    ]
    if expand_fusions:
        for node in list(nodes):
            inside = list(_inside(node, module))
            if len(nodes) + len(inside) > most:
                is_cut = True
                break
            nodes += inside
    return Neighbourhood(tuple(nodes), tuple(_edges(nodes)), is_cut)


def _hidden(one: Instruction, users: list[Instruction], shown: dict[Instruction, int]) -> int:
    return sum(1 for other in {*one.operands, *users} if other not in shown)


def _inside(node: GraphNode, module: HloModule) -> Iterator[GraphNode]:
    """What a fusion computes, fusions in it included."""
    waiting = [node]
    while waiting:
        outer = waiting.pop()
        if outer.instruction.opcode != "fusion":
            continue
        for computation in outer.instruction.calls[:1]:
            for one in computation.instructions:
                inner = GraphNode(one, computation, node.distance, outer.instruction)
                waiting.append(inner)
                yield inner


def _edges(nodes: list[GraphNode]) -> Iterator[GraphEdge]:
    """Operands and order; of opened fusions also what gets in and out."""
    places = {(node.owner, node.instruction): place for place, node in enumerate(nodes)}
    for place, node in enumerate(nodes):
        one = node.instruction
        for operand in dict.fromkeys(one.operands):
            if (node.owner, operand) in places:
                yield GraphEdge(places[node.owner, operand], place)
        for before in one.waits_for:
            if (node.owner, before) in places:
                yield GraphEdge(places[node.owner, before], place, "control")
        if node.owner is None:
            continue
        outer = next((places[key] for key in places if key[1] is node.owner), None)
        if outer is None:
            continue
        if one is node.computation.root:
            yield GraphEdge(place, outer, "call")
        if one.opcode == "parameter" and one.number < len(node.owner.operands):
            source = (nodes[outer].owner, node.owner.operands[one.number])
            if source in places:
                yield GraphEdge(places[source], place, "call")
