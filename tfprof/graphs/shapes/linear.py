"""Shapes of matrix products and sums of products, and equations of einsum."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.dims import broadcast, same_dim
from tfprof.graphs.shapes.rules import SHAPES, Shapes, with_onednn

Matrix = tuple["Number | None", "Number | None"]


def _matrix(op: OpCall, index: int) -> Matrix:
    """Rows and columns of an operand as it enters the product; None where unknown.

    It may be transposed, or its conjugate.
    """
    dims = op.input(index).shape
    if dims is None:
        return None, None
    if len(dims) < 2:
        raise UnknownError(f"input {index} has {len(dims)} dimensions, a matrix has two")
    rows, columns = dims[-2:]
    names = (
        ("transpose_b", "adj_y", "adjoint_b") if index else ("transpose_a", "adj_x", "adjoint_a")
    )
    return (columns, rows) if any(map(op.flag, names)) else (rows, columns)


def product_sizes(op: OpCall) -> tuple[Number | None, Number | None, Number | None]:
    """m, k and n of the product of an m×k and a k×n matrix; None where unknown."""
    (m, k), (other_k, n) = _matrix(op, 0), _matrix(op, 1)
    return m, same_dim(k, other_k), n


def mat_mul_shape(op: OpCall) -> PartialShape:
    """The shape of a product of two matrices."""
    for index in (0, 1):
        if op.input(index).shape is not None:
            op.shape_of_rank(index, 2)
    m, _, n = product_sizes(op)
    return (m, n)


@SHAPES.of(*with_onednn("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_FusedBatchMatMulV2"))
def _batch_mat_mul(op: OpCall) -> Shapes:
    m, _, n = product_sizes(op)
    return [(*broadcast(op.shape(0)[:-2], op.shape(1)[:-2]), m, n)]


Labels = tuple[str, ...]

_DOTS = "..."


class Einsum(NamedTuple):
    """An equation with its sizes.

    The dimensions of an ellipsis, which broadcast, have labels of their own: ``.0`` for the last,
    ``.1`` for the one before.

    Attributes:
        operands: Labels of each operand.
        result: Labels of the result.
        sizes: Size of each label, after broadcasting.
        shapes: Shapes of the operands.
    """

    operands: tuple[Labels, ...]
    result: Labels
    sizes: dict[str, Number]
    shapes: tuple[Dims, ...]

    @property
    def shape(self) -> Dims:
        """Shape of the result."""
        return self.size_of(self.result)

    def size_of(self, labels: Labels) -> Dims:
        """Sizes of some labels."""
        return tuple(self.sizes[label] for label in labels)

    def own_size(self, operand: int, labels: set[str]) -> Number:
        """Number of elements that an operand has along some of its labels, before broadcasting."""
        own = dict(zip(self.operands[operand], self.shapes[operand], strict=True))
        return math.prod(size for label, size in own.items() if label in labels)


def read_einsum(op: OpCall) -> Einsum:
    """The equation of an op."""
    equation = op.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if not left or len(terms) != len(op.inputs):
        raise UnknownError(f"the equation {equation!r} does not fit {len(op.inputs)} operands")
    shapes = tuple(op.shape(index) for index in range(len(op.inputs)))
    operands = tuple(
        _labels(term, len(shape) - len(term.replace(_DOTS, "")))
        for term, shape in zip(terms, shapes, strict=True)
    )
    sizes = _sizes(operands, shapes)
    n_dots = sum(label.startswith(".") for label in sizes)
    result = _labels(right, n_dots) if arrow else _implied_result(operands, n_dots)
    missing = [label for label in sizes if label.startswith(".") and label not in result]
    if missing or not set(result) <= set(sizes):
        raise UnknownError(f"the result of the equation {equation!r} does not fit its operands")
    return Einsum(operands, result, sizes, shapes)


def _labels(term: str, n_dots: int) -> Labels:
    """Labels of a term whose ellipsis stands for ``n_dots`` dimensions."""
    before, dots, after = term.partition(_DOTS)
    letters = before + after
    if n_dots < 0 or (n_dots and not dots) or (letters and not letters.isalpha()):
        raise UnknownError(f"the term {term!r} of the equation does not fit its operand")
    return (*before, *(f".{place}" for place in reversed(range(n_dots))), *after)


def _sizes(operands: tuple[Labels, ...], shapes: tuple[Dims, ...]) -> dict[str, Number]:
    sizes: dict[str, Number] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            known = sizes.get(label)
            if known is None:
                sizes[label] = size
            elif label.startswith("."):
                (sizes[label],) = broadcast((known,), (size,))
            else:
                sizes[label] = same_dim(known, size) or 0
    return sizes


def _implied_result(operands: tuple[Labels, ...], n_dots: int) -> Labels:
    """Without an arrow: the labels that occur once, sorted."""
    counts = Counter(label for labels in operands for label in labels)
    once = [label for label, count in counts.items() if count == 1 and label.isalpha()]
    return (*_labels(_DOTS, n_dots), *sorted(once))


SHAPES.of(*with_onednn("MatMul", "_FusedMatMul"), "SparseMatMul")(lambda op: [mat_mul_shape(op)])
SHAPES.of("_QuantizedMatMul UniformQuantizedDot UniformQuantizedDotHybrid")(
    lambda op: [mat_mul_shape(op)]
)
SHAPES.of(*with_onednn("Einsum"), "XlaEinsum")(lambda op: [read_einsum(op).shape])
