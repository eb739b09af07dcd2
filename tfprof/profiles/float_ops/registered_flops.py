"""Float operations of single ops by TensorFlow's own registered formulas.

The table restates ``tensorflow/python/profiler/internal/flops_registry.py`` and the formulas
registered in ``tensorflow/python/ops/nn_ops.py``: what ``tf.profiler`` counts, right or wrong, for
classic mode. The formulas of the default are in ``tfprof.graphs.flops``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import Shape, is_fully_defined
from tfprof.graphs.model.graph_columns import AttrValue
from tfprof.profiles.model.ops import OpTable

Dims = tuple[int, ...]


class IncompleteShapeError(Exception):
    """A shape that the formula needs is not fully known."""


class _NoAnswerError(Exception):
    """The op lacks an input or a dimension that the formula needs; it is not counted."""


@dataclass(slots=True)
class _Op:
    """The facts of an op that formulas use.

    Attributes:
        inputs: Shape of every input; None for control edges, too.
        outputs: Shape of every output.
        attrs: Attributes of the op.
    """

    inputs: list[Shape]
    outputs: list[Shape]
    attrs: dict[str, AttrValue]

    def dims_in(self, index: int) -> Dims:
        return _defined(self.inputs, index)

    def dims_out(self) -> Dims:
        return _defined(self.outputs, 0)

    def n_in(self, index: int = 0) -> int:
        return math.prod(self.dims_in(index))

    def n_out(self) -> int:
        return math.prod(self.dims_out())

    def ints(self, name: str) -> Dims:
        value = self.attrs.get(name, ())
        return value if isinstance(value, tuple) else ()

    def of_image(self, name: str) -> Dims:
        """The original supports only NHWC, and reports other layouts as incomplete."""
        if self.attrs.get("data_format", "NHWC") != "NHWC":
            raise IncompleteShapeError
        return self.ints(name)

    def window(self) -> int:
        return math.prod(self.of_image("ksize"))


def _defined(shapes: list[Shape], index: int) -> Dims:
    if index >= len(shapes):
        raise _NoAnswerError
    shape = shapes[index]
    if shape is None or not is_fully_defined(shape):
        raise IncompleteShapeError
    return shape


def _dim(dims: Dims, index: int) -> int:
    if not -len(dims) <= index < len(dims):
        raise _NoAnswerError
    return dims[index]


def _mean(op: _Op) -> int:
    """One addition fewer than elements, and one division, per result."""
    _ = op.n_out()
    return op.n_in()


def _spatial_strides(op: _Op) -> int:
    strides = op.of_image("strides")
    return _dim(strides, 1) * _dim(strides, 2)


def _conv2d_backprop_input(op: _Op) -> int:
    divisor = _spatial_strides(op) * _dim(op.dims_out(), -1)
    return _quotient(2 * op.n_out() * op.n_in(1), divisor)


def _conv2d_backprop_filter(op: _Op) -> int:
    divisor = _spatial_strides(op) * _dim(op.dims_in(0), -1)
    return _quotient(2 * op.n_in(0) * op.n_out(), divisor)


def _quotient(total: int, divisor: int) -> int:
    """``total / divisor`` in floats, which are inexact beyond 2^53, as in the original."""
    if divisor == 0:
        return 0
    return int(total / divisor) if total < 1 << 1000 else total // divisor


def _mat_mul(op: _Op) -> int:
    depth = _dim(op.dims_in(0), 0 if op.attrs.get("transpose_a") else 1)
    return 2 * depth * op.n_out()


def _batch_mat_mul(op: _Op) -> int:
    """The original reads ``transpose_a``, which these ops call ``adj_x``, so it has no effect."""
    adjoint = bool(op.attrs.get("transpose_a"))
    return 2 * _dim(op.dims_in(0), -2 if adjoint else -1) * op.n_out()


def _conv(n_filter_dims: int) -> Callable[[_Op], int]:
    """Every output element takes one multiply-add per filter element of its channel."""

    def count(op: _Op) -> int:
        op.dims_in(0)  # unused, but the original requires it
        filter_dims = op.dims_in(1)
        taps = math.prod(_dim(filter_dims, index) for index in range(n_filter_dims))
        return 2 * op.n_out() * taps

    return count


_ONE_PER_INPUT = ("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "BiasAdd")
_ONE_PER_OUTPUT = (
    *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow"),
    *("GreaterEqual", "Greater", "LessEqual", "Less", "Equal", "NotEqual"),
)

FORMULAS: dict[str, Callable[[_Op], int]] = {
    **dict.fromkeys(_ONE_PER_INPUT, _Op.n_in),
    **dict.fromkeys(_ONE_PER_OUTPUT, _Op.n_out),
    "Mean": _mean,
    "Rsqrt": lambda op: 2 * op.n_in(),
    "Softmax": lambda op: 5 * op.n_in(),
    "SquaredDifference": lambda op: 2 * op.n_out(),
    "RsqrtGrad": lambda op: 4 * op.n_out(),
    "L2Loss": lambda op: 3 * op.n_in() - 1,
    # Negative for an empty input: one result of no elements.
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin", "BiasAddGrad"), lambda op: op.n_in() - op.n_out()),
    # One addition fewer than inputs, control inputs included.
    "AddN": lambda op: op.n_in() * (len(op.inputs) - 1),
    **dict.fromkeys(("AvgPool", "MaxPool"), lambda op: op.window() * op.n_out()),
    "AvgPoolGrad": lambda op: 2 * op.window() * op.n_in(1),
    "MaxPoolGrad": lambda op: op.window() * op.n_in(1) + op.n_in(1),
    "Conv2DBackpropInput": _conv2d_backprop_input,
    "Conv2DBackpropFilter": _conv2d_backprop_filter,
    "MatMul": _mat_mul,
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _batch_mat_mul),
    "Conv2D": _conv(3),
    "Conv3D": _conv(4),
    **dict.fromkeys(("DepthwiseConv2dNative", "Dilation2D"), _conv(2)),
}
"""Formula by op type."""


def count_registered_flops(
    ops: OpTable, output_shapes_ids: Int64Array, rows: list[int]
) -> tuple[dict[int, int], list[int]]:
    """Float operations of one run of each op.

    Args:
        ops: The op table.
        output_shapes_ids: Output shapes of every row, which may be more than ``ops`` has.
        rows: Rows to count.

    Returns:
        Count by row if it is not 0, and the rows with a formula that needs unknown shapes.
    """
    offsets = ops.input_offsets().tolist()
    producers = ops.input_rows().tolist()
    ports = ops.input_ports.tolist()
    op_ids = ops.op_ids.array.tolist()
    list_ids = output_shapes_ids.tolist()
    formulas = [FORMULAS.get(text) for text in ops.strings.values]
    shape_lists: dict[int, list[Shape]] = {}

    def outputs(row: int) -> list[Shape]:
        list_id = list_ids[row]
        shapes = shape_lists.get(list_id)
        if shapes is None:
            shapes = shape_lists[list_id] = ops.shapes.list_of(list_id)
        return shapes

    counts: dict[int, int] = {}
    incomplete: list[int] = []
    for row in rows:
        formula = formulas[op_ids[row]]
        if formula is None:
            continue
        edges = range(offsets[row], offsets[row + 1])
        inputs: list[Shape] = []
        for edge in edges:
            shapes = outputs(producers[edge]) if producers[edge] >= 0 else []
            inputs.append(shapes[ports[edge]] if 0 <= ports[edge] < len(shapes) else None)
        op = _Op(inputs, outputs(row), dict(ops.attrs_of(row)))
        try:
            count = formula(op)
        except IncompleteShapeError:
            incomplete.append(row)
        except _NoAnswerError:
            continue
        else:
            if count:
                counts[row] = count
    return counts, incomplete
