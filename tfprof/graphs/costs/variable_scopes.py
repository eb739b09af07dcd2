"""Finds the scope that uses a variable, which names do not show in programs of Keras 3."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from tfprof.graphs.costs.scope_outputs import HANDS_ON
from tfprof.graphs.costs.scope_sums import below, call_scope
from tfprof.graphs.interpreter.analysis import Analysis
from tfprof.graphs.interpreter.phases import Phase, phase_of
from tfprof.graphs.model.node_table import Node
from tfprof.graphs.model.program import Variable
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.model.variable_names import CONSTANT_OPS, VARIABLE_OPS

_NO_USES = frozenset({
    "Assign", "AssignVariableOp", "IsVariableInitialized", "NoOp", "RestoreV2", "SaveV2",
    "VarIsInitializedOp",
})  # fmt: skip
"""Ops that take variables without using them in a layer."""

_COUNTER = re.compile(r"_\d+$")
"""Programs that are saved may hold a second handle of a variable, with a number in its name."""

Bindings = tuple["str | None", ...]
Shapes = Mapping[str, PartialShape]


def using_scopes(root: Analysis, variables: Iterable[Variable]) -> dict[str, str]:
    """The scope of the first forward op that uses each variable; unused ones are left out."""
    shapes = {variable.name: variable.shape for variable in variables}
    scopes: dict[str, str] = {}
    seen: set[tuple[int, str, Bindings]] = set()
    waiting: list[tuple[Analysis, str, Bindings]] = [(root, "", ())]
    while waiting:
        analysis, around, bindings = waiting.pop()
        if (id(analysis), around, bindings) in seen:
            continue
        seen.add((id(analysis), around, bindings))
        held = _held(analysis, bindings, shapes)
        if not held:
            continue
        calls = []
        for place, name in _uses(analysis, held):
            node = analysis.body.nodes[place]
            if place in analysis.calls:
                scope = below(around, call_scope(node.name, {}))
                calls += [
                    (call.analysis, scope, _arguments(node, call.analysis, held))
                    for call in analysis.calls[place]
                ]
            else:
                scopes.setdefault(name, below(around, node.name.rpartition("/")[0]))
        waiting += reversed(calls)
    return scopes


def _held(analysis: Analysis, bindings: Bindings, shapes: Shapes) -> dict[int, str]:
    """Nodes whose output is a variable, its handle or its value, by place."""
    body, nodes = analysis.body, analysis.body.nodes
    ops, (starts, sources) = nodes.ops, nodes.data_sources
    held = {place: name for place, name in enumerate(bindings) if name is not None}
    for place in analysis.order:
        op = ops[place]
        if op in VARIABLE_OPS or op in CONSTANT_OPS:
            node = nodes[place]
            name = _variable(f"{body.name}/{node.name}" if body.name else node.name, node, shapes)
            if name is not None:
                held[place] = name
        elif op in HANDS_ON and starts[place] < starts[place + 1]:
            source = sources[starts[place]]
            if source in held:
                held[place] = held[source]
    return held


def _variable(name: str, node: Node, shapes: Shapes) -> str | None:
    """Name of the variable that a node declares."""
    shared = node.kind.attrs.get("shared_name") or name
    for each in (name, shared):
        if each in shapes:
            return str(each)
    for each in (name, shared):
        without = _COUNTER.sub("", str(each))
        if without in shapes and shapes[without] == node.kind.attrs.get("shape"):
            return without
    return None


def _uses(analysis: Analysis, held: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Forward ops that take a variable."""
    nodes = analysis.body.nodes
    ops, (starts, sources) = nodes.ops, nodes.data_sources
    for place in analysis.order:
        if ops[place] in _NO_USES or place in held:
            continue
        producers = sources[starts[place] : starts[place + 1]]
        taken = [held[source] for source in producers if source in held]
        if taken and phase_of(nodes.names[place], ops[place], Phase.FORWARD) is Phase.FORWARD:
            yield from ((place, name) for name in taken)


def _arguments(node: Node, callee: Analysis, held: Mapping[int, str]) -> Bindings:
    """Arguments of a function: the last inputs of its node, after the condition of an ``If``."""
    n_args = callee.body.n_args
    given = node.inputs[-n_args:] if n_args else ()
    return tuple(held.get(source) for source, _ in given)
