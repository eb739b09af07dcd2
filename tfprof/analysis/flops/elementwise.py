"""Ops that work on one element at a time: so many operations per element of the result.

Gradients take the definitions of TensorFlow's kernels, in the terms that they get: the output
``y`` or the input ``x``, and the gradient ``dy``. A choice between two values is no operation; the
comparison that decides is one.
"""

from __future__ import annotations

from typing import NamedTuple

from tfprof.analysis.flops.element_types import (
    additions,
    element_type,
    float_work,
    is_complex,
)
from tfprof.analysis.flops.formulas import Cost, Family, Formula, operations
from tfprof.analysis.op_call import OpCall, UnknownError
from tfprof.model.symbolic import Number
from tfprof.model.tensors import DT_VARIANT

FAMILY = Family.named("elementwise")

_DEFINITION = "definition of the function; C's math library functions count 1"
_COMPLEX = "definition of the function on the real and imaginary parts"


class _PerElement(NamedTuple):
    """Operations per element.

    Attributes:
        count: For real elements.
        expression: What is computed.
        complex_count: For complex elements; None if the op does not take them.
    """

    count: int
    expression: str
    complex_count: int | None = None


def _function(name: str, complex_count: int | None = None) -> _PerElement:
    return _PerElement(1, f"{name}(x)", complex_count)


_FUNCTIONS = {
    "Acos": _function("acos"),
    "Acosh": _function("acosh"),
    "Asin": _function("asin"),
    "Asinh": _function("asinh"),
    "Atan": _function("atan"),
    "Atanh": _function("atanh"),
    "Ceil": _function("ceil"),
    "Cos": _function("cos", 7),
    "Cosh": _function("cosh", 6),
    "Erf": _function("erf"),
    "Erfc": _function("erfc"),
    "Exp": _function("exp", 5),
    "Expm1": _function("expm1", 6),
    "Floor": _function("floor"),
    "IsFinite": _function("isfinite"),
    "IsInf": _function("isinf"),
    "IsNan": _function("isnan"),
    "Lgamma": _function("lgamma"),
    "Log": _function("log", 3),
    "Log1p": _function("log1p", 4),
    "Rint": _function("rint"),
    "Round": _function("round"),
    "Sin": _function("sin", 6),
    "Sinh": _function("sinh", 6),
    "Sqrt": _function("sqrt", 7),
    "Tan": _function("tan", 24),
    "Tanh": _function("tanh", 23),
    "_MklTanh": _function("tanh"),
}

_ARITHMETIC = {
    "Abs": _PerElement(1, "|x|"),
    "Neg": _PerElement(1, "-x", 2),
    "Sign": _PerElement(2, "(x > 0) - (x < 0), two comparisons", 3),
    "Square": _PerElement(1, "x·x", 6),
    "Reciprocal": _PerElement(1, "1 / x", 6),
    "Inv": _PerElement(1, "1 / x", 6),
    "Rsqrt": _PerElement(2, "1 / √x", 13),
    "Add": _PerElement(1, "x + y", 2),
    "AddV2": _PerElement(1, "x + y", 2),
    "Sub": _PerElement(1, "x - y", 2),
    "Mul": _PerElement(1, "x·y", 6),
    "Div": _PerElement(1, "x / y", 11),
    "RealDiv": _PerElement(1, "x / y", 11),
    "DivNoNan": _PerElement(2, "x / y where y ≠ 0", 13),
    "MulNoNan": _PerElement(2, "x·y where y ≠ 0", 8),
    "FloorDiv": _PerElement(2, "floor(x / y)"),
    "FloorMod": _PerElement(4, "x - floor(x / y)·y"),
    "TruncateDiv": _PerElement(2, "trunc(x / y)"),
    "Mod": _PerElement(1, "fmod(x, y)"),
    "TruncateMod": _PerElement(1, "fmod(x, y)"),
    "Maximum": _PerElement(1, "max(x, y)"),
    "Minimum": _PerElement(1, "min(x, y)"),
    "Pow": _PerElement(1, "pow(x, y)", 14),
    "Atan2": _PerElement(1, "atan2(y, x)"),
    "NextAfter": _PerElement(1, "nextafter(x, y)"),
    "SquaredDifference": _PerElement(2, "(x - y)²", 5),
    "Xdivy": _PerElement(2, "x / y where x ≠ 0", 13),
    "Xlogy": _PerElement(3, "x·log(y) where x ≠ 0", 11),
    "Xlog1py": _PerElement(3, "x·log1p(y) where x ≠ 0", 12),
    "ClipByValue": _PerElement(2, "min(max(x, low), high)"),
    "Equal": _PerElement(1, "x = y", 2),
    "NotEqual": _PerElement(1, "x ≠ y", 2),
    "Less": _PerElement(1, "x < y"),
    "LessEqual": _PerElement(1, "x ≤ y"),
    "Greater": _PerElement(1, "x > y"),
    "GreaterEqual": _PerElement(1, "x ≥ y"),
    "ApproximateEqual": _PerElement(3, "|x - y| < tolerance", 4),
    "ComplexAbs": _PerElement(1, "hypot(real, imag)", 1),
    "Angle": _PerElement(1, "atan2(imag, real)", 1),
    "BiasAdd": _PerElement(1, "x + bias", 2),
    "BiasAddV1": _PerElement(1, "x + bias", 2),
    "Cross": _PerElement(3, "a₂·b₃ - a₃·b₂"),
}

_ACTIVATIONS = {
    "Sigmoid": _PerElement(4, "1 / (1 + exp(-x))", 15),
    "Relu": _PerElement(1, "max(x, 0)"),
    "Relu6": _PerElement(2, "min(max(x, 0), 6)"),
    "LeakyRelu": _PerElement(2, "max(x, α·x)"),
    "Elu": _PerElement(3, "exp(x) - 1 where x < 0"),
    "Selu": _PerElement(4, "scale·x, or scale·α·(exp(x) - 1) where x < 0"),
    "Softplus": _PerElement(3, "log(1 + exp(x))"),
    "Softsign": _PerElement(3, "x / (1 + |x|)"),
    "_MklSwish": _PerElement(5, "x / (1 + exp(-x)), the product by itself"),
    "_MklFusedMish": _PerElement(5, "x·tanh(log(1 + exp(x)))"),
    "_MklRelu": _PerElement(1, "max(x, 0)"),
    "_MklRelu6": _PerElement(2, "min(max(x, 0), 6)"),
    "_MklLeakyRelu": _PerElement(2, "max(x, α·x)"),
    "_MklElu": _PerElement(3, "exp(x) - 1 where x < 0"),
}

_GRADIENTS = {
    "SigmoidGrad": _PerElement(3, "dy·y·(1 - y)", 14),
    "TanhGrad": _PerElement(3, "dy·(1 - y·y)", 14),
    "SqrtGrad": _PerElement(2, "dy·0.5 / y", 13),
    "RsqrtGrad": _PerElement(4, "dy·(-0.5·y)·y·y", 20),
    "ReciprocalGrad": _PerElement(3, "-dy·y·y", 14),
    "InvGrad": _PerElement(3, "-dy·y·y", 14),
    "ReluGrad": _PerElement(1, "dy where x > 0"),
    "Relu6Grad": _PerElement(2, "dy where 0 < x < 6"),
    "LeakyReluGrad": _PerElement(2, "dy, or α·dy where x ≤ 0"),
    "EluGrad": _PerElement(3, "dy·(y + 1) where y < 0"),
    "SeluGrad": _PerElement(3, "dy·scale, or dy·(y + scale·α) where y < 0"),
    "SoftplusGrad": _PerElement(4, "dy / (1 + exp(-x))"),
    "SoftsignGrad": _PerElement(4, "dy / (1 + |x|)²"),
    "_MklReluGrad": _PerElement(1, "dy where x > 0"),
    "_MklRelu6Grad": _PerElement(2, "dy where 0 < x < 6"),
    "_MklLeakyReluGrad": _PerElement(2, "dy, or α·dy where x ≤ 0"),
    "_MklEluGrad": _PerElement(3, "dy·(y + 1) where y < 0"),
    "_MklTanhGrad": _PerElement(3, "dy·(1 - y·y)"),
}


def per_element(op: OpCall, entry: _PerElement) -> int:
    """Operations per element for the element type of an op.

    Raises:
        UnknownError: Elements are complex, and nothing is stated for those.
    """
    dtype = element_type(op)
    if not is_complex(dtype):
        return int(bool(float_work(1, dtype))) * entry.count
    if entry.complex_count is None:
        raise UnknownError(f"no count is stated for complex elements of {op.type}")
    return entry.complex_count


def _formula(entry: _PerElement) -> Formula:
    def cost(op: OpCall) -> Cost:
        n = op.n_out()
        return operations(per_element(op, entry) * n, n=n)

    rule = "n" if entry.count == 1 else f"{entry.count}·n"
    source = _DEFINITION if entry.complex_count is None else f"{_DEFINITION}; complex: {_COMPLEX}"
    return Formula(FAMILY.name, rule, f"{entry.expression} for each element", source, cost)


PER_ELEMENT = {**_FUNCTIONS, **_ARITHMETIC, **_ACTIVATIONS, **_GRADIENTS}
"""Operations per element by op type."""

for _op_type, _entry in PER_ELEMENT.items():
    FAMILY.add((_op_type,), _formula(_entry))


@FAMILY.formula("AddN", "AccumulateNV2", rule="(k - 1)·n", source="TensorFlow API: tf.raw_ops.AddN")
def _add_n(op: OpCall) -> Cost:
    """The sum of k tensors takes k - 1 additions for each element."""
    terms = len(op.inputs)
    dtype = element_type(op)
    if dtype == DT_VARIANT:
        return _add_lists(op, terms)
    n = op.n_out()
    return operations(additions((terms - 1) * n, dtype), k=terms, n=n)


def _add_lists(op: OpCall, terms: int) -> Cost:
    """Lists of tensors are added element by element."""
    handle = op.handle(0)
    if handle.shape is None or handle.length is None:
        raise UnknownError("the lists that are added are of unknown size")
    n: Number = handle.length
    for dim in handle.shape:
        if dim is None:
            raise UnknownError("the elements of the lists are of unknown size")
        n = n * dim
    return operations(additions((terms - 1) * n, handle.dtype), k=terms, n=n)


@FAMILY.formula("BiasAddGrad", rule="n - c", source="TensorFlow API: tf.raw_ops.BiasAddGrad")
def _bias_add_grad(op: OpCall) -> Cost:
    """Sums n gradients into c channels, one addition less for each than it has elements."""
    n, c = op.n_in(), op.n_out()
    return operations(additions(n - c, element_type(op)), n=n, c=c)


@FAMILY.formula("L2Loss", rule="2·n", source="TensorFlow API: tf.nn.l2_loss")
def _l2_loss(op: OpCall) -> Cost:
    """Half the sum of squares: n squares, n - 1 additions, one halving."""
    n = op.n_in()
    return operations(2 * n, n=n)


@FAMILY.formula(
    "InplaceAdd", "InplaceSub", rule="n(v)", source="TensorFlow API: tf.raw_ops.InplaceAdd"
)
def _inplace(op: OpCall) -> Cost:
    """One addition for each element that is added to the chosen rows."""
    n = op.n_in(2)
    return operations(additions(n, element_type(op)), n=n)


@FAMILY.formula(
    "_UnaryOpsComposition",
    rule="Σ operations of each op · n",
    source="TensorFlow: op_names of the op",
)
def _composition(op: OpCall) -> Cost:
    """The ops that are fused, one after the other, on each element."""
    names = op.attr("op_names")
    if not isinstance(names, tuple) or not names:
        raise UnknownError("the attribute op_names is missing")
    count = 0
    for name in names:
        if name not in PER_ELEMENT:
            raise UnknownError(f"no count is stated for {name}")
        count += per_element(op, PER_ELEMENT[name])
    n = op.n_out()
    return operations(count * n, n=n)


FAMILY.declare_free("Select", "SelectV2", because="chooses between elements, computes nothing")
FAMILY.declare_free("Complex", "Real", "Imag", because="moves parts of complex numbers")
FAMILY.declare_free("Conj", because="flips a sign bit; conjugation is free by convention")
FAMILY.declare_free(
    *("LogicalAnd", "LogicalOr", "LogicalNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *("Invert", "LeftShift", "RightShift", "PopulationCount"),
    because="logic on bits and truth values is no float work",
)
