"""Output shapes of ops that ran, from their input shapes, for costly and for simple ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfprof.core.wire import messages as pb
from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.read.attr_values import plain_value
from tfprof.graphs.shapes.infer import infer

Shape = tuple[int, ...]
Attributes = Mapping[str, pb.AttrValue]

COMMUTATIVE = frozenset(
    ("Add", "AddV2", "AddN", "Mul", "Maximum", "Minimum", "SquaredDifference", "Equal",
     "NotEqual", "LogicalAnd", "LogicalOr")
)  # fmt: skip
"""Ops whose operands TensorFlow's optimizer may swap."""

_SHAPED_BY_FIRST = frozenset(
    ("Abs", "AssignAdd", "AssignSub", "BiasAdd", "Cast", "Elu", "Erf", "Exp", "Identity",
     "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu", "Relu6", "Rsqrt", "Selu", "Sigmoid",
     "Sign", "Softmax", "LogSoftmax", "Softplus", "Softsign", "Sqrt", "Square", "Tanh",
     "AvgPool", "MaxPool")
)  # fmt: skip
"""Ops whose first input determines the output shape."""

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_SHAPED_BY_ALL = COMMUTATIVE | {
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "DivNoNan", "EluGrad", "FloorDiv", "FloorMod",
    "Greater", "GreaterEqual", "LeakyReluGrad", "Less", "LessEqual", "MatMul", "Pow", "RealDiv",
    "Relu6Grad", "ReluGrad", "RsqrtGrad", "SigmoidGrad", "SoftplusGrad", "Sub", "TanhGrad",
    *_CONVOLUTIONS,
}  # fmt: skip


def output_shape(
    op_type: str, attributes: Attributes, inputs: Sequence[Shape | None]
) -> Shape | None:
    """Shape of an op's first output; None if it is unknown.

    Args:
        op_type: Type of the op in the graph.
        attributes: Its attributes in the graph.
        inputs: Shapes of its inputs when it ran, None if unknown. A convolution may have run in
            another layout than that of the graph; the result is in the graph's layout.
    """
    if not inputs or inputs[0] is None:
        return None
    known = [shape for shape in inputs if shape is not None]
    if op_type not in _SHAPED_BY_FIRST:
        if op_type not in _SHAPED_BY_ALL or len(known) != len(inputs):
            return None
        if op_type in _CONVOLUTIONS and len(known) > 1:
            known[0] = _in_declared_layout(attributes, known[0], known[1])
    attrs = {name: plain_value(attributes[name]) for name in attributes}
    (shape,), _, _ = infer(OpCall(op_type, tuple(map(Tensor, known)), (), attrs), 1)
    if shape is None or not all(isinstance(size, int) for size in shape):
        return None
    return tuple(size for size in shape if isinstance(size, int))


def _in_declared_layout(attributes: Attributes, image: Shape, taps: Shape) -> Shape:
    """The image in the graph's layout, recognized by the channels of the filter."""
    if len(taps) != 4 or len(image) != 4:
        return image
    _, _, depth, filters = taps
    is_first = "data_format" in attributes and attributes["data_format"].s == b"NCHW"
    declared, other = (1, 3) if is_first else (3, 1)
    if _takes(image[declared], depth, filters) or not _takes(image[other], depth, filters):
        return image
    batch, a, b, c = image
    return (batch, c, a, b) if is_first else (batch, b, c, a)


def _takes(channels: int, depth: int, filters: int) -> bool:
    """Whether filters fit so many channels, perhaps in groups."""
    if depth == 0 or channels % depth:
        return False
    groups = channels // depth
    return groups > 0 and filters % groups == 0
