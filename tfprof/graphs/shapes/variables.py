"""Shapes of variables, what is read from them, and what refers to them."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import same_shape, shape_attr
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("VariableV2", "TemporaryVariable")
def _variable(op: OpCall) -> Shapes:
    return [shape_attr(op)]


@RULES.of("Variable")
def _first_variable(op: OpCall) -> Shapes:
    """The first kind of variable spelled an unknown shape like that of a scalar."""
    return [shape_attr(op) or None]


@RULES.of("VarHandleOp", "_XlaAotOnlyVarHandleOp", "VarIsInitializedOp", "IsVariableInitialized")
def _handle(op: OpCall) -> Shapes:
    return [()]


@RULES.of("_VarHandlesOp")
def _handles(op: OpCall) -> Shapes:
    return [()] * len(op.output_types)


@RULES.of("ReadVariableOp")
def _read(op: OpCall) -> Shapes:
    return [op.handle(0).shape]


@RULES.of("_ReadVariablesOp")
def _read_all(op: OpCall) -> Shapes:
    return [None if tensor.handle is None else tensor.handle.shape for tensor in op.inputs]


@RULES.of("Assign")
def _assign(op: OpCall) -> Shapes:
    """Without ``validate_shape``, a variable may change its shape."""
    if not op.flag("validate_shape", True):
        return [op.shape(1)]
    return [same_shape((op.input(1).shape, op.input(0).shape))]


@RULES.of("DestroyTemporaryVariable")
def _last_value(op: OpCall) -> Shapes:
    return [op.shape(0)]


@RULES.of("CountUpTo", "ResourceCountUpTo")
def _counter(op: OpCall) -> Shapes:
    return [()]
