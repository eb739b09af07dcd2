"""Which tensors leave a scope: the activations that one part of a model hands to the next.

A tensor leaves the scope of its op if an op outside uses it, or if it is a result. Ops that pass
their input on, such as ``Identity`` and ``Reshape``, make no tensor of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from tfprof.graphs.interpreter.analysis import Analysis
from tfprof.graphs.model.tensors import (
    COMPLEX_TYPES,
    DT_RESOURCE,
    FLOAT_TYPES,
    QUANTIZED_TYPES,
    REF,
)
from tfprof.graphs.model.variable_names import enclosing

HANDS_ON = frozenset({
    "CheckNumerics", "EnsureShape", "Enter", "Exit", "ExpandDims", "Identity", "IdentityN", "Merge",
    "NextIteration", "PlaceholderWithDefault", "PreventGradient", "RefEnter", "RefExit",
    "RefIdentity", "RefMerge", "RefNextIteration", "RefSwitch", "Reshape", "Snapshot", "Squeeze",
    "StopGradient", "Switch",
})  # fmt: skip
"""Ops whose output is their first input, in another form at most."""

_ACTIVATION_TYPES = FLOAT_TYPES | COMPLEX_TYPES | QUANTIZED_TYPES

Edge = tuple[int, int]
"""Place of a node, and which of its outputs."""


class Leaving(NamedTuple):
    """A tensor that leaves the scope of its op.

    Attributes:
        edge: Where it is made.
        within: The innermost scope that it does not leave; None if it leaves all.
    """

    edge: Edge
    within: str | None


def leaving(
    analysis: Analysis, scopes: Sequence[str], results: Iterable[Edge] | None
) -> Iterator[Leaving]:
    """Float tensors that leave their scope, in the order in which they are made.

    Variables, constants and arguments are left out, as no op computes them.

    Args:
        analysis: The body.
        scopes: Scope of each node, by place.
        results: What the body returns; None for all outputs that no op uses.
    """
    nodes = analysis.body.nodes
    ops = nodes.ops
    origins: dict[Edge, Edge] = {}
    common: dict[Edge, str | None] = {}
    for place in analysis.order:
        sources = [origins.get(edge, edge) for edge in nodes[place].inputs]
        if ops[place] in HANDS_ON and sources:
            for slot in range(len(analysis.outputs.get(place, ()))):
                is_one_to_one = ops[place] == "IdentityN" and slot < len(sources)
                origins[place, slot] = sources[slot if is_one_to_one else 0]
            continue
        for source in sources:
            before = common.get(source, scopes[source[0]])
            if before is not None:
                common[source] = _common(before, scopes[place])
    if results is not None:
        common.update((origins.get(edge, edge), None) for edge in results)
    for place in analysis.order:
        own = scopes[place]
        unused = None if results is None else own
        for slot, output in enumerate(analysis.outputs.get(place, ())):
            edge = (place, slot)
            within = common.get(edge, unused)
            if within == own or edge in origins or output.dtype % REF not in _ACTIVATION_TYPES:
                continue
            if _is_computed(analysis, place):
                yield Leaving(edge, within)


def _common(a: str, b: str) -> str:
    """The innermost scope that two scopes are in."""
    while a != b and a and not f"{b}/".startswith(f"{a}/"):
        a = a.rpartition("/")[0]
    return a


def _is_computed(analysis: Analysis, place: int) -> bool:
    """Whether an op computes its output; variables, constants and their readers do not."""
    if place < analysis.body.n_args:
        return False
    return any(tensor.dtype != DT_RESOURCE for tensor in analysis.inputs(place)) and not (
        any(tensor.dtype >= REF for tensor in analysis.outputs[place])
    )


def left_scopes(scope: str, within: str | None) -> Iterator[str]:
    """The scopes that a tensor leaves, innermost first."""
    return takewhile(lambda each: each != within, enclosing(scope))
