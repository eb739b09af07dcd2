"""Matches the ops of two runs: by name, or by type, shape and order."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

from tfprof.core.columns.matching import matched, numbered
from tfprof.insight.diff.side import OpCosts

Pair = tuple[int | None, int | None]
"""Row of an op in the first and in the second run; None where it has none."""

_FUNCTION = re.compile(
    r"(?:a_)?_*inference_(?P<name>.+?)_\d+(?:__Xla\w*?)?\.?\d*(?:\(\d+\))?(?=/|$)"
)
_PROGRAM_ID = re.compile(r"(?<=\S)\(\d+\)(?=/|$)")

_MOST_ALIGNED = 20_000
"""With more ops, the k-th of a kind matches the k-th: aligning takes quadratic time at worst."""


def by_name(first: OpCosts, second: OpCosts) -> list[Pair]:
    """Match ops of equal names; then of names that differ only in numbers made anew in each run."""
    pairs = list(matched(first.names, second.names))
    ones = [a for a, b in pairs if a is not None and b is None]
    twos = [b for a, b in pairs if b is not None and a is None]
    again = matched(
        numbered((plain_name(first.names[row]),) for row in ones),
        numbered((plain_name(second.names[row]),) for row in twos),
    )
    pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
    return pairs + [
        (None if a is None else ones[a], None if b is None else twos[b]) for a, b in again
    ]


def plain_name(name: str) -> str:
    """The name of an op without ids of programs and numbers of traced functions.

    >>> plain_name("jit_train_step(12)/dot.3")
    'jit_train_step/dot.3'
    >>> plain_name("a_inference_step_554__XlaMustCompile_true_config_proto_13_.5(72)/fusion.1")
    'step/fusion.1'
    """
    if "inference_" in name:
        name = _FUNCTION.sub(r"\g<name>", name, count=1)
    return _PROGRAM_ID.sub("", name) if "(" in name else name


def by_structure(first: OpCosts, second: OpCosts) -> list[Pair]:
    """Ops of equal types and output shapes in the same order; then of equal types in the same
    order; then of equal types.

    Orders are compared as the lines of two texts are (Ratcliff and Obershelp). So scopes may be
    renamed, and layers added or taken away.
    """
    kinds = list(zip(first.types, first.shapes, strict=True))
    others = list(zip(second.types, second.shapes, strict=True))
    pairs = _aligned(kinds, others, first, second)
    for align in (_in_order, _anywhere):
        ones = [a for a, b in pairs if a is not None and b is None]
        twos = [b for a, b in pairs if b is not None and a is None]
        again = align([first.types[row] for row in ones], [second.types[row] for row in twos])
        pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
        pairs += [
            (None if a is None else ones[a], None if b is None else twos[b]) for a, b in again
        ]
    behind = len(first)
    return sorted(pairs, key=lambda pair: (behind if pair[0] is None else pair[0], pair[1] or 0))


def _aligned(
    kinds: Sequence[Hashable], others: Sequence[Hashable], first: OpCosts, second: OpCosts
) -> list[Pair]:
    """Rows of both in the order of their runs."""
    order, other_order = first.order.tolist(), second.order.tolist()
    found = _in_order([kinds[row] for row in order], [others[row] for row in other_order])
    return [
        (None if a is None else order[a], None if b is None else other_order[b]) for a, b in found
    ]


def _in_order(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Pair]:
    """Elements of two sequences that follow each other in both; others stand alone."""
    if max(len(first), len(second)) > _MOST_ALIGNED:
        return _anywhere(first, second)
    pairs: list[Pair] = []
    for kind, a, a_end, b, b_end in SequenceMatcher(None, first, second, False).get_opcodes():
        if kind == "equal":
            pairs += zip(range(a, a_end), range(b, b_end), strict=True)
        else:
            pairs += [(row, None) for row in range(a, a_end)]
            pairs += [(None, row) for row in range(b, b_end)]
    return pairs


def _anywhere(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Pair]:
    """Match the k-th of a kind in one run with the k-th of it in the other."""
    return list(matched(numbered((kind,) for kind in first), numbered((k,) for k in second)))
