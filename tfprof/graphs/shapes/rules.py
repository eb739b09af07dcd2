"""Rules by op type: from an op to the shapes, small values and handles of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import Handle, PartialShape, Values

ResultT = TypeVar("ResultT")

Shapes = Sequence[PartialShape]
"""Shape of each output of an op."""

Rule = Callable[[OpCall], Sequence[ResultT]]
"""From an op to one result for every output."""


class Rules(dict[str, Rule[ResultT]], Generic[ResultT]):
    """Rule by op type. A rule raises ``UnknownError`` if what it needs is not known."""

    def of(self, *op_types: str) -> Callable[[Rule[ResultT]], Rule[ResultT]]:
        """Enter a rule, as a decorator or called with it, for op types separated by spaces."""

        def enter(rule: Rule[ResultT]) -> Rule[ResultT]:
            for op_type in " ".join(op_types).split():
                if op_type in self:
                    raise ValueError(f"{op_type} has two rules")
                self[op_type] = rule
            return rule

        return enter


SHAPES: Rules[PartialShape] = Rules()
"""Rule for the output shapes."""

VALUES: Rules[Values | None] = Rules()
"""Rule for the elements of small outputs."""

HANDLES: Rules[Handle | None] = Rules()
"""Rule for the handles of outputs."""


def with_onednn(*op_types: str) -> tuple[str, ...]:
    """Op types, each followed by the names of its two kernels of oneDNN (formerly MKL-DNN).

    ``Conv2D`` becomes ``_MklNativeConv2D``, or ``_MklConv2D`` where each tensor comes with another
    one that describes its layout, behind all others. ``_FusedConv2D`` loses its underscore first.
    The rule gives some names that no version of TensorFlow has; they are never looked up.
    """
    names: list[str] = []
    for op_type in op_types:
        bare = op_type.removeprefix("_")
        names += (op_type, f"_Mkl{bare}", f"_MklNative{bare}")
    return tuple(names)


def onednn_kernels(name: str) -> tuple[str, ...]:
    """Names of the oneDNN kernels of a fused op that TensorFlow has under no other name."""
    return f"_Mkl{name}", f"_MklNative{name}", f"__MklDummy{name}"
