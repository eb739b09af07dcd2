"""Equations of einsum: which label belongs to which dimension."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes.arguments import same_dim
from tfprof.graphs.shapes.broadcasting import broadcast

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
