"""Shapes of ops that work on one element at a time."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.broadcasting import broadcast
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

_UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Conj", "Cos", "Cosh"),
    *("Erf", "Erfc", "Erfinv", "Exp", "Expm1", "Floor", "Inv", "Invert", "IsFinite", "IsInf"),
    *("IsNan", "Lgamma", "Log", "Log1p", "LogicalNot", "Neg", "Ndtri", "Reciprocal", "Rint"),
    *("Round", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh"),
    *("Digamma", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence", "PopulationCount"),
    *("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0"),
    *("BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Angle", "ComplexAbs"),
    *("Imag", "Real", "Elu", "Relu", "Relu6", "Selu", "Softplus", "Softsign", "LeakyRelu"),
    *("_MklFusedMish", "_MklSwish", "_UnaryOpsComposition", "Cross"),
)
_BINARY = (
    *("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "FloorDiv"),
    *("FloorMod", "Mod", "TruncateDiv", "TruncateMod", "Maximum", "Minimum", "Pow", "Atan2"),
    *("SquaredDifference", "Xdivy", "Xlogy", "Xlog1py", "NextAfter", "Complex", "Zeta"),
    *("Polygamma", "Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad"),
    *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"),
    *("LogicalAnd", "LogicalOr", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *("LeftShift", "RightShift", "Betainc", "SelectV2"),
)
_RISC_UNARY = ("Abs", "Ceil", "Cos", "Exp", "Floor", "IsFinite", "Log", "Neg", "Sign")
_RISC_BINARY = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Rem", "Sub")
_EQUAL_SHAPES = (
    *("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"),
    *("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad"),
    *("SoftsignGrad", "ApproximateEqual", "AddN", "AccumulateNV2", "ClipByValue"),
)
_MKL_UNARY = ("_MklElu", "_MklLeakyRelu", "_MklRelu", "_MklRelu6", "_MklTanh")
_MKL_GRADIENTS = (
    *("_MklEluGrad", "_MklLeakyReluGrad", "_MklReluGrad", "_MklRelu6Grad", "_MklTanhGrad"),
)


@RULES.of(*_UNARY, *(f"Risc{name}" for name in _RISC_UNARY))
def _as_input(op: OpCall) -> list[PartialShape]:
    return [op.shape()]


@RULES.of(*_BINARY, *(f"Risc{name}" for name in _RISC_BINARY))
def _broadcast(op: OpCall) -> list[PartialShape]:
    return [broadcast(*(op.shape(index) for index in range(len(op.inputs))))]


@RULES.of(*_EQUAL_SHAPES)
def _as_any_input(op: OpCall) -> list[PartialShape]:
    """All inputs have one shape, so each tells what the others leave unknown."""
    return [_common_shape(op)]


@RULES.of(*_MKL_UNARY)
def _as_input_with_layout(op: OpCall) -> list[PartialShape]:
    """The second output describes oneDNN's memory layout; its size is nobody's concern."""
    return [op.shape(), (None,)]


@RULES.of(*_MKL_GRADIENTS)
def _as_gradient_with_layout(op: OpCall) -> list[PartialShape]:
    return [broadcast(op.shape(0), op.shape(1)), (None,)]


@RULES.of("Select")
def _select(op: OpCall) -> list[PartialShape]:
    """The condition may have fewer dimensions than the two choices, which are alike."""
    for index in (1, 2):
        if op.input(index).shape is not None:
            return [op.shape(index)]
    raise UnknownError("the shapes of inputs 1 and 2 are unknown")


@RULES.of("BiasAdd", "BiasAddV1")
def _bias_add(op: OpCall) -> list[PartialShape]:
    return [op.shape()]


@RULES.of("BiasAddGrad")
def _bias_add_grad(op: OpCall) -> list[PartialShape]:
    dims = op.shape()
    if len(dims) < 2:
        raise UnknownError(f"a bias gradient of {len(dims)} dimensions")
    return [(dims[1] if op.text("data_format") == "NCHW" else dims[-1],)]


@RULES.of("L2Loss")
def _scalar(op: OpCall) -> list[PartialShape]:
    return [()]


def _common_shape(op: OpCall) -> PartialShape:
    known = [tensor.shape for tensor in op.inputs if tensor.shape]
    if known:
        return broadcast(*known)
    if any(tensor.shape == () for tensor in op.inputs):
        return ()
    raise UnknownError("the shapes of all inputs are unknown")
