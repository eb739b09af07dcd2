"""Which part of a training step an op belongs to, judged by names, types and data flow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from tfprof.graphs.model.node_table import Kind, NodeTable
from tfprof.graphs.model.program import FunctionRef


class Phase(Enum):
    """Part of a step. Initialization runs once, before the first step."""

    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    INITIALIZATION = "initialization"


STEP = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER)
"""The parts that every step runs."""

_GRADIENT_TYPE = re.compile(r"Grad(V\d+|WithArgmax|GradV\d+|Grad)?$|Backprop(?!Input)")
"""Not ``…BackpropInput``: a transposed convolution is one. Gradients have their scopes, too."""
_BACKWARD_FUNCTION = re.compile(r"(^|_)_backward_")
_OPTIMIZERS = (
    "adadelta|adafactor|adagrad|adagradda|adam|adamax|(schedule_?free_?)?adam_?w|ftrl|"
    "exponentialmovingaverage|gradientdescent|lamb|lion|loss_?scale_?optimizer|momentum|muon|nadam|rm_?sprop|sgd"
)
_SCOPES = {
    Phase.BACKWARD: re.compile(r"(^|/)(gradients|gradient_tape)(_\d+)?/"),
    Phase.OPTIMIZER: re.compile(rf"(^|/)({_OPTIMIZERS})(_\d+)?/", re.IGNORECASE),
    Phase.INITIALIZATION: re.compile(r"(^|/)(\w+_)?[Ii]nitializer(_\d+)?(/|$)"),
}
_OPTIMIZER_TYPE = re.compile(r"^(Resource)?(Sparse)?Apply[A-Z]")
_ASSIGNMENT = re.compile(r"^(Resource)?(Assign|Scatter)|^ResourceStridedSliceAssign$")
_SUMS = ("AddN", "AccumulateNV2")


_BY_OPTIMIZER, _BY_OTHERS = 1, 2
"""The users of the outputs of a node."""


def phase_of(name: str, op_type: str, around: Phase) -> Phase:
    """The part of a step that a node belongs to; ``around`` is the part that calls its function."""
    by_type = _phase_of_type(op_type)
    if by_type is Phase.OPTIMIZER:
        return by_type
    if around is not Phase.FORWARD:
        return around
    phase = _phase_of_scope(name[: name.rfind("/") + 1])
    return by_type if phase is Phase.FORWARD else phase


@lru_cache(maxsize=1 << 12)
def _phase_of_type(op_type: str) -> Phase:
    if _OPTIMIZER_TYPE.match(op_type):
        return Phase.OPTIMIZER
    return Phase.BACKWARD if _GRADIENT_TYPE.search(op_type) else Phase.FORWARD


@lru_cache(maxsize=1 << 16)
def _phase_of_scope(scope: str) -> Phase:
    return next((phase for phase, scopes in _SCOPES.items() if scopes.search(scope)), Phase.FORWARD)


def phase_of_function(name: str, around: Phase) -> Phase:
    """The part of a step that a function belongs to, called from a node of some part."""
    if around is Phase.FORWARD and _BACKWARD_FUNCTION.search(name):
        return Phase.BACKWARD
    return around


def node_phases(nodes: NodeTable, order: Sequence[int], around: Phase) -> dict[int, Phase]:
    """The part of a step that each node of a body belongs to.

    Names and types do not show everything. Sums of gradients are backward, though they are in no
    scope. Ops whose results only serve to change variables by gradients are the optimizer, whatever
    their names.

    Args:
        nodes: The nodes.
        order: Places of those that run, producers first.
        around: Part of the step that calls the function.
    """
    phases = _phases_alone(nodes, order, around)
    if Phase.BACKWARD not in phases.values():
        return phases
    ops, (starts, sources) = nodes.ops, nodes.data_sources
    of_gradients: set[int] = set()
    assigned: set[int] = set()
    updates: set[int] = set()
    for place in order:
        phase = phases[place]
        if phase is Phase.BACKWARD:
            of_gradients.add(place)
        elif phase is Phase.FORWARD:
            op, producers = ops[place], sources[starts[place] : starts[place + 1]]
            if op in _SUMS and all(phases.get(each) is Phase.BACKWARD for each in producers):
                phases[place] = Phase.BACKWARD
            has_changed = op == "ReadVariableOp" and not assigned.isdisjoint(producers)
            if has_changed or not of_gradients.isdisjoint(producers):
                of_gradients.add(place)
                if _ASSIGNMENT.match(op):
                    updates.add(place)
                    assigned.update(producers[:1])
    if updates or Phase.OPTIMIZER in phases.values():
        _spread_updates(nodes, order, phases, updates)
    return phases


def _phases_alone(nodes: NodeTable, order: Sequence[int], around: Phase) -> dict[int, Phase]:
    """The part that each node belongs to by its own name, type and callee."""
    names, ops = nodes.names[:], nodes.ops
    phases = {place: phase_of(names[place], ops[place], around) for place in order}
    if around is Phase.FORWARD:
        kind_ids = nodes.kind_ids.tolist()
        kinds = {kind_id: nodes.kinds[kind_id] for kind_id in {kind_ids[place] for place in order}}
        backward = {kind_id for kind_id, kind in kinds.items() if _calls_backward(kind)}
        for place in order if backward else ():
            if kind_ids[place] in backward and phases[place] is Phase.FORWARD:
                phases[place] = Phase.BACKWARD
    return phases


def _calls_backward(kind: Kind) -> bool:
    called = kind.attrs.get("f")
    return isinstance(called, FunctionRef) and bool(_BACKWARD_FUNCTION.search(called.name))


def _spread_updates(
    nodes: NodeTable, order: Sequence[int], phases: dict[int, Phase], updates: set[int]
) -> None:
    """Assign to the optimizer all ops whose results only the optimizer uses."""
    starts, sources = nodes.data_sources
    used = bytearray(len(nodes))
    for place in reversed(order):
        phase = phases[place]
        if phase is Phase.FORWARD and (used[place] == _BY_OPTIMIZER or place in updates):
            phases[place] = phase = Phase.OPTIMIZER
        user = _BY_OPTIMIZER if phase is Phase.OPTIMIZER else _BY_OTHERS
        for source in sources[starts[place] : starts[place + 1]]:
            if source >= 0:
                used[source] |= user
