"""Shapes of ops that work on one element at a time."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.dims import broadcast
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("Select")
def _select(op: OpCall) -> Shapes:
    """The condition may have fewer dimensions than the two choices, which have one shape."""
    for index in (1, 2):
        if op.input(index).shape is not None:
            return [op.shape(index)]
    raise UnknownError("the shapes of inputs 1 and 2 are unknown")


@SHAPES.of("BiasAddGrad")
def _bias_add_grad(op: OpCall) -> Shapes:
    dims = op.shape()
    if len(dims) < 2:
        raise UnknownError(f"a bias gradient of {len(dims)} dimensions")
    return [(dims[1] if op.text("data_format") == "NCHW" else dims[-1],)]


def _common_shape(op: OpCall) -> PartialShape:
    known = [tensor.shape for tensor in op.inputs if tensor.shape]
    if known:
        return broadcast(*known)
    if any(tensor.shape == () for tensor in op.inputs):
        return ()
    raise UnknownError("the shapes of all inputs are unknown")


SHAPES.of(
    """
    Add AddV2 Sub Mul Div RealDiv DivNoNan MulNoNan FloorDiv FloorMod Mod TruncateDiv TruncateMod
    Maximum Minimum Pow Atan2 SquaredDifference Xdivy Xlogy Xlog1py NextAfter Complex Zeta
    Polygamma Igamma Igammac IgammaGradA RandomGammaGrad Equal NotEqual Less LessEqual Greater
    GreaterEqual LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Betainc
    SelectV2 RiscAdd RiscDiv RiscMax RiscMin RiscMul RiscPow RiscRem RiscSub
    """
)(lambda op: [broadcast(*(op.shape(index) for index in range(len(op.inputs))))])
# All inputs have the same shape, so one may give a dimension that another leaves unknown.
SHAPES.of(
    """
    SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ReluGrad Relu6Grad LeakyReluGrad
    EluGrad SeluGrad SoftplusGrad SoftsignGrad ApproximateEqual AddN AccumulateNV2 ClipByValue
    """
)(lambda op: [_common_shape(op)])
# The second output describes oneDNN's memory layout, on which nothing depends.
SHAPES.of("_MklElu _MklLeakyRelu _MklRelu _MklRelu6 _MklTanh")(lambda op: [op.shape(), (None,)])
SHAPES.of("_MklEluGrad _MklLeakyReluGrad _MklReluGrad _MklRelu6Grad _MklTanhGrad")(
    lambda op: [broadcast(op.shape(0), op.shape(1)), (None,)]
)
