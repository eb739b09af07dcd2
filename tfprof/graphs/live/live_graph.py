"""Live TensorFlow graphs: the graph behind an object, its variables, call stacks of its ops.

TensorFlow is never imported here: a program with a live graph has imported it already.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tfprof.core.columns.frames import EMPTY_STACK, NO_STACK, Frame
from tfprof.errors import UsageError
from tfprof.graphs.model.op_log_columns import OpLogColumns


def live_graph(source: Any) -> Any | None:
    """The ``tf.Graph`` behind an object, or None if it has none.

    Raises:
        UsageError: It is a ``tf.function``, which may have several graphs.
    """
    if is_graph(source):
        return source
    if hasattr(source, "get_concrete_function"):
        raise UsageError(
            "graph: a tf.function has one graph per signature; pass "
            "function.get_concrete_function(...) with the signature to profile"
        )
    inner = getattr(source, "graph", None)
    return inner if is_graph(inner) else None


def is_graph(source: Any) -> bool:
    """Whether an object is a ``tf.Graph``."""
    return hasattr(source, "as_graph_def") and hasattr(source, "get_operations")


def default_graph() -> Any | None:
    """TensorFlow's default graph, if TensorFlow is imported and does not execute eagerly."""
    tensorflow = sys.modules.get("tensorflow")
    executing_eagerly = getattr(tensorflow, "executing_eagerly", None)
    if tensorflow is None or executing_eagerly is None or executing_eagerly():
        return None
    return tensorflow.compat.v1.get_default_graph()


def trainable_variables(graph: Any) -> list[str]:
    """Names of the ops that hold the graph's trainable variables."""
    return [variable.op.name for variable in graph.get_collection("trainable_variables")]


def call_stacks(operations: Sequence[Any]) -> OpLogColumns:
    """Call stack of the creation of each op.

    Equal stacks are read once: a traceback hashes fast, but reading its frames takes some 50 µs.
    """
    columns = OpLogColumns()
    known: dict[Any, int] = {}
    line_texts: dict[tuple[str, int], str] = {}
    for operation in operations:
        traceback = operation.traceback
        if isinstance(traceback, list):  # of TensorFlow 1
            traceback = tuple(traceback)
        stack = known.get(traceback, NO_STACK)
        if stack == NO_STACK:
            stack = known[traceback] = columns.stacks.intern(
                _frame(summary, line_texts) for summary in traceback or ()
            )
        columns.names.append(operation.name)
        columns.float_ops.append(0)
        columns.types.append(())
        columns.stack_ids.append(stack if stack != EMPTY_STACK else NO_STACK)
    return columns


def _frame(summary: Any, line_texts: dict[tuple[str, int], str]) -> Frame:
    if isinstance(summary, tuple):  # of TensorFlow 1: file, line, function, text
        file, number, function = summary[:3]
        text = summary[3] if len(summary) > 3 else None
        return Frame(file or "none", function or "none", number or -1, text or "")
    file, number, function = summary.filename or "none", summary.lineno, summary.name or "none"
    text = line_texts.get((file, number))
    if text is None:  # reading the source file costs more than all the rest
        text = line_texts[file, number] = summary.line or ""
    return Frame(file, function, number or -1, text)
