"""Bodies of TensorFlow functions, variables and layers, as plain data.

Functions are found by name in TensorFlow's eager context, which keeps each as long as the program
can call it.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfprof.core.columns.frames import Frame
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.graphs.live.running_tensorflow import is_ours, tensorflow_module

_OUTPUT = re.compile(r"(?P<node>[^:]+):(?P<output>[^:]+):(?P<index>\d+)")


@dataclass(slots=True)
class FunctionBody:
    """Nodes, results and call stacks of a function.

    Attributes:
        name: The function's name in TensorFlow's context.
        nodes: Arguments first, as ``_Arg``; inputs are written as in a GraphDef.
        n_args: Number of arguments.
        results: Tensor ``node:slot`` of each result, by the result's name, in order.
        stacks: Call stack of the creation of each node, outermost frame first.
    """

    name: str
    nodes: list[pb.NodeDef]
    n_args: int
    results: dict[str, str]
    stacks: dict[str, tuple[Frame, ...]]


@dataclass(frozen=True, slots=True)
class VariableFacts:
    """A variable of the program."""

    name: str
    shape: tuple[int, ...]
    trainable: bool


@dataclass(frozen=True, slots=True)
class LayerTree:
    """A Keras layer and the layers inside it, in the order of the model."""

    name: str
    children: list[LayerTree] = field(default_factory=list)


def function_bodies(names: Iterable[str]) -> dict[str, FunctionBody]:
    """Bodies of functions and of those that they call, by name.

    Functions that the program has dropped in the meantime are left out.
    """
    errors = tensorflow_module().errors
    from tensorflow.python.eager import context

    eager = context.context()
    bodies: dict[str, FunctionBody] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in bodies:
            continue
        try:
            definition = eager.get_function_def(name)
        except errors.NotFoundError:
            continue
        bodies[name] = body = _body(eager, name, definition)
        waiting.extend(callee for node in body.nodes for _, callee in called_functions(node))
    return bodies


def called_functions(node: pb.NodeDef) -> Iterator[tuple[str, str]]:
    """Attribute (``branches`` numbered) and name of each function that a node refers to."""
    for key in sorted(node.attr):
        value = node.attr[key]
        if value.HasField("func"):
            yield key, value.func.name
        for place, function in enumerate(value.list.func):
            yield f"{key}{place}", function.name


def _body(eager: Any, name: str, definition: Any) -> FunctionBody:
    nodes = [
        _argument(place, arg, definition.arg_attr)
        for place, arg in enumerate(definition.signature.input_arg)
    ]
    slots = _Slots()
    for theirs in definition.node_def:
        ours = pb.NodeDef.FromString(theirs.SerializeToString())
        slots.add(ours)
        nodes.append(ours)
    for node in nodes:
        node.input[:] = [slots.flat(tensor) for tensor in node.input]
    outputs = [output.name for output in definition.signature.output_arg]
    results = {output: slots.flat(definition.ret[output]) for output in outputs}
    n_args = len(definition.signature.input_arg)
    return FunctionBody(name, nodes, n_args, results, _stacks(eager, name))


def _argument(place: int, arg: Any, attributes: Any) -> pb.NodeDef:
    node = pb.NodeDef(name=arg.name, op="_Arg")
    if place in attributes and "_output_shapes" in attributes[place].attr:
        shapes = attributes[place].attr["_output_shapes"].SerializeToString()
        node.attr["_output_shapes"].MergeFromString(shapes)
    return node


class _Slots:
    """Turns a function's ``node:output:index`` into a graph's ``node:slot``."""

    def __init__(self) -> None:
        from tensorflow.python.framework import op_def_registry

        self._op_def = op_def_registry.get
        self._first_slot: dict[tuple[str, str], int] = {}

    def add(self, node: pb.NodeDef) -> None:
        """Add the outputs of a node."""
        op_def = self._op_def(node.op)
        slot = 0
        for output in op_def.output_arg if op_def is not None else ():
            self._first_slot[node.name, output.name] = slot
            if output.number_attr:
                slot += node.attr[output.number_attr].i
            elif output.type_list_attr:
                slot += len(node.attr[output.type_list_attr].list.type)
            else:
                slot += 1

    def flat(self, tensor: str) -> str:
        """The tensor as in a graph; control inputs stay as they are."""
        match = _OUTPUT.fullmatch(tensor)
        if match is None:
            return tensor
        first = self._first_slot.get((match["node"], match["output"]), 0)
        return f"{match['node']}:{first + int(match['index'])}"


def _stacks(eager: Any, name: str) -> dict[str, tuple[Frame, ...]]:
    """Call stacks of a function's nodes without tfprof's frames."""
    info = eager.get_graph_debug_info(name)
    frames = {key: _frame(info.files, frame) for key, frame in info.frames_by_id.items()}
    stacks = {
        key: tuple(
            frames[frame_id] for frame_id in trace.frame_id if not is_ours(frames[frame_id].file)
        )
        for key, trace in info.traces_by_id.items()
    }
    return {
        node: stacks[trace_id]
        for node, trace_id in sorted(info.name_to_trace_id.items())
        if stacks.get(trace_id)
    }


def _frame(files: Sequence[str], frame: Any) -> Frame:
    file = files[frame.file_index]
    text = frame.code or linecache.getline(file, frame.line)
    return Frame(file, frame.func or "none", frame.line or -1, text.strip())


def check_targets(targets: Sequence[Any]) -> None:
    """Check that each target is a model, layer, module or function of TensorFlow's.

    Raises:
        UsageError: One is not.
    """
    for target in targets:
        if not (hasattr(target, "variables") or hasattr(target, "get_concrete_function")):
            raise UsageError(
                f"trace: {target!r} is not a Keras model, tf.Module, tf.function or concrete "
                "function; pass those, or nothing"
            )


def variables_of(targets: Sequence[Any]) -> list[VariableFacts]:
    """Variables of models, modules and functions, each once, in their order."""
    variables: dict[str, VariableFacts] = {}
    for holder in _holders(targets):
        for variable in holder.variables:
            name = getattr(variable, "path", None) or variable.name.partition(":")[0]
            shape = tuple(variable.shape)
            if None not in shape:
                variables.setdefault(name, VariableFacts(name, shape, bool(variable.trainable)))
    return list(variables.values())


def _holders(targets: Sequence[Any]) -> Iterator[Any]:
    """Objects with variables: for a ``tf.function`` its concrete functions."""
    for target in targets:
        if hasattr(target, "variables"):
            yield target
        else:
            traces = getattr(target, "_list_all_concrete_functions", None)
            yield from traces() if traces is not None else ()


def layers_of(targets: Sequence[Any]) -> list[LayerTree]:
    """The layers of those targets that are Keras models or layers."""
    return [_layer_tree(target) for target in targets if hasattr(target, "_flatten_layers")]


def _layer_tree(layer: Any) -> LayerTree:
    children = layer._flatten_layers(include_self=False, recursive=False)
    return LayerTree(layer.name, [_layer_tree(child) for child in children])
