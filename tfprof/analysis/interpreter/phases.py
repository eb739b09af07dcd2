"""Which part of a training step an op belongs to, told from names and types."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class Phase(Enum):
    """Part of a step. Initialization runs once, before the first step."""

    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    INITIALIZATION = "initialization"


STEP = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER)
"""The parts that every step runs."""

_GRADIENT_SCOPE = re.compile(r"(^|/)(gradients|gradient_tape)(_\d+)?/")
_GRADIENT_TYPE = re.compile(r"Grad(V\d+|WithArgmax|GradV\d+|Grad)?$|Backprop(?!Input)")
"""Not ``…BackpropInput``: a transposed convolution is one. Gradients have their scopes, too."""
_BACKWARD_FUNCTION = re.compile(r"(^|_)_backward_")
_OPTIMIZERS = (
    "adadelta|adafactor|adagrad|adagradda|adam|adamax|(schedule_?free_?)?adam_?w|ftrl|"
    "gradientdescent|lamb|lion|loss_?scale_?optimizer|momentum|muon|nadam|rm_?sprop|sgd"
)
_OPTIMIZER_SCOPE = re.compile(rf"(^|/)({_OPTIMIZERS})(_\d+)?/", re.IGNORECASE)
_OPTIMIZER_TYPE = re.compile(r"^(Resource)?(Sparse)?Apply[A-Z]")
_INITIALIZER_SCOPE = re.compile(r"(^|/)(\w+_)?[Ii]nitializer(_\d+)?(/|$)")


def phase_of(name: str, op_type: str, around: Phase) -> Phase:
    """The part of a step that a node belongs to.

    Args:
        name: Its name, scopes included.
        op_type: Its type.
        around: Where the function is called that it is in.
    """
    if _OPTIMIZER_TYPE.match(op_type):
        return Phase.OPTIMIZER
    if around is not Phase.FORWARD:
        return around
    scope = name[: name.rfind("/") + 1]
    phase = _phase_of_scope(scope)
    if phase is Phase.FORWARD and _GRADIENT_TYPE.search(op_type):
        return Phase.BACKWARD
    return phase


@lru_cache(maxsize=4096)
def _phase_of_scope(scope: str) -> Phase:
    if not scope:
        return Phase.FORWARD
    if _GRADIENT_SCOPE.search(scope):
        return Phase.BACKWARD
    if _OPTIMIZER_SCOPE.search(scope):
        return Phase.OPTIMIZER
    if _INITIALIZER_SCOPE.search(scope):
        return Phase.INITIALIZATION
    return Phase.FORWARD


def phase_of_function(name: str, around: Phase) -> Phase:
    """The part of a step that a function belongs to, called from a node of some part."""
    if around is Phase.FORWARD and _BACKWARD_FUNCTION.search(name):
        return Phase.BACKWARD
    return around
