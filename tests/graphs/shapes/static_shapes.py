"""Compares shape rules with the shapes that TensorFlow infers for the same op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Symbolic, bind
from tfprof.graphs.model.tensors import FLOAT_TYPES, PartialShape, Tensor
from tfprof.graphs.shapes.rules import Rules

Case = tuple[str, dict[str, Any]]
"""Op type and arguments; a tuple stands for a float tensor of that shape."""


def live_op(op_type: str, arguments: dict[str, Any]) -> Any:
    """The op in a graph of its own. Arguments that are tuples become placeholders of that shape,
    or of the type that stands first in them."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_library, op_def_registry

    signature = op_def_registry.get(op_type)
    inputs = {argument.name for argument in signature.input_arg}
    with tf.Graph().as_default():
        values = {
            name: _placeholder(value) if name in inputs else value
            for name, value in arguments.items()
        }
        public = getattr(tf.raw_ops, op_type, None)
        if public is not None:
            made = public(**values)
        else:
            made = op_def_library.apply_op(op_type, name="op", **{**_defaults(signature), **values})
    while isinstance(made, (list, tuple)):
        made = made[0]
    return getattr(made, "op", made)


def _defaults(signature: Any) -> dict[str, Any]:
    """What the wrapper of a public op would fill in."""
    inferred = {argument.number_attr for argument in signature.input_arg}
    values = {
        attr.name: _plain(attr.default_value)
        for attr in signature.attr
        if attr.HasField("default_value") and attr.type != "type" and attr.name not in inferred
    }
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _placeholder(value: Any) -> Any:
    import tensorflow as tf

    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return [_placeholder(item) for item in value]
    if not isinstance(value, tuple):
        return value
    dtype, shape = (value[0], value[1:]) if value and isinstance(value[0], str) else ("", value)
    return tf.compat.v1.placeholder(dtype or "float32", shape)


def call_of(op: Any) -> OpCall:
    """The view of a live op for a rule."""
    from tensorflow.python.framework import tensor_util

    inputs = []
    for tensor in op.inputs:
        constant = tensor_util.constant_value(tensor)
        values = None if constant is None else tuple(constant.ravel().tolist())
        inputs.append(Tensor(tuple(tensor.shape.as_list()), tensor.dtype.as_datatype_enum, values))
    attrs = {name: _plain(value) for name, value in op.node_def.attr.items()}
    types = tuple(output.dtype.as_datatype_enum for output in op.outputs)
    return OpCall(op.type, tuple(inputs), (), attrs, types)


def _plain(attr: Any) -> Any:
    kind = attr.WhichOneof("value")
    if kind == "list":
        ((_, values),) = attr.list.ListFields() or [(None, ())]
        return tuple(value.decode() if isinstance(value, bytes) else value for value in values)
    value = getattr(attr, kind)
    if kind == "shape":
        return tuple(dim.size for dim in value.dim)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value


def static_shapes(op: Any) -> list[PartialShape]:
    """The shapes that TensorFlow infers."""
    return [
        None if output.shape.rank is None else tuple(output.shape.as_list())
        for output in op.outputs
    ]


def assert_like_tensorflow(rules: Rules[PartialShape], case: Case) -> None:
    """The rule's shapes are TensorFlow's, also if sizes of the inputs are unknown at first."""
    op = live_op(*case)
    call = call_of(op)
    wanted = static_shapes(op)
    mine = list(rules[call.type](call))
    assert len(mine) == len(wanted), case
    for shape, expected in zip(mine, wanted, strict=True):
        assert agree(shape, expected), f"{case}: {mine} instead of {wanted}"
    unknown, sizes = with_unknown_sizes(call)
    later = [bound(shape, sizes) for shape in rules[call.type](unknown)]
    for shape, expected in zip(later, mine, strict=True):
        assert agree(expected, shape), f"{case}: {later} instead of {mine} with unknown sizes"


def agree(shape: PartialShape, expected: PartialShape) -> bool:
    """Whether a shape says all that the expected one says, and nothing else."""
    if expected is None:
        return True
    if shape is None or len(shape) != len(expected):
        return False
    return all(right is None or left == right for left, right in zip(shape, expected, strict=True))


def with_unknown_sizes(call: OpCall) -> tuple[OpCall, dict[str, int]]:
    """The op with an unknown for every size above 1 of its float inputs."""
    sizes: dict[str, int] = {}

    def unknown(size: Any) -> Any:
        if not isinstance(size, int) or size < 2:
            return size
        sizes[f"S{size}"] = size
        return Symbolic.named(f"S{size}")

    inputs = [
        tensor
        if tensor.dtype not in FLOAT_TYPES or tensor.shape is None
        else tensor._replace(shape=tuple(map(unknown, tensor.shape)))
        for tensor in call.inputs
    ]
    return OpCall(call.type, tuple(inputs), (), call.attrs, call.output_types), sizes


def bound(shape: PartialShape | Sequence[Any], sizes: dict[str, int]) -> PartialShape:
    """A shape with the unknowns filled in."""
    if shape is None:
        return None
    return tuple(None if size is None else bind(size, sizes) for size in shape)
