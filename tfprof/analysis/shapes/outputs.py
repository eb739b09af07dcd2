"""Ops whose first output has a shape worth a rule, and others that hardly matter."""

from __future__ import annotations

from tfprof.analysis.op_call import OpCall
from tfprof.model.tensors import PartialShape


def first_of(op: OpCall, shape: PartialShape) -> list[PartialShape]:
    """The shape of the first output; those of further ones, such as layouts, stay unknown."""
    return [shape, *[None] * (len(op.output_types) - 1)]
