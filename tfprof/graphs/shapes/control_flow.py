"""Shapes of the outputs of control-flow ops."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import common_shape, count_attr
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("Merge", "RefMerge", "_XlaMerge")
def _merge(op: OpCall) -> Shapes:
    """The input from the end of a loop may not be known yet; it is left out then."""
    shape = common_shape([tensor.shape for tensor in op.inputs])
    return [shape] if op.type == "_XlaMerge" else [shape, ()]


RULES.of("Enter Exit NextIteration RefEnter RefExit RefNextIteration")(lambda op: [op.shape()])
RULES.of("LoopCond")(lambda op: [()])
RULES.of("Switch RefSwitch")(lambda op: [op.shape(0)] * 2)
RULES.of("_SwitchN")(lambda op: [op.shape(0)] * count_attr(op, "num_outs"))
RULES.of("RefSelect")(lambda op: [common_shape([tensor.shape for tensor in op.inputs[1:]])])
