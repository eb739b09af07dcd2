"""Which products that ran are work of the model, and which compute something a second time.

A product inside a checkpoint that its backward pass computes again is not work of the model: the
forward pass computed it before. But a compiler removes a forward pass whose result nothing uses,
as with ``jax.grad`` of a loss in one checkpoint. Then the second computation is the only one, and
counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfprof.captures.facts.ran_ops import RanOp
from tfprof.captures.hlo.products import Product, base_name


def model_flops(ops: Sequence[RanOp]) -> list[int]:
    """Float operations of the products of one run of each op that are work of the model.

    Args:
        ops: All ops that ran.
    """
    ran = {(op.program, op.name) for op in ops}
    forward: dict[str, list[Product]] = {}
    for op in ops:
        forward.setdefault(op.program, []).extend(
            one for one in op.products if not one.depth and not one.is_backward
        )
    originals = {program: _Originals(products) for program, products in forward.items()}
    lowest = _lowest_depths(ops)
    return [
        0
        if (op.program, base_name(op.name)) in ran
        else sum(
            one.flops for one in op.products
            if not one.depth or (
                one.depth == lowest[op.program, one.path]
                and not originals[op.program].have(one)
            )
        )
        for op in ops
    ]  # fmt: skip


def _lowest_depths(ops: Sequence[RanOp]) -> Mapping[tuple[str, str], int]:
    """For each path inside checkpoints, the number of checkpoints of its first computation."""
    lowest: dict[tuple[str, str], int] = {}
    for op in ops:
        for one in op.products:
            if one.depth:
                key = op.program, one.path
                lowest[key] = min(lowest.get(key, one.depth), one.depth)
    return lowest


class _Originals:
    """The forward products of a program."""

    def __init__(self, products: Sequence[Product]) -> None:
        self._ends: set[str] = set()
        self._sizes = {(_primitive(one), one.flops) for one in products}
        for one in products:
            parts = one.path.split("/")
            self._ends.update("/".join(parts[begin:]) for begin in range(len(parts)))

    def have(self, repeated: Product) -> bool:
        """Whether they have what a checkpoint computes again: with its path, or with its size."""
        is_named = "/" in repeated.path and repeated.path in self._ends
        return is_named or (_primitive(repeated), repeated.flops) in self._sizes


def _primitive(product: Product) -> str:
    return product.path.rpartition("/")[2]
