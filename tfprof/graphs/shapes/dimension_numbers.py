"""Which dimension is which, as XLA's ops spell it out in messages inside text attributes.

The messages are small and their fields all numbers, so they are read off the bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from tfprof.core.wire.walk import LENGTH_DELIMITED, VARINT, WireError, read_varint, walk
from tfprof.graphs.model.op_call import OpCall, UnknownError

Places: TypeAlias = tuple[int, ...]


class DotNumbers(NamedTuple):
    """``DotDimensionNumbers`` of ``xla_data.proto``."""

    lhs_contracting: Places
    rhs_contracting: Places
    lhs_batch: Places
    rhs_batch: Places


class GatherNumbers(NamedTuple):
    """``GatherDimensionNumbers`` of ``xla_data.proto``."""

    offset: Places
    collapsed: Places
    index_vector: int


class Roles(NamedTuple):
    """Where the dimensions of an operand of a convolution stand.

    Attributes:
        first: Images of the batch; input channels of a filter.
        second: Channels; output channels of a filter.
        spatial: What windows slide along.
    """

    first: int
    second: int
    spatial: Places


class ConvNumbers(NamedTuple):
    """Dimensions of image, filter and result of a convolution."""

    image: Roles
    filter: Roles
    result: Roles


_XLA_CONV = ((7, 8, 11), (3, 4, 6), (9, 10, 12))
"""Fields of ``ConvolutionDimensionNumbers`` in ``xla_data.proto``."""

_UNIFORM_CONV = ((1, 2, 3), (4, 5, 6), (7, 8, 9))
"""Fields of ``UniformQuantizedConvolutionDimensionNumbersAttr``."""


def dot_numbers(op: OpCall) -> DotNumbers:
    """The dimensions of a dot product."""
    fields = _fields(op)
    return DotNumbers(*(tuple(fields.get(number, ())) for number in (1, 2, 3, 4)))


def gather_numbers(op: OpCall) -> GatherNumbers:
    """The dimensions of a gather.

    Dimensions that are batches of operand and indices are left out of a slice like collapsed ones.
    """
    fields = _fields(op)
    collapsed = (*fields.get(2, ()), *fields.get(5, ()))
    return GatherNumbers(tuple(fields.get(1, ())), collapsed, _one(fields, 4))


def conv_numbers(op: OpCall) -> ConvNumbers:
    """The dimensions of a convolution."""
    uniform = op.type.startswith("Uniform")
    fields = _fields(op)
    if uniform and not fields:
        # The documentation of tf.raw_ops.UniformQuantizedConvolution: NCHW and OIHW.
        spatial = tuple(range(2, len(op.shape(0))))
        return ConvNumbers(Roles(0, 1, spatial), Roles(1, 0, spatial), Roles(0, 1, spatial))
    image, kernel, result = (
        Roles(_one(fields, first), _one(fields, second), tuple(fields.get(spatial, ())))
        for first, second, spatial in (_UNIFORM_CONV if uniform else _XLA_CONV)
    )
    return ConvNumbers(image, kernel, result)


def _one(fields: dict[int, list[int]], number: int) -> int:
    return fields.get(number, [0])[-1]


def _fields(op: OpCall) -> dict[int, list[int]]:
    """Numbers in the attribute's message by field, packed or not."""
    value = op.attr("dimension_numbers", "")
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(data, bytes):
        raise UnknownError("the attribute dimension_numbers is no message")
    view = memoryview(data)
    fields: dict[int, list[int]] = {}
    try:
        for field in walk(view):
            numbers = fields.setdefault(field.number, [])
            if field.wire_type == VARINT:
                numbers.append(field.value)
            elif field.wire_type == LENGTH_DELIMITED:
                position, end = field.offset, field.offset + field.value
                while position < end:
                    number, position = read_varint(view, position, end)
                    numbers.append(number)
    except WireError as error:
        raise UnknownError(f"the attribute dimension_numbers: {error.problem}") from error
    return fields
