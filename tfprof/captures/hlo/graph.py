"""The instructions around one instruction, and the values that flow between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tfprof.captures.model.hlo import Computation, HloModule, Instruction

EdgeKind = Literal["data", "control", "call"]

MAX_NODES: Final = 1000
"""The largest graph that people can still read."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An instruction of the graph.

    Attributes:
        instruction: The instruction.
        computation: The computation that contains it.
        distance: Edges from the instruction in the middle.
        owner: The fusion that contains it; None outside of fusions.
        hidden_inputs: How many of its operands are not in the graph.
        hidden_users: How many of its users are not in the graph.
    """

    instruction: Instruction
    computation: Computation
    distance: int
    owner: Instruction | None = None
    hidden_inputs: int = 0
    hidden_users: int = 0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A connection from one node of the graph to another.

    Attributes:
        tail: Index of the node where it begins.
        head: Index of the node where it ends.
        kind: ``data`` for a value, ``control`` for order alone, ``call`` for a called computation.
    """

    tail: int
    head: int
    kind: EdgeKind = "data"


@dataclass(frozen=True)
class Neighbourhood:
    """A part of a program.

    Attributes:
        nodes: The instruction in the middle first, then the others by distance.
        edges: The edges between them.
        is_cut: Whether nodes are missing because there were too many.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    is_cut: bool = False


def neighbourhood(
    module: HloModule,
    center: Instruction,
    width: int = 3,
    *,
    expand_fusions: bool | Collection[str] = False,
    inputs_of: Sequence[str] = (),
    users_of: Sequence[str] = (),
    most: int = MAX_NODES,
) -> Neighbourhood:
    """The instructions within some edges of an instruction, in both directions.

    Args:
        module: The program.
        center: One of its instructions.
        width: The largest number of edges.
        expand_fusions: Also show the instructions inside of fusions: of all, or of those with these
            names, which may be loops, calls and branches, too.
        inputs_of: Names of instructions whose operands are in the graph, too, however far away.
            Names of instructions that are not in the graph have no effect.
        users_of: The same for users.
        most: The largest number of nodes.
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
    is_cut |= _add_opened(distance, users, inputs_of, users_of, most)
    nodes = [
        GraphNode(
            one,
            home,
            steps,
            hidden_inputs=len({*one.operands} - distance.keys()),
            hidden_users=len({*users[one]} - distance.keys()),
        )
        for one, steps in distance.items()
    ]
    if expand_fusions:
        opened = None if expand_fusions is True else expand_fusions
        for node in list(nodes):
            inside = list(_inside(node, opened))
            if len(nodes) + len(inside) > most:
                is_cut = True
                break
            nodes += inside
    return Neighbourhood(tuple(nodes), tuple(_edges(nodes)), is_cut)


def _add_opened(
    distance: dict[Instruction, int],
    users: Mapping[Instruction, list[Instruction]],
    inputs_of: Sequence[str],
    users_of: Sequence[str],
    most: int,
) -> bool:
    """Add operands and users of named instructions; returns whether there were too many.

    One that was added may be named, too, so names count until nothing is new.
    """
    wanted = {(name, True) for name in inputs_of} | {(name, False) for name in users_of}
    waiting = list(distance) if wanted else []
    for one in waiting:  # grows on the way
        others: list[Instruction] = []
        if (one.name, True) in wanted:
            others += one.operands
        if (one.name, False) in wanted:
            others += users[one]
        for other in others:
            if other in distance or other not in users:
                continue
            if len(distance) >= most:
                return True
            distance[other] = distance[one] + 1
            waiting.append(other)
    return False


def inner_computations(one: Instruction) -> tuple[Computation, ...]:
    """The computations that an instruction stands for: of a fusion or call, the body of a loop."""
    if one.opcode in ("fusion", "call", "while"):
        return one.calls[:1]
    return one.calls if one.opcode == "conditional" else ()


def _inside(node: GraphNode, opened: Collection[str] | None) -> Iterator[GraphNode]:
    """The instructions inside a fusion, including those of nested fusions.

    Args:
        node: An instruction.
        opened: Names of the instructions that are opened, also loops, calls and branches; None for
            all fusions.
    """
    waiting = [node]
    while waiting:
        outer = waiting.pop()
        one = outer.instruction
        if one.opcode != "fusion" if opened is None else one.name not in opened:
            continue
        for computation in inner_computations(one):
            for inside in computation.instructions:
                inner = GraphNode(inside, computation, node.distance, one)
                waiting.append(inner)
                yield inner


def _edges(nodes: list[GraphNode]) -> Iterator[GraphEdge]:
    """Edges of operands and of order; for opened fusions also those that enter and leave."""
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
