"""Shapes of variables, of their values and of their handles."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import same_shape, shape_attr
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("Assign")
def _assign(op: OpCall) -> Shapes:
    """Without ``validate_shape``, a variable may change its shape."""
    if not op.flag("validate_shape", True):
        return [op.shape(1)]
    return [same_shape((op.input(1).shape, op.input(0).shape))]


RULES.of("VariableV2 TemporaryVariable")(lambda op: [shape_attr(op)])
# ``Variable`` writes an unknown shape like that of a scalar.
RULES.of("Variable")(lambda op: [shape_attr(op) or None])
RULES.of(
    """
    VarHandleOp _XlaAotOnlyVarHandleOp VarIsInitializedOp IsVariableInitialized CountUpTo
    ResourceCountUpTo
    """
)(lambda op: [()])
RULES.of("_VarHandlesOp")(lambda op: [()] * len(op.output_types))
RULES.of("ReadVariableOp")(lambda op: [op.handle(0).shape])
RULES.of("_ReadVariablesOp")(
    lambda op: [None if tensor.handle is None else tensor.handle.shape for tensor in op.inputs]
)
RULES.of("DestroyTemporaryVariable")(lambda op: [op.shape()])
