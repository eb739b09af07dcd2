"""What a program costs scope by scope: each op counts once, in the innermost scope it is in."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tfprof.core.columns.tree_walks import most_scope_bytes, too_many_scopes
from tfprof.graphs.costs.roofline import tensor_bytes
from tfprof.graphs.costs.scope_outputs import Edge, leaving, left_scopes
from tfprof.graphs.interpreter.analysis import Analysis, Status, Verdict
from tfprof.graphs.interpreter.phases import Phase, phase_of_function
from tfprof.graphs.interpreter.tally import Visit, visits
from tfprof.graphs.model.run_counts import Times, often, scaled
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.model.variable_names import enclosing

MOST_SCOPES = 200_000
"""Of all calls together; those whose scopes would make it more count as one scope each."""

_UNNAMED_CALL = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?")
"""Calls with a default name make no scope."""


class Amounts(NamedTuple):
    """Costs of one run of the program, such as those of one scope.

    Attributes:
        macs: Multiply-adds.
        other: Float operations besides.
        activation_bytes: Bytes of the tensors that forward ops pass to other scopes.
        picos: Picoseconds that a device needs at least.
        unsized: Tensors of unknown size that are not among those bytes.
        untimed: Ops of unknown time.
    """

    macs: Number = 0
    other: Number = 0
    activation_bytes: Number = 0
    picos: Number = 0
    unsized: int = 0
    untimed: int = 0

    @property
    def flops(self) -> Number:
        """Float operations."""
        return 2 * self.macs + self.other

    def times(self, runs: Times) -> Amounts:
        """The amounts of all runs; rounded, if these are a fraction."""
        if runs == 1:
            return self
        macs, other, size, picos = (scaled(number, runs) for number in self[:4])
        return Amounts(macs, other, size, picos, self.unsized, self.untimed)


def added(amounts: Iterable[Amounts]) -> Amounts:
    """The sum of amounts."""
    parts = list(amounts)
    if len(parts) == 1:
        return parts[0]
    return Amounts(*map(total, zip(Amounts(), *parts, strict=True)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class ScopeSums:
    """Costs of a program by scope.

    Attributes:
        own: Costs of the ops of a scope without inner scopes; in order of appearance.
        outputs: Tensors that leave a scope: those of the last op first, of one op in its order.
            Tensors without elements, such as unused room for scratch, are left out.
    """

    own: dict[str, Amounts] = field(default_factory=dict)
    outputs: dict[str, tuple[Tensor, ...]] = field(default_factory=dict)

    @cached_property
    def whole(self) -> Amounts:
        """Costs of all scopes together."""
        return added(self.own.values())


PicosOf = Callable[[Analysis, int, Verdict], "int | None"]
"""Picoseconds that one run of a node takes at least; None if that is unknown."""

_Key = tuple[int, Phase]


def scope_sums(
    root: Analysis,
    layer_of: Mapping[str, str] | None = None,
    results: Iterable[Edge] | None = None,
    picos_of: PicosOf | None = None,
    *,
    with_tensors: bool = True,
) -> ScopeSums:
    """Add up the costs of a program by scope.

    The scopes in a function stand below the scope of its call, unless they repeat it already.
    Initializers of variables are left out.

    Args:
        root: The analysis of the program.
        layer_of: Layers of the nodes of the graph, by name, if it has layers. A function
            then counts for the layer that calls it: names inside are ambiguous, because Keras 3
            may call one layer ``dense_1`` there and another one outside.
        results: Outputs that the caller gets; None for all that no op uses.
        picos_of: The time that nodes take.
        with_tensors: Find the tensors that leave scopes.
    """
    finished: dict[_Key, ScopeSums] = {}
    n_scopes = 0
    for visit in reversed(visits(root)):
        analysis, phase = visit.analysis, visit.phase
        if phase is Phase.INITIALIZATION:
            continue
        is_root = analysis is root
        walk = _Walk(visit, finished, layer_of if is_root else None, MOST_SCOPES - n_scopes)
        walk.add_ops(picos_of)
        if with_tensors and phase is Phase.FORWARD:
            walk.add_outputs(results if is_root else analysis.body.results)
        finished[id(analysis), phase] = walk.sums()
        n_scopes += walk.n_added
    return finished[id(root), Phase.FORWARD]


class _Walk:
    """Adds up one body, from the sums of the functions that it calls."""

    def __init__(
        self,
        visit: Visit,
        finished: Mapping[_Key, ScopeSums],
        layer_of: Mapping[str, str] | None,
        most_scopes: int,
    ) -> None:
        self.most_scopes, self.n_added = most_scopes, 0
        self.analysis = analysis = visit.analysis
        self.has_layers = layer_of is not None
        scope_of = layer_of or {}
        self.phases = visit.phases
        self.finished = finished
        self.parts: dict[str, list[Amounts]] = defaultdict(list)
        self.outputs: dict[str, dict[Tensor, None]] = defaultdict(dict)
        names = analysis.body.nodes.names[:]
        self.scopes = [scope_of.get(name, name.rpartition("/")[0]) for name in names]
        for place in analysis.calls:
            self.scopes[place] = call_scope(names[place], scope_of)

    def sums(self) -> ScopeSums:
        own = {scope: added(parts) for scope, parts in self.parts.items()}
        return ScopeSums(own, {scope: tuple(tensors) for scope, tensors in self.outputs.items()})

    def add_ops(self, picos_of: PicosOf | None) -> None:
        """Add the costs of ops and of the functions that they call."""
        analysis = self.analysis
        for place in analysis.order:
            verdict = analysis.verdicts.get(place)
            if verdict is None or place < analysis.body.n_args:
                continue
            is_work = verdict.status is Status.COUNTED and verdict.cost.flops != 0
            calls = analysis.calls.get(place, ())
            if not is_work and not calls:
                continue
            phase = self.phases[place]
            if phase is Phase.INITIALIZATION:
                continue
            times = analysis.times.get(place, 1)
            if is_work:
                picos = 0 if picos_of is None else picos_of(analysis, place, verdict)
                amounts = Amounts(
                    verdict.cost.macs, verdict.cost.other, 0, picos or 0, 0, picos is None
                )
                self.parts[self.scopes[place]].append(amounts.times(times))
            for call in calls:
                inner = phase_of_function(call.analysis.body.name, phase)
                if inner is not Phase.INITIALIZATION and call.times != 0:
                    callee = self.finished[id(call.analysis), inner]
                    self._add_call(place, callee, often(times, call.times))

    def _add_call(self, place: int, callee: ScopeSums, runs: Times) -> None:
        scope = self.scopes[place]
        if self.has_layers or self.n_added + len(callee.own) > self.most_scopes:
            self.parts[scope].append(callee.whole.times(runs))
            return
        self.n_added += len(callee.own)
        for path, amounts in callee.own.items():
            self.parts[below(scope, path)].append(amounts.times(runs))
        for path, tensors in callee.outputs.items():
            full = below(scope, path)
            if full != scope:
                self.outputs[full].update(dict.fromkeys(tensors))

    def add_outputs(self, results: Iterable[Edge] | None) -> None:
        """Add the tensors that leave scopes; those of calls are counted in the functions."""
        analysis = self.analysis
        tensors_of: dict[str, list[tuple[int, Tensor]]] = defaultdict(list)
        turns: dict[int, int] = {}
        for (place, slot), within in leaving(analysis, self.scopes, results):
            if self.phases[place] is not Phase.FORWARD:
                continue
            tensor = analysis.outputs[place][slot]
            scope, size = self.scopes[place], tensor_bytes(tensor)
            if size == 0:
                continue
            turn = turns.setdefault(place, len(turns))
            for left in left_scopes(scope, within):
                tensors_of[left].append((turn, tensor))
            if place not in analysis.calls:
                amounts = Amounts(activation_bytes=size or 0, unsized=size is None)
                self.parts[scope].append(amounts.times(analysis.times.get(place, 1)))
        for scope, tensors in tensors_of.items():
            ordered = sorted(tensors, key=lambda each: -each[0])
            last_first = dict.fromkeys(tensor for _, tensor in ordered)
            self.outputs[scope] = last_first | self.outputs[scope]


def with_inner_scopes(own: Mapping[str, Amounts]) -> dict[str, Amounts]:
    """Costs of each scope with those inside it, sorted by name; ``""`` is the whole.

    Raises:
        MalformedProfileError: The names of the scopes would take far more room than the given ones.
    """
    parts: dict[str, list[Amounts]] = defaultdict(list)
    room = most_scope_bytes(sum(map(len, own)))
    for scope, amounts in own.items():
        for around in enclosing(scope):
            room -= len(around)
            if room < 0:
                raise too_many_scopes(own)
            parts[around].append(amounts)
        parts[""].append(amounts)
    return {scope: added(parts[scope]) for scope in sorted(parts)}


def call_scope(name: str, scope_of: Mapping[str, str]) -> str:
    """The scope of a call: the name of its node without default names at its end."""
    if name in scope_of:
        return scope_of[name]
    end = len(name)
    while (start := name.rfind("/", 0, end)) < end and _UNNAMED_CALL.fullmatch(
        name, start + 1, end
    ):
        end = max(start, 0)
    return name[:end]


def below(scope: str, path: str) -> str:
    """Path of a function's scope from its call; the scope may be a whole path already."""
    if not path or f"{scope}/".startswith(f"{path}/"):
        return scope
    if not scope or path.startswith(f"{scope}/"):
        return path
    return f"{scope}/{path}"
