"""Updates of variables: optimizer steps, additions, scatters.

A rule is counted as it is written in the op's documentation, for each element of the gradient.
Numbers that are computed once for all elements, such as Adam's step size, are left out.
``sign`` is two comparisons.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from tfprof.graphs.flops.formulas import (
    RAW_OPS,
    Cost,
    Counted,
    additions,
    declare_free,
    enter_counts,
    float_work,
    formula,
    is_complex,
    multiplications,
    operations,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import DT_RESOURCE, known_dims
from tfprof.graphs.shapes.simple import updates_of


class _Update(NamedTuple):
    """An update rule.

    Attributes:
        gradient: Which input is the gradient.
        operations: Operations per element.
        expression: The rule.
    """

    gradient: int
    operations: int
    expression: str


_MOMENTS = "m += (g - m)·(1 - β₁); v += (g² - v)·(1 - β₂)"
_FTRL = "(a'^-p - a^-p) / lr·var; q = a'^-p / lr + 2·l₂; var = (sign(z)·l₁ - z) / q where |z| > l₁"
_PROXIMAL = "p = var - α·g; var = sign(p)·max(|p| - α·l₁, 0) / (1 + α·l₂)"

_UPDATES = {
    "GradientDescent": _Update(2, 2, "var -= α·g"),
    "Momentum": _Update(3, 4, "a = μ·a + g; var -= lr·a; Nesterov: var -= lr·g + lr·μ·a"),
    "KerasMomentum": _Update(3, 4, "a = μ·a - lr·g; var += a; Nesterov: var += μ·a - lr·g"),
    "Adam": _Update(9, 12, f"{_MOMENTS}; var -= α·m / (√v + ε); Nesterov: β₁·m + (1 - β₁)·g for m"),
    "AdamWithAmsgrad": _Update(10, 13, f"{_MOMENTS}; v̂ = max(v̂, v); var -= α·m / (√v̂ + ε)"),
    "AdaMax": _Update(8, 10, "m += (g - m)·(1 - β₁); v = max(β₂·v, |g|); var -= α·m / (v + ε)"),
    "RMSProp": _Update(7, 11, "s += (g² - s)·(1 - ρ); mom = μ·mom + lr·g / √(s + ε); var -= mom"),
    "CenteredRMSProp": _Update(
        8,
        16,
        "a += (g - a)·(1 - ρ); s += (g² - s)·(1 - ρ); "
        "mom = μ·mom + lr·g / √(s - a² + ε); var -= mom",
    ),
    "Adagrad": _Update(3, 6, "a += g² if update_slots; var -= lr·g / √a"),
    "AdagradV2": _Update(4, 7, "a += g² if update_slots; var -= lr·g / (√a + ε)"),
    "AdagradDA": _Update(
        3, 14, "a += g; s += g²; var = -lr·sign(a)·max(|a| - l₁·t, 0) / (l₂·t·lr + √s)"
    ),
    "Adadelta": _Update(
        6,
        16,
        "a = ρ·a + (1 - ρ)·g²; u = g·√(d + ε) / √(a + ε); var -= lr·u; d = ρ·d + (1 - ρ)·u²",
    ),
    "Ftrl": _Update(3, 18, f"a' = a + g²; z += g - {_FTRL}"),
    "FtrlV2": _Update(3, 20, f"a' = a + g²; z += g + 2·s·var - {_FTRL}"),
    "AddSign": _Update(6, 13, "m = β·m + (1 - β)·g; var -= lr·(α + d·sign(g)·sign(m))·g"),
    "PowerSign": _Update(6, 13, "m = β·m + (1 - β)·g; var -= lr·exp(b·sign(g)·sign(m))·g"),
    "ProximalGradientDescent": _Update(4, 9, _PROXIMAL),
    "ProximalAdagrad": _Update(5, 16, f"a += g²; α = lr / √a; {_PROXIMAL}"),
}

_OPTIONS = {
    "Momentum": ("use_nesterov", False, 7),
    "KerasMomentum": ("use_nesterov", False, 7),
    "Adam": ("use_nesterov", False, 15),
    "Adagrad": ("update_slots", True, 4),
    "AdagradV2": ("update_slots", True, 5),
}
"""Attribute that changes the count, its default, and the operations if it has the other value."""


def _elements(op: OpCall, gradient: int) -> Number:
    """Elements of a gradient: those of the variable, unless only some rows have one."""
    if op.input(gradient).shape is None and "Sparse" not in op.type:
        handle = op.input(0).handle
        dims = None if handle is None else known_dims(handle.shape)
        if dims is not None:
            return math.prod(dims)
        return op.n_in(0) if op.input(0).dtype != DT_RESOURCE else op.n_in(gradient)
    return op.n_in(gradient)


def _cost(name: str, op: OpCall) -> Cost:
    """The cost of an update by the rule of an optimizer."""
    gradient, each, _ = _UPDATES[name]
    if name in _OPTIONS:
        flag, default, other = _OPTIONS[name]
        each = each if op.flag(flag, default) == default else other
    n = _elements(op, gradient)
    if is_complex(op.dtype(gradient)):
        raise UnknownError("no count is stated for updates of complex variables")
    return operations(each * n, n=n)


for _name, _update in _UPDATES.items():
    _rule = f"{_update.operations}·n"
    if _name in _OPTIONS:
        _flag, _default, _other = _OPTIONS[_name]
        _rule += f"; {_other}·n if {'not ' if _default else ''}{_flag}"
    _why = f"{_update.expression}, for each element"
    formula(updates_of(_name), _rule, why=_why)(partial(_cost, _name))


@formula(
    """
    ScatterAdd ScatterSub ScatterMin ScatterMax ScatterNdAdd ScatterNdSub ScatterNdMin ScatterNdMax
    ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterSub TensorScatterMin TensorScatterMax
    ResourceScatterAdd ResourceScatterSub ResourceScatterMin ResourceScatterMax ResourceScatterNdAdd
    ResourceScatterNdSub ResourceScatterNdMin ResourceScatterNdMax
    """,
    "n",
)
@formula(
    "ScatterMul ScatterDiv ResourceScatterMul ResourceScatterDiv",
    "n",
    why="Each of the n elements that are scattered multiplies or divides one that is there.",
)
def _scatter(op: OpCall) -> Cost:
    """Each of the n elements that are scattered is combined with one that is there.

    A scalar update changes a row for each index; the variable gives the size of rows.
    """
    n = op.n_in(2)
    if op.shape(2) == () and "Nd" not in op.type:
        handle = op.input(0).handle
        dims = known_dims(handle.shape) if handle is not None else op.shape(0)
        if not dims:
            raise UnknownError("the shape of the variable is unknown")
        n = op.n_in(1) * math.prod(dims[1:])
    work = multiplications if op.type.endswith(("Mul", "Div")) else additions
    return operations(work(n, op.dtype(2)), n=n)


@formula("AccumulatorTakeGradient ResourceAccumulatorTakeGradient", "n")
def _average(op: OpCall) -> Cost:
    """One division for each element of the average."""
    n = op.n_out()
    return operations(float_work(n, op.outputs[0].dtype), n=n)


@formula("SparseAccumulatorTakeGradient", "nnz")
def _average_sparse(op: OpCall) -> Cost:
    """One division for each element of the rows that have a gradient."""
    nnz = op.n_out(1)
    return operations(float_work(nnz, op.outputs[1].dtype), nnz=nnz)


declare_free(
    """
    ConditionalAccumulator ResourceConditionalAccumulator AccumulatorNumAccumulated
    ResourceAccumulatorNumAccumulated AccumulatorSetGlobalStep ResourceAccumulatorSetGlobalStep
    SparseConditionalAccumulator
    """,
    because="makes, counts or numbers an accumulator of gradients",
)
declare_free("CountUpTo ResourceCountUpTo", because="counts in whole numbers")

enter_counts(
    Counted("AssignAdd AssignSub AssignAddVariableOp AssignSubVariableOp", 1, of_input=1,
            work=additions, source=RAW_OPS + "AssignAddVariableOp",
            why="One addition for each element of the value."),
    Counted("ScatterNd", 1, of_input=1, work=additions,
            why="Each of the n updates is added to a place that starts out as 0."),
    Counted("AccumulatorApplyGradient ResourceAccumulatorApplyGradient", 1, of_input=2,
            work=additions, why="One addition for each element of the gradient."),
    Counted("SparseAccumulatorApplyGradient", 1, of_input=3, work=additions, letter="nnz",
            why="One addition for each element of the rows that have a gradient."),
)  # fmt: skip
