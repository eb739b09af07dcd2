"""Ops on single elements: a fixed number of operations per element of the result.

Gradients follow the definitions of TensorFlow's kernels, with the output ``y`` or the input ``x``,
and the gradient ``dy``. A choice between two values costs nothing; its comparison is one operation.

Of complex numbers, exp takes 5 (exp, cos, sin, two products), log 3 (hypot, log, atan2), sqrt 7
(hypot, two sums, halves and roots), sin, sinh and cosh 6, cos 7, 1 / x 6, x / y 11; other
functions are composed of these: tan = sin / cos takes 6 + 7 + 11.

Special functions that C's math library lacks follow the approximations of the Cephes library. A
polynomial of degree d by Horner's scheme takes 2·d operations, a Chebyshev series of k terms 3·k.
Where an approximation has branches, the one named is counted. Series that run until they converge
are taken at ``SERIES_TERMS`` terms.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    Cost,
    Counted,
    PerElement,
    additions,
    declare_free,
    enter_counts,
    enter_per_element,
    formula,
    operations,
    per_element,
    steps,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import DT_VARIANT, known_dims

_DEFINITION = "definition of the function; C's math library functions count 1"
_COMPLEX = "complex: definition of the function on the real and imaginary parts"


_COMPLEX_FUNCTIONS = {
    "Cos": 7,
    "Cosh": 6,
    "Exp": 5,
    "Expm1": 6,
    "Log": 3,
    "Log1p": 4,
    "Sin": 6,
    "Sinh": 6,
    "Sqrt": 7,
    "Tan": 24,
    "Tanh": 23,
}
_FUNCTION_NAMES = """
    Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Erfc Exp Expm1 Floor IsFinite IsInf IsNan
    Lgamma Log Log1p Rint Round Sin Sinh Sqrt Tan Tanh
"""
_FUNCTIONS = {
    name: PerElement(1, f"{name.lower()}(x)", _COMPLEX_FUNCTIONS.get(name))
    for name in _FUNCTION_NAMES.split()
}

_ARITHMETIC = {
    "Abs": PerElement(1, "|x|"),
    "Neg": PerElement(1, "-x", 2),
    "Sign": PerElement(2, "(x > 0) - (x < 0), two comparisons", 3),
    "Square": PerElement(1, "x·x", 6),
    "Reciprocal": PerElement(1, "1 / x", 6),
    "Inv": PerElement(1, "1 / x", 6),
    "Rsqrt": PerElement(2, "1 / √x", 13),
    "Add": PerElement(1, "x + y", 2),
    "AddV2": PerElement(1, "x + y", 2),
    "Sub": PerElement(1, "x - y", 2),
    "Mul": PerElement(1, "x·y", 6),
    "Div": PerElement(1, "x / y", 11),
    "RealDiv": PerElement(1, "x / y", 11),
    "DivNoNan": PerElement(2, "x / y where y ≠ 0", 13),
    "MulNoNan": PerElement(2, "x·y where y ≠ 0", 8),
    "FloorDiv": PerElement(2, "floor(x / y)"),
    "FloorMod": PerElement(4, "x - floor(x / y)·y"),
    "TruncateDiv": PerElement(2, "trunc(x / y)"),
    "Mod": PerElement(1, "fmod(x, y)"),
    "TruncateMod": PerElement(1, "fmod(x, y)"),
    "Maximum": PerElement(1, "max(x, y)"),
    "Minimum": PerElement(1, "min(x, y)"),
    "Pow": PerElement(1, "pow(x, y)", 14),
    "Atan2": PerElement(1, "atan2(y, x)"),
    "NextAfter": PerElement(1, "nextafter(x, y)"),
    "SquaredDifference": PerElement(2, "(x - y)²", 5),
    "Xdivy": PerElement(2, "x / y where x ≠ 0", 13),
    "Xlogy": PerElement(3, "x·log(y) where x ≠ 0", 11),
    "Xlog1py": PerElement(3, "x·log1p(y) where x ≠ 0", 12),
    "ClipByValue": PerElement(2, "min(max(x, low), high)"),
    "Equal": PerElement(1, "x = y", 2),
    "NotEqual": PerElement(1, "x ≠ y", 2),
    "Less": PerElement(1, "x < y"),
    "LessEqual": PerElement(1, "x ≤ y"),
    "Greater": PerElement(1, "x > y"),
    "GreaterEqual": PerElement(1, "x ≥ y"),
    "ApproximateEqual": PerElement(3, "|x - y| < tolerance", 4),
    "ComplexAbs": PerElement(1, "hypot(real, imag)", 1),
    "Angle": PerElement(1, "atan2(imag, real)", 1),
    "BiasAdd": PerElement(1, "x + bias", 2),
    "BiasAddV1": PerElement(1, "x + bias", 2),
    "Cross": PerElement(3, "a₂·b₃ - a₃·b₂"),
}

_ACTIVATIONS = {
    "Sigmoid": PerElement(4, "1 / (1 + exp(-x))", 15),
    "Relu": PerElement(1, "max(x, 0)"),
    "Relu6": PerElement(2, "min(max(x, 0), 6)"),
    "LeakyRelu": PerElement(2, "max(x, α·x)"),
    "Elu": PerElement(3, "exp(x) - 1 where x < 0"),
    "Selu": PerElement(4, "scale·x, or scale·α·(exp(x) - 1) where x < 0"),
    "Softplus": PerElement(3, "log(1 + exp(x))"),
    "Softsign": PerElement(3, "x / (1 + |x|)"),
    "_MklSwish": PerElement(5, "x / (1 + exp(-x)), the product by itself"),
    "_MklFusedMish": PerElement(5, "x·tanh(log(1 + exp(x)))"),
}

_GRADIENTS = {
    "SigmoidGrad": PerElement(3, "dy·y·(1 - y)", 14),
    "TanhGrad": PerElement(3, "dy·(1 - y·y)", 14),
    "SqrtGrad": PerElement(2, "dy·0.5 / y", 13),
    "RsqrtGrad": PerElement(4, "dy·(-0.5·y)·y·y", 20),
    "ReciprocalGrad": PerElement(3, "-dy·y·y", 14),
    "InvGrad": PerElement(3, "-dy·y·y", 14),
    "ReluGrad": PerElement(1, "dy where x > 0"),
    "Relu6Grad": PerElement(2, "dy where 0 < x < 6"),
    "LeakyReluGrad": PerElement(2, "dy, or α·dy where x ≤ 0"),
    "EluGrad": PerElement(3, "dy·(y + 1) where y < 0"),
    "SeluGrad": PerElement(3, "dy·scale, or dy·(y + scale·α) where y < 0"),
    "SoftplusGrad": PerElement(4, "dy / (1 + exp(-x))"),
    "SoftsignGrad": PerElement(4, "dy / (1 + |x|)²"),
}


PER_ELEMENT = {**_FUNCTIONS, **_ARITHMETIC, **_ACTIVATIONS, **_GRADIENTS}
"""Operations per element by op type."""

_RISC = "Abs Add Ceil Cos Div Exp Floor IsFinite Log Mul Neg Pow Sign Sub"
_ONEDNN = "Elu LeakyRelu Relu Relu6 Tanh EluGrad LeakyReluGrad ReluGrad Relu6Grad TanhGrad"
PER_ELEMENT.update({f"Risc{name}": PER_ELEMENT[name] for name in _RISC.split()})
for _op_type, _name in {"RiscMax": "Maximum", "RiscMin": "Minimum", "RiscRem": "Mod"}.items():
    PER_ELEMENT[_op_type] = PER_ELEMENT[_name]
for _name in _ONEDNN.split():
    PER_ELEMENT[f"_Mkl{_name}"] = PER_ELEMENT[_name]._replace(complex_valued=None)

for _op_type, _entry in PER_ELEMENT.items():
    _source = _DEFINITION if _entry.complex_valued is None else f"{_DEFINITION}; {_COMPLEX}"
    enter_per_element(_op_type, _entry, _source)


@formula("AddN AccumulateNV2", "(k - 1)·n")
def _add_n(op: OpCall) -> Cost:
    """The sum of k tensors takes k - 1 additions for each element."""
    terms = len(op.inputs)
    if not terms:
        raise UnknownError("a sum of nothing")
    dtype = op.dtype()
    if dtype == DT_VARIANT:
        return _add_lists(op, terms)
    n = op.n_out()
    return operations(additions((terms - 1) * n, dtype), k=terms, n=n)


def _add_lists(op: OpCall, terms: int) -> Cost:
    """Lists of tensors are added element by element."""
    handle = op.handle(0)
    dims = known_dims(handle.shape)
    if dims is None or handle.length is None:
        raise UnknownError("the sizes of the lists that are added are unknown")
    n = handle.length * math.prod(dims)
    return operations(additions((terms - 1) * n, handle.dtype), k=terms, n=n)


@formula("BiasAddGrad", "n - c")
def _bias_add_grad(op: OpCall) -> Cost:
    """Sums n gradients into c channels, one addition less for each than it has elements."""
    n, c = op.n_in(), op.n_out()
    return operations(additions(steps(n, c), op.dtype()), n=n, c=c)


@formula("_UnaryOpsComposition", "Σ operations of each op · n", "TensorFlow: op_names of the op")
def _composition(op: OpCall) -> Cost:
    """The ops that are fused, one after the other, on each element."""
    names = op.attr("op_names")
    if not isinstance(names, tuple) or not names:
        raise UnknownError("the attribute op_names is missing")
    unknown = [name for name in names if name not in PER_ELEMENT]
    if unknown:
        raise UnknownError(f"no count is stated for {unknown[0]}")
    n = op.n_out()
    return operations(sum(per_element(op, PER_ELEMENT[name]) for name in names) * n, n=n)


declare_free("Select SelectV2", because="chooses between elements, computes nothing")
declare_free("Complex Real Imag", because="moves parts of complex numbers")
declare_free("Conj", because="flips a sign bit; conjugation is free by convention")
declare_free(
    """
    LogicalAnd LogicalOr LogicalNot BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift
    PopulationCount
    """,
    because="logic on bits and truth values is not float work",
)

enter_counts(
    Counted("L2Loss", 2, source="TensorFlow API: tf.nn.l2_loss",
            why="Half the sum of squares: n squares, n - 1 additions, one halving."),
    Counted("InplaceAdd InplaceSub", 1, of_input=2, work=additions,
            why="One addition for each element that is added to the chosen rows."),
    Counted("Range", 1, of_input=None, work=additions,
            why="One addition for each number; whole numbers are not float work."),
    Counted("LinSpace", 2, of_input=None, why="start + step·k for each number."),
)  # fmt: skip


SERIES_TERMS = 20
"""Terms assumed of a series whose length depends on the values."""

_NDTRI = 30
_ZETA = 1 + 9 * 3 + 6 + 12 * 6
_IGAMMA = 6 + 6 * SERIES_TERMS + 2

_SPECIAL = {
    "Digamma": PerElement(
        19, "log(x) - 1 / (2·x) - z·P(z) with z = 1 / x² and P of degree 6, the branch x ≥ 10,"
    ),
    "Ndtri": PerElement(
        _NDTRI, "√(2·π)·(y + y·z·P(z) / Q(z)) with z = y², degrees 4 and 8, the central branch,"
    ),
    "Erfinv": PerElement(_NDTRI + 3, "Ndtri((x + 1) / 2) / √2, 30 + 3 operations,"),
    "Zeta": PerElement(_ZETA, "9 terms of Σ (q + k)^-x and 12 of Euler and Maclaurin's remainder"),
    "Polygamma": PerElement(_ZETA + 5, "±exp(lgamma(n + 1))·Zeta(n + 1, x), 5 more than Zeta,"),
    "Igamma": PerElement(
        _IGAMMA, f"x^a·exp(-x) / Γ(a) times a series of {SERIES_TERMS} terms of 6 operations"
    ),
    "Igammac": PerElement(
        _IGAMMA, f"x^a·exp(-x) / Γ(a) times a series of {SERIES_TERMS} terms of 6 operations"
    ),
    "IgammaGradA": PerElement(2 * _IGAMMA, "the series of Igamma and its derivative, as long,"),
    "RandomGammaGrad": PerElement(
        2 * _IGAMMA + 9, "-IgammaGradA / density, which is exp((a - 1)·log(x) - x - lgamma(a)),"
    ),
    "Betainc": PerElement(
        15 + 30 * SERIES_TERMS,
        f"x^a·(1 - x)^b / (a·B(a, b)) times {SERIES_TERMS} steps of 30 of a continued fraction",
    ),
    "BesselI0e": PerElement(57, "a Chebyshev series of 18 terms in |x| / 2 - 2"),
    "BesselI0": PerElement(59, "exp(|x|)·BesselI0e(x)"),
    "BesselI1e": PerElement(55, "x times a Chebyshev series of 17 terms in |x| / 2 - 2"),
    "BesselI1": PerElement(57, "exp(|x|)·BesselI1e(x)"),
    "BesselK0e": PerElement(34, "a Chebyshev series of 10 terms in 8 / x - 2, by √x, for x > 2,"),
    "BesselK0": PerElement(37, "exp(-x)·BesselK0e(x)"),
    "BesselK1e": PerElement(34, "a Chebyshev series of 10 terms in 8 / x - 2, by √x, for x > 2,"),
    "BesselK1": PerElement(37, "exp(-x)·BesselK1e(x)"),
    "BesselJ0": PerElement(37, "√z·P(z)·cos(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "BesselJ1": PerElement(37, "√z·P(z)·cos(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "BesselY0": PerElement(37, "√z·P(z)·sin(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "BesselY1": PerElement(37, "√z·P(z)·sin(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "Dawsn": PerElement(41, "x·P(x²) / Q(x²), degrees 9 and 10, for |x| < 3.25,"),
    "Expint": PerElement(26, "γ + log(x) + x·P(x) / Q(x), degrees 5 and 6, for x < 2,"),
    "FresnelCos": PerElement(26, "x·P(x⁴) / Q(x⁴), degrees 5 and 6, for x² < 2.56,"),
    "FresnelSin": PerElement(26, "x³·P(x⁴) / Q(x⁴), degrees 5 and 6, for x² < 2.56,"),
    "Spence": PerElement(32, "-w·P(w) / Q(w) with w = x - 1, degrees 7,"),
}

for _op_type, _entry in _SPECIAL.items():
    enter_per_element(_op_type, _entry, "Moshier, Cephes Mathematical Library, 1989")
