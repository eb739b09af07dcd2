"""A live graph as a GraphDef that stands alone: captured variables, functions and all.

A graph that TensorFlow 2 traces refers to variables outside it through placeholders, of which
nothing tells the shape. Here each becomes the ``VarHandleOp`` that TensorFlow itself writes when it
saves a program; it keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof._wire import messages as pb
from tfprof.errors import UsageError
from tfprof.model.program import Variable
from tfprof.model.tensors import PartialShape

_COUNTED_NAME = re.compile(r"(?:__(?:inference|forward|backward)_)?(?P<name>.+?)(?:_\d+)*")
_PASSING_ATTRS = (
    "_gradient_op_type",
    "api_implements",
    "backward_function_name",
    "forward_function_name",
)
"""Names with counters or random parts, of things that TensorFlow looks up in the process."""


@dataclass(frozen=True, slots=True)
class TracedLayer:
    """A layer of a model.

    Attributes:
        path: Names of the layers from the model to this one, joined by ``/``. Layers of equal
            names below the same layer are told apart by ``_1``, ``_2``…
        name: Its name.
        class_name: Name of its class.
        output_shapes: Shape of each output; None if Keras does not know.
        variables: Names of the variables that no layer inside it has.
        children: Layers inside it. A layer that is used twice stands where it comes first.
    """

    path: str
    name: str
    class_name: str
    output_shapes: tuple[PartialShape, ...] | None
    variables: tuple[str, ...]
    children: tuple[TracedLayer, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedGraph:
    """A graph, and what only the live program tells about it.

    Attributes:
        graph: A serialized GraphDef with function library and the shapes that TensorFlow knows.
        variables: Variables of the model, or all that the graph uses.
        fetches: Names of the nodes that make the results; empty if all ops of the graph count.
        inputs: Name of the placeholder for each input by the name that a user knows.
        layers: Layers of a model: one tree, the model at its root.
        layer_of: Path of the innermost layer that made a node, by node name. Scopes in node names
            do not tell: Keras 3 opens the scope of a layer twice, so its ops end up in
            ``dense_1``, which may also be the name of another layer.
    """

    graph: bytes
    variables: list[Variable]
    fetches: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    layers: list[TracedLayer] = field(default_factory=list)
    layer_of: dict[str, str] = field(default_factory=dict)


class NamedVariable(NamedTuple):
    """A variable, and what to call it."""

    name: str
    variable: Any
    trainable: bool


def traced_graph(
    graph: Any,
    variables: Sequence[NamedVariable] | None = None,
    *,
    is_own: bool = False,
    **facts: Any,
) -> TracedGraph:
    """Write a live graph down.

    Args:
        graph: A ``tf.Graph``; it stays as it is.
        variables: The variables that count as parameters; None for those that the graph uses.
        is_own: The graph was traced just now. Its functions, which have numbers in their names
            that differ each time, get names that do not, and those that nobody calls are left out.
        facts: The other attributes of the result.
    """
    try:
        data = graph.as_graph_def(add_shapes=True).SerializeToString()
    except ValueError as error:
        raise UsageError(
            f"this graph can not be written down: {error}. Keep large constants in variables"
        ) from error
    definition = pb.GraphDef.FromString(data)
    used = named(getattr(graph, "variables", ()))
    _declare_handles(definition, graph, [*(variables or ()), *used])
    if is_own:
        _keep_called_functions(definition)
    facts.setdefault("fetches", _results(graph))
    facts.setdefault("inputs", _inputs(graph))
    return TracedGraph(
        definition.SerializeToString(deterministic=True),
        [_facts(each) for each in (used if variables is None else variables)],
        **facts,
    )


def named(variables: Iterable[Any], trainable: Iterable[Any] | None = None) -> list[NamedVariable]:
    """Variables, each once, with names that differ.

    Args:
        variables: Variables of TensorFlow or Keras; the latter are called by their path.
        trainable: Those that train; None to ask each variable.
    """
    training = None if trainable is None else {id(variable) for variable in trainable}
    names: set[str] = set()
    found: dict[int, NamedVariable] = {}
    for variable in variables:
        if id(variable) in found:
            continue
        name = getattr(variable, "path", None) or variable.name.partition(":")[0]
        trains = variable.trainable if training is None else id(variable) in training
        name = unused(name, names)
        names.add(name)
        found[id(variable)] = NamedVariable(name, variable, bool(trains))
    return list(found.values())


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, or with ``_1``, ``_2``… if it is taken.

    Args:
        name: What it should be called.
        taken: Names that are; anything that answers ``in`` fast.
    """
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _facts(each: NamedVariable) -> Variable:
    return Variable(each.name, _dims(each.variable.shape), _dtype(each.variable), each.trainable)


def _dims(shape: Any) -> PartialShape:
    """A live shape; None for an unknown rank."""
    return None if getattr(shape, "rank", 0) is None else tuple(shape)


def _dtype(variable: Any) -> int:
    """``DataType`` number of a variable; Keras 3 gives the name of the type."""
    held = getattr(variable, "_value", variable)
    dtype = getattr(held, "dtype", None)
    return int(getattr(dtype, "base_dtype", dtype).as_datatype_enum) if dtype is not None else 0


def _declare_handles(
    definition: pb.GraphDef, graph: Any, variables: Iterable[NamedVariable]
) -> None:
    """Turn placeholders of captured variables into nodes that say what they refer to."""
    by_handle: dict[int, NamedVariable] = {}
    for each in variables:
        handle = getattr(getattr(each.variable, "_value", each.variable), "handle", None)
        by_handle.setdefault(id(handle), each)
    handles = {
        inner.op.name: by_handle[id(outer)]
        for outer, inner in getattr(graph, "captures", ())
        if id(outer) in by_handle
    }
    for node in definition.node:
        each = handles.get(node.name)
        if each is None or node.op != "Placeholder":
            continue
        facts = _facts(each)
        node.op = "VarHandleOp"
        del node.attr["_user_specified_name"]
        node.attr["dtype"].type = facts.dtype
        node.attr["shape"].shape.CopyFrom(_shape_proto(facts.shape))
        node.attr["shared_name"].s = each.name.encode()


def _shape_proto(shape: PartialShape) -> pb.TensorShapeProto:
    proto = pb.TensorShapeProto(unknown_rank=shape is None)
    for dim in shape or ():
        proto.dim.add(size=-1 if dim is None else int(dim))
    return proto


def _results(graph: Any) -> list[str]:
    """Nodes that a traced function runs for: its results, and what has effects."""
    outputs = [tensor.op.name for tensor in getattr(graph, "outputs", None) or ()]
    controls = [operation.name for operation in getattr(graph, "control_outputs", None) or ()]
    return list(dict.fromkeys(outputs + controls))


def _inputs(graph: Any) -> dict[str, str]:
    """Placeholders by the names of a function's arguments, or all that a graph has."""
    arguments = getattr(graph, "inputs", None)
    if arguments is None:
        return {
            operation.name: operation.name
            for operation in graph.get_operations()
            if operation.type in ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")
        }
    captured = {id(inner) for _, inner in getattr(graph, "captures", ())}
    found: dict[str, str] = {}
    for tensor in arguments:
        if id(tensor) not in captured and tensor.op.type == "Placeholder":
            found[unused(_argument_name(tensor.op), found)] = tensor.op.name
    return found


def _argument_name(operation: Any) -> str:
    try:
        return str(operation.get_attr("_user_specified_name").decode())
    except ValueError:
        return str(operation.name)


def _keep_called_functions(definition: pb.GraphDef) -> None:
    """Leave out functions that nobody calls, and give the others names without counters."""
    library = {function.signature.name: function for function in definition.library.function}
    new_names: dict[str, str] = {}
    taken: set[str] = set()
    waiting = [(node.op, node.attr) for node in definition.node]
    for op, attrs in waiting:  # grows by the nodes of each function that is found
        for name in [op, *(reference.name for reference in _references(attrs))]:
            if name not in library or name in new_names:
                continue
            match = _COUNTED_NAME.fullmatch(name)
            new_names[name] = unused(match["name"] if match else name, taken)
            taken.add(new_names[name])
            waiting += [(node.op, node.attr) for node in library[name].node_def]
    kept = [library[name] for name in new_names]
    for node in [*definition.node, *(node for function in kept for node in function.node_def)]:
        node.op = new_names.get(node.op, node.op)
        for reference in _references(node.attr):
            reference.name = new_names.get(reference.name, reference.name)
        _drop(node.attr)
    for function in kept:
        function.signature.name = new_names[function.signature.name]
        _drop(function.attr)
    functions = [pb.FunctionDef.FromString(function.SerializeToString()) for function in kept]
    definition.ClearField("library")
    definition.library.function.extend(functions)


def _references(attrs: Any) -> Iterator[pb.NameAttrList]:
    for key in sorted(attrs):
        value = attrs[key]
        if value.HasField("func"):
            yield value.func
        elif value.HasField("list"):
            yield from value.list.func


def _drop(attrs: Any) -> None:
    for name in _PASSING_ATTRS:
        if name in attrs:
            del attrs[name]
