"""Ops for tests of shape rules and formulas, without a graph around them."""

from __future__ import annotations

from typing import Any

from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.flops.registry import FORMULAS
from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import DT_FLOAT, DT_INT32, Handle, PartialShape, Tensor
from tfprof.graphs.shapes.rules import Rules


def floats(*dims: Any) -> Tensor:
    """A float tensor of a shape."""
    return Tensor(dims, DT_FLOAT)


def ints(*values: Any, dtype: int = DT_INT32) -> Tensor:
    """An int vector with known values."""
    return Tensor((len(values),), dtype, values)


def scalar(value: Any, dtype: int = DT_INT32) -> Tensor:
    """An int scalar with a known value."""
    return Tensor((), dtype, (value,))


def variable(*dims: Any, dtype: int = DT_FLOAT) -> Tensor:
    """A resource that refers to a variable."""
    return Tensor((), 20, None, Handle(dims, dtype))


def call(
    op_type: str,
    *inputs: Tensor,
    outputs: tuple[Tensor, ...] = (),
    output_types: tuple[int, ...] = (DT_FLOAT,),
    **attrs: Any,
) -> OpCall:
    """An op with these inputs and attributes."""
    return OpCall(op_type, inputs, outputs, attrs, output_types)


def shapes(rules: Rules[PartialShape], op: OpCall) -> list[PartialShape]:
    """The shapes that a rule gives."""
    return list(rules[op.type](op))


def cost(rules: Rules[PartialShape] | None, op: OpCall) -> Cost:
    """The cost that a formula gives; outputs not given follow from the rules."""
    if rules is not None and not op.outputs:
        types = op.output_types or (DT_FLOAT,)
        made = tuple(
            Tensor(shape, types[min(place, len(types) - 1)])  # type: ignore[arg-type]
            for place, shape in enumerate(rules[op.type](op))
        )
        op = OpCall(op.type, op.inputs, made, op.attrs, op.output_types)
    return FORMULAS[op.type].cost(op)
