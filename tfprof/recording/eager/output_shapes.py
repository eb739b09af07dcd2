"""What comes out of an op, by what went in: the ops that cost most, and simple ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfprof._wire import messages as pb

Shape = tuple[int, ...]
Attributes = Mapping[str, pb.AttrValue]

COMMUTATIVE = frozenset(
    ("Add", "AddV2", "AddN", "Mul", "Maximum", "Minimum", "SquaredDifference", "Equal",
     "NotEqual", "LogicalAnd", "LogicalOr")
)  # fmt: skip
"""Ops whose operands TensorFlow's optimizer may swap."""

_LIKE_FIRST_INPUT = frozenset(
    ("Abs", "AssignAdd", "AssignSub", "BiasAdd", "Cast", "Elu", "Erf", "Exp", "Identity",
     "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu", "Relu6", "Rsqrt", "Selu", "Sigmoid",
     "Sign", "Softmax", "LogSoftmax", "Softplus", "Softsign", "Sqrt", "Square", "Tanh")
)  # fmt: skip
_BROADCASTING = COMMUTATIVE | {
    "DivNoNan", "EluGrad", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "LeakyReluGrad",
    "Less", "LessEqual", "Pow", "RealDiv", "Relu6Grad", "ReluGrad", "RsqrtGrad", "SigmoidGrad",
    "SoftplusGrad", "Sub", "TanhGrad",
}  # fmt: skip
_BATCH_PRODUCTS = ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_POOLS = ("MaxPool", "AvgPool")


def output_shape(
    op_type: str, attributes: Attributes, inputs: Sequence[Shape | None]
) -> Shape | None:
    """Shape of an op's first output, None if it is not known.

    Args:
        op_type: Type of the op in the graph.
        attributes: Its attributes in the graph.
        inputs: Shapes that it saw, None where unknown. A convolution may have run in another
            layout than the graph says; the answer is in the graph's.
    """
    if not inputs or inputs[0] is None:
        return None
    if op_type in _LIKE_FIRST_INPUT:
        return inputs[0]
    if op_type in _POOLS:
        window = tuple(attributes["ksize"].list.i)
        return _sliding(attributes, inputs[0], window, channels=None)
    known = [shape for shape in inputs if shape is not None]
    if len(known) != len(inputs):
        return None
    if op_type in _BROADCASTING:
        return _broadcast(known)
    return _product_or_convolution(op_type, attributes, known) if len(known) == 2 else None


def _product_or_convolution(
    op_type: str, attributes: Attributes, inputs: Sequence[Shape]
) -> Shape | None:
    if op_type == "MatMul":
        return _product(inputs, _flag(attributes, "transpose_a"), _flag(attributes, "transpose_b"))
    if op_type in _BATCH_PRODUCTS:
        return _product(inputs, _flag(attributes, "adj_x"), _flag(attributes, "adj_y"))
    if op_type in _CONVOLUTIONS:
        return _convolution(op_type, attributes, *inputs)
    return None


def _flag(attributes: Attributes, name: str) -> bool:
    return name in attributes and attributes[name].b


def _broadcast(shapes: Sequence[Shape]) -> Shape | None:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    sizes = [{size for size in column if size != 1} for column in zip(*padded, strict=True)]
    if any(len(size) > 1 for size in sizes):
        return None
    return tuple(size.pop() if size else 1 for size in sizes)


def _product(factors: Sequence[Shape], transposed_a: bool, transposed_b: bool) -> Shape | None:
    left, right = factors
    if min(len(left), len(right)) < 2:
        return None
    batch = _broadcast([left[:-2], right[:-2]])
    rows = left[-1] if transposed_a else left[-2]
    columns = right[-2] if transposed_b else right[-1]
    return None if batch is None else (*batch, rows, columns)


def _convolution(op_type: str, attributes: Attributes, image: Shape, taps: Shape) -> Shape | None:
    if len(taps) != 4 or len(image) != 4:
        return None
    height, width, depth, filters = taps
    is_first = _is_channels_first(attributes)
    declared, other = (1, 3) if is_first else (3, 1)
    if not _takes(image[declared], depth, filters) and _takes(image[other], depth, filters):
        image = (image[0], *_other_layout(image, to_channels_first=is_first))
    window = (1, 1, height, width) if is_first else (1, height, width, 1)
    channels = depth * filters if op_type == "DepthwiseConv2dNative" else filters
    return _sliding(attributes, image, window, channels)


def _takes(channels: int, depth: int, filters: int) -> bool:
    """Whether filters can go over so many channels, perhaps in groups."""
    if depth == 0 or channels % depth:
        return False
    groups = channels // depth
    return groups > 0 and filters % groups == 0


def _other_layout(image: Shape, *, to_channels_first: bool) -> Shape:
    _, a, b, c = image
    return (c, a, b) if to_channels_first else (b, c, a)


def _is_channels_first(attributes: Attributes) -> bool:
    return "data_format" in attributes and attributes["data_format"].s == b"NCHW"


def _sliding(
    attributes: Attributes, image: Shape, window: Shape, channels: int | None
) -> Shape | None:
    """What a window gives that slides over an image, with TensorFlow's two kinds of padding."""
    strides = tuple(attributes["strides"].list.i)
    steps = tuple(attributes["dilations"].list.i) if "dilations" in attributes else ()
    steps = steps or (1,) * len(window)
    padding = attributes["padding"].s
    sizes = (len(image), len(window), len(strides), len(steps))
    if sizes != (4, 4, 4, 4) or padding not in (b"SAME", b"VALID") or 0 in strides:
        return None
    result = list(image)
    for place in (2, 3) if _is_channels_first(attributes) else (1, 2):
        lost = (window[place] - 1) * steps[place] if padding == b"VALID" else 0
        result[place] = -(-(image[place] - lost) // strides[place])
    if channels is not None:
        result[1 if _is_channels_first(attributes) else 3] = channels
    return tuple(result) if min(result) >= 0 else None
