"""Shapes of ops that ran → output shapes of the graph's nodes, and their float operations.

TensorFlow's events have the *input* shapes of an op. They determine the output shapes of the ops
that cost most; and the inputs of an op are outputs of its producers. In the graph that ran,
TensorFlow's optimizer may have swapped operands or changed layouts, so the first goes before the
second.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tfprof.capture.eager.graph import ProgramGraph
from tfprof.capture.eager.recorder import EagerOp
from tfprof.core.columns.shapes import Shape, is_fully_defined
from tfprof.core.wire import messages as pb
from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.read.attr_values import decode_shape, plain_value
from tfprof.graphs.shapes.infer import infer
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.session.inputs import GraphSource

_SHAPE = re.compile(r"(?P<type>\w+)\[(?P<dims>[\d,]*)\]")
_TYPE_BYTES = {
    "float": 4, "double": 8, "half": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "int16": 2,
    "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "bool": 1, "complex64": 8,
    "complex128": 16, "qint8": 1, "quint8": 1, "qint32": 4, "float8_e5m2": 1, "float8_e4m3fn": 1,
}  # fmt: skip

_PASSING_ON = ("Identity", "IdentityN", "StopGradient", "PreventGradient")
"""Ops whose outputs are their inputs, one by one."""

_SHAPED_BY_INPUT = {
    "BroadcastTo": 1, "Conv2DBackpropFilter": 1, "Conv2DBackpropInput": 0,
    "Conv3DBackpropFilterV2": 1, "Conv3DBackpropInputV2": 0, "Fill": 0, "Reshape": 1,
    "DepthwiseConv2dNativeBackpropFilter": 1, "DepthwiseConv2dNativeBackpropInput": 0,
}  # fmt: skip
"""Which input of an op is the shape of its output."""

_COMMUTATIVE = frozenset(
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
_SHAPED_BY_ALL = _COMMUTATIVE | {
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "DivNoNan", "EluGrad", "FloorDiv", "FloorMod",
    "Greater", "GreaterEqual", "LeakyReluGrad", "Less", "LessEqual", "MatMul", "Pow", "RealDiv",
    "Relu6Grad", "ReluGrad", "RsqrtGrad", "SigmoidGrad", "SoftplusGrad", "Sub", "TanhGrad",
    *_CONVOLUTIONS,
}  # fmt: skip

_Dims = tuple[int, ...]
Tensors = list[tuple[str, Shape, int]]
"""Input tensor of an op, its shape, and the bytes of an element (0 if unknown)."""


class SeenShapes:
    """Shapes of the tensors of a graph, collected from several sources.

    Args:
        graph: The graph, whose declared shapes are added at once.
        eager_ops: Eager ops, whose shapes are, too.
    """

    def __init__(self, graph: ProgramGraph, eager_ops: Iterable[EagerOp]) -> None:
        self._graph = graph
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._element_bytes: dict[str, int] = {}
        self._seen: dict[tuple[str, str], Tensors] = {}
        for node in graph.nodes.values():
            if node.op == "_Arg":
                for slot, proto in enumerate(node.attr["_output_shapes"].list.shape):
                    self._know(f"{node.name}:{slot}", decode_shape(proto))
        for op in eager_ops:
            for slot, shape in enumerate(op.output_shapes):
                self._know(f"{op.node.name}:{slot}", shape, op.element_bytes[slot])

    def see(self, name: str, op_type: str, text: str) -> None:
        """Add the input shapes of an op that ran: ``(float[16,32];float[32,64])``.

        Args:
            name: Node name.
            op_type: The type under which it ran.
            text: Its inputs; an input other than a plain tensor is empty.
        """
        if (name, text) not in self._seen:
            node, parts = self._graph.nodes[name], text[1:-1].split(";")
            inputs = _data_inputs(node)
            is_fused = node.op != op_type and "Fused" in op_type  # takes what its tail takes, too
            if len(parts) == len(inputs) or (is_fused and len(parts) > len(inputs)):
                self._seen[name, text] = [
                    (tensor, *_parsed(part)) for tensor, part in zip(inputs, parts, strict=False)
                ]

    def conclude(self) -> None:
        """Derive all other shapes, and write them into the graph.

        If runs differ, the first one counts.
        """
        seen = [(self._graph.nodes[name], tensors) for (name, _), tensors in self._seen.items()]
        for node, tensors in seen:
            shape = output_shape(node.op, node.attr, [shape for _, shape, _ in tensors])
            self._know(f"{node.name}:0", shape, tensors[0][2] if tensors else 0)
        swappable = []
        for node, tensors in seen:
            if node.op in _COMMUTATIVE and len({shape for _, shape, _ in tensors}) > 1:
                swappable.append(tensors)
                continue
            for tensor, shape, size in tensors:
                self._know(tensor, shape, size)
        for tensors in swappable:
            self._know_swapped(tensors)
        self._spread()
        self._write()

    def _know(self, tensor: str, shape: Shape, element_bytes: int = 0) -> None:
        """Add a shape if it is complete and the first one of the tensor."""
        if shape is None or not is_fully_defined(shape):
            return
        self._shapes.setdefault(tensor, shape)
        if element_bytes:
            self._element_bytes.setdefault(tensor, element_bytes)

    def _know_swapped(self, tensors: Tensors) -> None:
        """Add the shapes of two operands that may have been swapped, if one of them is known."""
        if len(tensors) != 2:
            return
        (first, *_), (second, *_) = tensors
        for known, other in ((first, second), (second, first)):
            left = [seen for seen in tensors if seen[1] != self._shapes.get(known)]
            if known in self._shapes and len(left) == 1:
                self._know(other, left[0][1], left[0][2])

    def _spread(self) -> None:
        """Copy shapes into and out of inlined functions, and through ops that were not seen."""
        nodes = list(self._graph.nodes.values())
        same = [(_with_slot(source), _with_slot(target)) for source, target in self._graph.same]
        same += filter(None, map(self._model, nodes))
        for node in nodes:
            if node.op in _PASSING_ON:
                same += [
                    (name, f"{node.name}:{slot}") for slot, name in enumerate(_data_inputs(node))
                ]
        for source, target in same:
            self._copy(source, target)
        for source, target in reversed(same):
            self._copy(target, source)
        for node in nodes:
            if f"{node.name}:0" not in self._shapes:
                inputs = _data_inputs(node)
                shapes = [self._shapes.get(name) for name in inputs]
                shape = output_shape(node.op, node.attr, shapes)
                size = self._element_bytes.get(inputs[0], 0) if inputs else 0
                self._know(f"{node.name}:0", shape, size)

    def _model(self, node: pb.NodeDef) -> tuple[str, str] | None:
        """The tensor whose ``Shape`` is the shape of a node's output, and that output."""
        place = _SHAPED_BY_INPUT.get(node.op, -1)
        if not 0 <= place < len(node.input):
            return None
        name, _, slot = _with_slot(node.input[place]).rpartition(":")
        shape = self._graph.nodes.get(name)
        if shape is None or shape.op not in ("Shape", "ShapeN") or int(slot) >= len(shape.input):
            return None
        return _with_slot(shape.input[int(slot)]), f"{node.name}:0"

    def _copy(self, source: str, target: str) -> None:
        self._know(target, self._shapes.get(source), self._element_bytes.get(source, 0))

    def _write(self) -> None:
        slots: dict[str, dict[int, Shape]] = defaultdict(dict)
        for tensor, shape in self._shapes.items():
            name, _, slot = tensor.rpartition(":")
            slots[name][int(slot)] = shape
        ran = (name for name, _ in self._seen)  # those should be counted, or named as uncounted
        for name in dict.fromkeys((*slots, *ran)):
            if name not in self._graph.nodes:
                continue
            known = slots[name]
            shapes = [shape_proto(known.get(slot)) for slot in range(max(known, default=0) + 1)]
            value = pb.AttrValue.ListValue(shape=shapes)
            self._graph.nodes[name].attr["_output_shapes"].list.CopyFrom(value)

    def output_bytes(self) -> dict[str, list[tuple[int, int]]]:
        """Slot and bytes of the outputs of each node, as far as known."""
        sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for tensor, element in sorted(self._element_bytes.items()):
            name, _, slot = tensor.rpartition(":")
            sizes[name].append((int(slot), element * math.prod(self._shapes[tensor])))
        return sizes


def _parsed(part: str) -> tuple[Shape, int]:
    match = _SHAPE.fullmatch(part)
    if match is None:
        return None, 0
    shape = tuple(int(dim) for dim in match["dims"].split(",") if dim)
    return shape, _TYPE_BYTES.get(match["type"], 0)


def _with_slot(tensor: str) -> str:
    return tensor if ":" in tensor else f"{tensor}:0"


def _data_inputs(node: pb.NodeDef) -> list[str]:
    return [_with_slot(tensor) for tensor in node.input if not tensor.startswith("^")]


def shape_proto(shape: Shape) -> pb.TensorShapeProto:
    """A shape as message."""
    if shape is None:
        return pb.TensorShapeProto(unknown_rank=True)
    return pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in shape])


def eager_float_ops(ops: Iterable[EagerOp], *, classic: bool) -> Mapping[str, int]:
    """Float operations of eager ops, from the shapes of their first run.

    Each op is counted apart from the others, with placeholders as inputs.
    """
    graph = pb.GraphDef()
    names = []
    for op in ops:
        node = graph.node.add()
        node.CopyFrom(op.node)
        node.attr["_output_shapes"].list.shape.extend(map(shape_proto, op.output_shapes))
        del node.input[:]
        for place, shape in enumerate(op.input_shapes):
            source = f"{op.node.name}//{place}"
            node.input.append(source)
            maker = graph.node.add(name=source, op="Placeholder")
            maker.attr["_output_shapes"].list.shape.append(shape_proto(shape))
        names.append(op.node.name)
    profile = Profile(classic=classic)
    GraphSource(profile, graph, None).flops.write()
    counts = profile.ops.float_ops.array
    return {name: int(counts[profile.ops.row(name)]) for name in names}


def output_shape(
    op_type: str, attributes: Mapping[str, pb.AttrValue], inputs: Sequence[Shape]
) -> Shape:
    """Shape of an op's first output; None if it is unknown.

    Args:
        op_type: Type of the op in the graph.
        attributes: Its attributes in the graph.
        inputs: Shapes of its inputs when it ran, None if unknown. A convolution may have run in
            another layout than that of the graph; the result is in the graph's layout.
    """
    if not inputs or inputs[0] is None:
        return None
    known: list[_Dims] = [shape for shape in inputs if shape is not None]
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


def _in_declared_layout(attributes: Mapping[str, pb.AttrValue], image: _Dims, taps: _Dims) -> _Dims:
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
