"""Float operations by formulas that the user registered with ``ops.RegisterStatistics``.

TensorFlow's own formulas are not called: tfprof has better ones, and classic mode has its own copy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from tfprof.graphs.model.program import GIVEN_FLOPS

_FORMULA_MODULES = "tensorflow."


def user_registered_flops(graph: Any, operations: Sequence[Any]) -> dict[str, int]:
    """Float operations of the ops of a live graph, by name."""
    framework, op_types = _user_formulas()
    counts: dict[str, int] = {}
    for operation in operations:
        if operation.type in op_types:
            count = _count(framework, graph, operation.node_def)
            if count:
                counts[operation.name] = count
    return counts


def mark_nodes(graph: Any, nodes: Iterable[Any]) -> None:
    """Write the counts into TensorFlow's NodeDefs of a live graph, for the analysis."""
    framework, op_types = _user_formulas()
    for node in nodes:
        if node.op in op_types:
            named = graph.get_operation_by_name(node.name).node_def
            count = _count(framework, graph, named)
            if count:
                node.attr[GIVEN_FLOPS].i = count


def mark_functions(functions: Iterable[Any]) -> None:
    """Write the counts into TensorFlow's FunctionDefs; nodes without static shapes get none."""
    _, op_types = _user_formulas()
    for function in functions:
        if any(node.op in op_types for node in function.node_def):
            from tensorflow.python.framework import function_def_to_graph

            mark_nodes(function_def_to_graph.function_def_to_graph(function), function.node_def)


def _user_formulas() -> tuple[Any, frozenset[str]]:
    """TensorFlow's module, and the op types for which the user has registered a formula."""
    framework = sys.modules.get("tensorflow.python.framework.ops")
    registry = getattr(framework, "_stats_registry", None)
    if registry is None:
        return framework, frozenset()
    return framework, frozenset(
        key.rpartition(",")[0]
        for key in registry.list()
        if key.endswith(",flops")
        and not registry.lookup(key).__module__.startswith(_FORMULA_MODULES)
    )


def _count(framework: Any, graph: Any, node: Any) -> int:
    """Float operations of a node, 0 if a shape is not known."""
    try:
        stats = framework.get_stats_for_node_def(graph, node, "flops")
    except ValueError:
        return 0
    return int(stats.value or 0)
