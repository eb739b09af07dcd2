"""Shapes of what control flow passes on."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import common_shape, count_attr
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("Enter", "Exit", "NextIteration", "RefEnter", "RefExit", "RefNextIteration")
def _passed_on(op: OpCall) -> Shapes:
    return [op.shape(0)]


@RULES.of("LoopCond")
def _loop_condition(op: OpCall) -> Shapes:
    return [()]


@RULES.of("Switch", "RefSwitch")
def _switch(op: OpCall) -> Shapes:
    return [op.shape(0)] * 2


@RULES.of("_SwitchN")
def _switch_many(op: OpCall) -> Shapes:
    return [op.shape(0)] * count_attr(op, "num_outs")


@RULES.of("Merge", "RefMerge", "_XlaMerge")
def _merge(op: OpCall) -> Shapes:
    """What comes back from the end of a loop may not be known yet, and is left out."""
    shape = common_shape([tensor.shape for tensor in op.inputs])
    return [shape] if op.type == "_XlaMerge" else [shape, ()]


@RULES.of("RefSelect")
def _select_reference(op: OpCall) -> Shapes:
    return [common_shape([tensor.shape for tensor in op.inputs[1:]])]
