"""Attributes of nodes as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfprof.core.columns.shapes import Shape
from tfprof.core.wire import messages as pb
from tfprof.graphs.model.graph_columns import AttrValue
from tfprof.graphs.model.program import FunctionRef
from tfprof.graphs.model.tensors import MOST_VALUES, REF, Tensor, Values

_NUMPY_TYPES = {
    1: "<f4", 2: "<f8", 3: "<i4", 4: "<u1", 5: "<i2", 6: "<i1", 9: "<i8", 10: "?", 17: "<u2",
    19: "<f2", 22: "<u4", 23: "<u8",
}  # fmt: skip
"""Layout of the elements in ``tensor_content``, by ``DataType``."""

_VALUE_FIELDS = {
    1: "float_val", 2: "double_val", 3: "int_val", 4: "int_val", 5: "int_val", 6: "int_val",
    9: "int64_val", 10: "bool_val", 17: "int_val", 22: "uint32_val", 23: "uint64_val",
}  # fmt: skip

_MOST_DIMS = 64
"""Shapes of more count as of unknown rank: Python may refuse to write their number of elements."""


def decode_shape(shape: pb.TensorShapeProto) -> Shape:
    """A shape as tables hold it: -1 for unknown dimensions; None for an unknown rank.

    Dimensions win over a contradicting ``unknown_rank``, as in the original.
    """
    if len(shape.dim) > _MOST_DIMS:
        return None
    dims = tuple([dim.size for dim in shape.dim])
    return None if shape.unknown_rank and not dims else dims


def partial_shape(shape: Shape) -> tuple[int | None, ...] | None:
    """A shape of a table for analysis: None for unknown dimensions."""
    return None if shape is None else tuple([None if dim < 0 else dim for dim in shape])


def plain_shape(shape: pb.TensorShapeProto) -> tuple[int | None, ...] | None:
    """A shape, None for unknown dimensions; None for an unknown rank."""
    return partial_shape(decode_shape(shape))


def plain_attr(value: pb.AttrValue) -> AttrValue | None:
    """An attribute as in a table; None for kinds that no formula of classic mode reads."""
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode("utf-8", "replace")
    if kind == "list":
        return tuple(value.list.i)
    number: int | bool | None = getattr(value, kind) if kind in ("b", "i", "type") else None
    return number


def plain_value(value: pb.AttrValue) -> Any:
    """An attribute as a number, text, shape, ``Tensor`` or ``FunctionRef``, or a tuple.

    Text that is not UTF-8 stays bytes. None for an attribute without a value.
    """
    kind = value.WhichOneof("value")
    if kind is None or kind == "placeholder":  # a function may take attributes of its call
        return None
    plain = _PLAIN.get(kind)
    given = getattr(value, kind)
    return given if plain is None else plain(given)


def _plain_list(values: pb.AttrValue.ListValue) -> tuple[Any, ...]:
    if values.s:
        return tuple(map(_text, values.s))
    if values.type:
        return tuple(map(base_type, values.type))
    if values.shape:
        return tuple(map(plain_shape, values.shape))
    if values.tensor:
        return tuple(map(plain_tensor, values.tensor))
    if values.func:
        return tuple(FunctionRef(function.name) for function in values.func)
    return tuple(values.i or values.f or values.b)


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def base_type(dtype: int) -> int:
    """A ``DataType`` number; that of the value for a reference to one."""
    return dtype - REF if dtype > REF else dtype


def plain_tensor(tensor: pb.TensorProto) -> Tensor:
    """Shape and type of a constant, and its values if it is small and numeric."""
    shape = plain_shape(tensor.tensor_shape)
    dtype = base_type(tensor.dtype)
    if shape is None or None in shape:
        return Tensor(None, dtype)
    dims = tuple(dim for dim in shape if dim is not None)
    count = math.prod(dims)
    values = _values(tensor, dtype, count) if count <= MOST_VALUES else None
    return Tensor(dims, dtype, values)


def _values(tensor: pb.TensorProto, dtype: int, count: int) -> Values | None:
    content = tensor.tensor_content
    if content:
        layout = _NUMPY_TYPES.get(dtype)
        if layout is None or len(content) != count * np.dtype(layout).itemsize:
            return None
        return tuple(np.frombuffer(content, layout).tolist())
    field = _VALUE_FIELDS.get(dtype)
    if field is None:
        return None
    given = list(getattr(tensor, field))[:count]
    # The last value stands for all that follow.
    return tuple(given + (given[-1:] or [0]) * (count - len(given)))


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "func": lambda function: FunctionRef(function.name),
    "list": _plain_list,
    "s": _text,
    "shape": plain_shape,
    "tensor": plain_tensor,
    "type": base_type,
}
