"""All rules together, and the outputs of an op by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import Handle, PartialShape, Values
from tfprof.graphs.shapes import (
    arrays,
    blocks,
    clustering,
    collective,
    colors,
    control_flow,
    conv,
    elementwise,
    fused,
    gathering,
    handles,
    linalg,
    linear,
    lists,
    losses,
    normalize,
    pool,
    quantized,
    recurrent,
    reductions,
    sampling,
    slicing,
    sources,
    sparse,
    spectral,
    updates,
    variables,
    xla,
)
from tfprof.graphs.shapes.rules import ResultT, Rule, Rules
from tfprof.graphs.shapes.values import VALUES

_SHAPE_FAMILIES = (
    arrays, blocks, clustering, collective, colors, control_flow, conv, elementwise, fused,
    gathering, linalg, linear, lists, losses, normalize, pool, quantized, recurrent,
    reductions, sampling, slicing, sources, sparse, spectral, updates, variables, xla,
)  # fmt: skip

MISFITS = (AttributeError, IndexError, KeyError, TypeError, ValueError, ArithmeticError)
"""Errors of rules and formulas if the graph contradicts the op's definition."""


def _joined(families: Sequence[Rules[ResultT]]) -> dict[str, Rule[Sequence[ResultT]]]:
    """The rules of all families.

    Raises:
        ValueError: An op type is in two of them.
    """
    rules: dict[str, Rule[Sequence[ResultT]]] = {}
    for family in families:
        twice = rules.keys() & family.keys()
        if twice:
            raise ValueError(f"in two families: {', '.join(sorted(twice))}")
        rules.update(family)
    return rules


SHAPES = _joined([family.RULES for family in _SHAPE_FAMILIES])
"""Rule for the output shapes, by op type."""

HANDLES = _joined([handles.HANDLES, sparse.HANDLES])
"""Rule for the handles of outputs, by op type."""


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


def _is_impossible(shape: PartialShape) -> bool:
    """Whether a dimension is negative: the graph contradicts itself."""
    return shape is not None and any(isinstance(dim, int) and dim < 0 for dim in shape)


def _answer(
    rules: Mapping[str, Rule[Sequence[ResultT | None]]], op: OpCall, n_outputs: int
) -> tuple[ResultT | None, ...]:
    """The answers of a rule, one for each output."""
    rule = rules.get(op.type)
    if rule is None:
        return (None,) * n_outputs
    try:
        answers = tuple(rule(op))
    except (UnknownError, *MISFITS):
        # The graph may have the answer; if not, whoever needs it reports that it is unknown.
        return (None,) * n_outputs
    return (answers + (None,) * n_outputs)[:n_outputs]
