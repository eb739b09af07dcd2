"""Loops and conditionals of TensorFlow 1, which are made of single ops in the graph.

``Enter`` leads into a loop, ``Merge`` joins what enters with what ``NextIteration`` brings back,
``LoopCond`` holds the condition, ``Switch`` leads on into the body or, through ``Exit``, out of
the loop. A conditional has ``Switch`` and ``Merge`` only. The gradient of a loop is another loop,
which pops what this one has pushed on stacks. (Yu et al., Dynamic control flow in
large-scale machine learning, EuroSys 2018, sections 3 and 4.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tfprof.graphs.interpreter.dataflow import BACK_EDGES, MERGE
from tfprof.graphs.model.program import Body

ENTER = frozenset({"Enter", "RefEnter"})
SWITCH = frozenset({"Switch", "RefSwitch"})
EXIT = frozenset({"Exit", "RefExit"})
PUSH = frozenset({"StackPush", "StackPushV2"})
POP = frozenset({"StackPop", "StackPopV2"})
CONTROL_FLOW = ENTER | MERGE | SWITCH | EXIT | BACK_EDGES | PUSH | POP

Side = tuple[int, int, int]
"""One side of a conditional: node and output of the predicate, and 1 where it is true."""


@dataclass(slots=True)
class Loop:
    """A loop.

    Attributes:
        name: Name of its frame.
        parent: The loop around it, if any.
        merges: Place of each ``Merge`` that starts an iteration, and of its ``NextIteration``.
        condition: Place of the ``LoopCond``; -1 if there is none.
        in_condition: Places of the nodes that compute the condition.
    """

    name: str
    parent: Loop | None
    merges: dict[int, int] = field(default_factory=dict)
    condition: int = -1
    in_condition: set[int] = field(default_factory=set)

    @property
    def depth(self) -> int:
        """Number of loops around it."""
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(frozen=True, slots=True)
class Frames:
    """Loops and conditionals of a body.

    Attributes:
        loops: The loops, outer ones first.
        loop_of: The innermost loop around nodes, by place; nodes in no loop are not there.
        loop_at: The loop that a ``Merge`` starts.
        sides: Sides of conditionals that nodes are on, by place.
        switches: Number of conditionals around each predicate's first ``Switch``.
    """

    loops: list[Loop]
    loop_of: dict[int, Loop]
    loop_at: dict[int, Loop]
    sides: dict[int, frozenset[Side]]
    switches: dict[tuple[int, int], int]


def find_frames(body: Body, order: Sequence[int]) -> Frames | None:
    """Loops and conditionals of a body whose nodes are in data-flow order; None if it has none."""
    special = body.nodes.of_types(CONTROL_FLOW)
    if not special or set(special).isdisjoint(order):
        return None
    loop_of, loops = _loops(body, order)
    loop_at = {merge: loop for loop in loops for merge in loop.merges}
    for loop in loops:
        loop.in_condition.update(_ancestors(body, loop, loop_of))
    sides, switches = _sides(body, order, loop_at)
    loops.sort(key=lambda loop: loop.depth)
    return Frames(loops, loop_of, loop_at, sides, switches)


def _loops(body: Body, order: Sequence[int]) -> tuple[dict[int, Loop], list[Loop]]:
    nodes = body.nodes
    loop_of: dict[int, Loop] = {}
    by_name: dict[tuple[int, str], Loop] = {}
    for place in order:
        node = nodes[place]
        sources = [source for source, _ in node.inputs] + list(node.controls)
        around = [loop_of[source] for source in sources if source in loop_of]
        loop = max(around, key=lambda loop: loop.depth, default=None)
        op = node.kind.op
        if op in ENTER:
            name = str(node.kind.attrs.get("frame_name", ""))
            key = (id(loop), name)
            if key not in by_name:
                by_name[key] = Loop(name, loop)
            loop = by_name[key]
        elif op in EXIT and loop is not None:
            loop = loop.parent
        elif op == "LoopCond" and loop is not None:
            loop.condition = place
        elif op in MERGE and loop is not None:
            back = [source for source, _ in node.inputs if _is_back_edge(body, source)]
            if back:
                loop.merges[place] = back[0]
        if loop is not None:
            loop_of[place] = loop
    return loop_of, list(by_name.values())


def _is_back_edge(body: Body, source: int) -> bool:
    return source >= 0 and body.nodes[source].kind.op in BACK_EDGES


def _ancestors(body: Body, loop: Loop, loop_of: Mapping[int, Loop]) -> set[int]:
    """Nodes of a loop that its condition depends on."""
    ancestors: set[int] = set()
    waiting = [loop.condition]
    while waiting:
        place = waiting.pop()
        if place in ancestors or loop_of.get(place) is not loop:
            continue
        ancestors.add(place)
        if body.nodes[place].kind.op not in MERGE:
            waiting += [source for source, _ in body.nodes[place].inputs]
    return ancestors


def _sides(
    body: Body, order: Sequence[int], loop_at: Mapping[int, Loop]
) -> tuple[dict[int, frozenset[Side]], dict[tuple[int, int], int]]:
    nodes = body.nodes
    sides: dict[int, frozenset[Side]] = {}
    switches: dict[tuple[int, int], int] = {}
    nowhere: frozenset[Side] = frozenset()

    def of_edge(source: int, slot: int) -> frozenset[Side]:
        there = sides.get(source, nowhere)
        predicate = _predicate(body, source)
        return there if predicate is None else there | {(*predicate, slot)}

    for place in order:
        node = nodes[place]
        edges = [
            of_edge(source, slot)
            for source, slot in node.inputs
            if source >= 0 and not _is_back_edge(body, source)
        ]
        if node.kind.op in MERGE and place not in loop_at:
            here = frozenset.intersection(*edges) if edges else nowhere
        else:
            here = nowhere.union(*edges)
        here = here.union(*(sides.get(source, nowhere) for source in node.controls))
        if here:
            sides[place] = here
        predicate = _predicate(body, place)
        if predicate is not None:
            switches.setdefault(predicate, len(here))
    return sides, switches


def _predicate(body: Body, place: int) -> tuple[int, int] | None:
    """The predicate of a ``Switch`` of a conditional; None for every other node."""
    node = body.nodes[place]
    if node.kind.op not in SWITCH or len(node.inputs) < 2:
        return None
    source, slot = node.inputs[1]
    if source < 0:
        return None
    asked = body.nodes[source].kind.op
    return None if asked == "LoopCond" else (source, slot)
