"""The outputs of an op by the rules of all families."""

from __future__ import annotations

from collections.abc import Mapping

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import Handle, PartialShape, Values
from tfprof.graphs.shapes import (  # noqa: F401  # each enters its rules
    arrays,
    conv,
    elementwise,
    gathering,
    handles,
    images,
    layers,
    linalg,
    linear,
    lists,
    pool,
    quantized,
    reductions,
    sampling,
    simple,
    slicing,
    sources,
    sparse,
    spectral,
    value_arithmetic,
    value_conditions,
    value_moves,
    xla,
)
from tfprof.graphs.shapes.rules import HANDLES, SHAPES, VALUES, ResultT, Rule

MISFITS = (AttributeError, IndexError, KeyError, TypeError, ValueError, ArithmeticError)
"""Errors of rules and formulas if the graph contradicts the op's definition."""


def infer(
    op: OpCall, n_outputs: int
) -> tuple[tuple[PartialShape, ...], tuple[Values | None, ...], tuple[Handle | None, ...]]:
    """Shapes, values and handles of all outputs of an op, None where unknown."""
    shapes = _answer(SHAPES, op, n_outputs)
    return (
        tuple(None if _is_impossible(shape) else shape for shape in shapes),
        _answer(VALUES, op, n_outputs),
        _answer(HANDLES, op, n_outputs),
    )


def why_too_long(op: OpCall) -> str:
    """Why a shape has no number although all that it follows from is known; empty if it has."""
    try:
        tuple(SHAPES[op.type](op) if op.type in SHAPES else ())
    except OverflowError as error:
        return str(error)
    except (UnknownError, *MISFITS):
        pass
    return ""


def _is_impossible(shape: PartialShape) -> bool:
    """Whether a dimension is negative: the graph contradicts itself."""
    return shape is not None and any(isinstance(dim, int) and dim < 0 for dim in shape)


def _answer(
    rules: Mapping[str, Rule[ResultT | None]], op: OpCall, n_outputs: int
) -> tuple[ResultT | None, ...]:
    """The answers of a rule, one for each output."""
    nothing = (None,) * n_outputs
    rule = rules.get(op.type)
    if rule is None:
        return nothing
    try:
        answers = tuple(rule(op))
    except (UnknownError, *MISFITS):
        # The graph may have the answer; if not, its users report that it is unknown.
        return nothing
    return (answers + nothing)[:n_outputs]
