"""Tiny graphs, runs and op logs for tests, one line per op, execution or call stack.

Example:
    >>> from tfprof.testing.builders import graph, op, op_log, run, stat, traced
    >>> tiny = graph(
    ...     op("w", "VariableV2", shape=[2, 3]),
    ...     op("mm", "MatMul", "x", "w:0", outputs=[[4, 3]]),
    ... )
    >>> one_step = run({"w": 1, "mm": stat(70, memory=(64, 32, 16))})
    >>> log = op_log(traced("mm", "train.py:3:main", "net.py:7:dense", float_ops=48))
    >>> [node.name for node in tiny.node], len(log.log_entries[0].code_def.traces)
    (['w', 'mm'], 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from tfprof.core.wire import messages as pb
from tfprof.options.builder import ProfileOptionBuilder

Shape = Sequence[int] | Literal["?"]
"""Dimensions, -1 for an unknown one; ``"?"`` is a shape of unknown rank."""

Executions = Mapping[str, "int | pb.NodeExecStats"] | Iterable["tuple[str, int | pb.NodeExecStats]"]
"""Node names with their duration (µs) or a ``stat``; pairs, if a name occurs more than once."""

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
GPU_STREAMS = "/device:GPU:0/stream:all"


def options(**changes: Any) -> dict[str, Any]:
    """Options that show everything and write nothing, with changes."""
    return ProfileOptionBuilder().with_empty_output().build() | changes


def op(
    name: str,
    type_: str = "NoOp",
    *inputs: str,
    shape: Shape | None = None,
    outputs: Iterable[Shape] | None = None,
    **attrs: Any,
) -> pb.NodeDef:
    """One node of a graph.

    Args:
        name: Node name.
        type_: Op type.
        inputs: As a GraphDef writes them: ``a``, ``a:1`` or ``^a``.
        shape: The attribute ``shape``, which makes the op count as parameters.
        outputs: The attribute ``_output_shapes``.
        attrs: Other attributes; bool, int, str or a list of int.
    """
    node = pb.NodeDef(name=name, op=type_, input=inputs)
    if shape is not None:
        node.attr["shape"].shape.CopyFrom(shape_proto(shape))
    if outputs is not None:
        shapes = [shape_proto(output) for output in outputs]
        node.attr["_output_shapes"].list.CopyFrom(pb.AttrValue.ListValue(shape=shapes))
    for key, value in attrs.items():
        if isinstance(value, bool):
            node.attr[key].b = value
        elif isinstance(value, int):
            node.attr[key].i = value
        elif isinstance(value, str):
            node.attr[key].s = value.encode()
        else:
            node.attr[key].list.i.extend(value)
    return node


def shape_proto(shape: Shape) -> pb.TensorShapeProto:
    """A shape as a message."""
    if shape == "?":
        return pb.TensorShapeProto(unknown_rank=True)
    dims = [pb.TensorShapeProto.Dim(size=int(size)) for size in shape]
    return pb.TensorShapeProto(dim=dims)


def graph(*nodes: pb.NodeDef) -> pb.GraphDef:
    """A graph of nodes made by ``op``."""
    return pb.GraphDef(node=nodes)


def stat(
    micros: int = 1,
    *,
    start: int = 1000,
    label: str = "",
    memory: tuple[int, int, int] | None = None,
    temporary: int = 0,
    persistent: int = 0,
    outputs: Iterable[int] = (),
) -> pb.NodeExecStats:
    """One execution, still without its node's name.

    Args:
        micros: Duration; 0 and less are written as they are.
        start: Start time; 0 or less means that the execution has no time.
        label: Timeline label, ``mm = MatMul(x, w)``.
        memory: Total, peak and live bytes of one allocator.
        temporary: Bytes of temporary memory.
        persistent: Bytes of persistent memory.
        outputs: Allocated bytes of each output.
    """
    made = pb.NodeExecStats(
        all_start_micros=start,
        op_end_rel_micros=micros,
        all_end_rel_micros=micros,
        timeline_label=label,
    )
    if memory is not None:
        total, peak, live = memory
        made.memory.add(allocator_name="cpu", total_bytes=total, peak_bytes=peak, live_bytes=live)
    if temporary or persistent:
        made.memory_stats.temp_memory_size = temporary
        made.memory_stats.persistent_memory_size = persistent
    for slot, size in enumerate(outputs):
        described = made.output.add(slot=slot).tensor_description
        described.allocation_description.allocated_bytes = size
    return made


def run(executions: Executions = (), device: str = CPU) -> pb.RunMetadata:
    """The metadata of one run on one device; see ``run_on`` for more devices."""
    return run_on({device: executions})


def run_on(blocks: Mapping[str, Executions]) -> pb.RunMetadata:
    """The metadata of one run: executions by device, in the order given."""
    step_stats = pb.StepStats()
    for device, executions in blocks.items():
        block = step_stats.dev_stats.add(device=device)
        pairs = executions.items() if isinstance(executions, Mapping) else executions
        for name, execution in pairs:
            made = stat(execution) if isinstance(execution, int) else execution
            added = block.node_stats.add()
            added.CopyFrom(made)
            added.node_name = name
    return pb.RunMetadata(step_stats=step_stats)


Entry = tuple[str, tuple[str, ...] | None, int, tuple[str, ...]]


def traced(name: str, *lines: str, float_ops: int = 0, types: Iterable[str] = ()) -> Entry:
    """An op log entry with a call stack, outermost line first, each ``file:line:function``."""
    return (name, lines, float_ops, tuple(types))


def logged(name: str, *, float_ops: int = 0, types: Iterable[str] = ()) -> Entry:
    """An op log entry without a call stack."""
    return (name, None, float_ops, tuple(types))


def op_log(*entries: Entry) -> pb.OpLogProto:
    """An op log of entries made by ``traced`` and ``logged``."""
    log = pb.OpLogProto()
    ids: dict[str, int] = {}
    for name, lines, float_ops, types in entries:
        entry = log.log_entries.add(name=name, float_ops=float_ops, types=types)
        if lines is None:
            continue
        entry.code_def.SetInParent()
        for line in lines:
            file, number, function = line.rsplit(":", 2)
            entry.code_def.traces.add(
                file_id=ids.setdefault(file, len(ids) + 1),
                lineno=int(number),
                function_id=ids.setdefault(function, len(ids) + 1),
            )
    for text, string_id in ids.items():
        log.id_to_string[string_id] = text
    return log
