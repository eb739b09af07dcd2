"""A live graph as a complete GraphDef with captured variables and functions.

A graph of TensorFlow 2 refers to variables outside it through placeholders without shapes. Here
each becomes the ``VarHandleOp`` that TensorFlow writes when it saves a program; it keeps its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof.errors import UsageError
from tfprof.graphs.live.registered_statistics import mark_functions, mark_nodes
from tfprof.graphs.live.stable_names import keep_called_functions, name_captures, unused
from tfprof.graphs.model.program import Variable
from tfprof.graphs.model.tensors import PartialShape


@dataclass(frozen=True, slots=True)
class TracedLayer:
    """A layer of a model.

    Attributes:
        path: Names of the layers from the model to this one, joined by ``/``. Layers of equal
            names below the same layer get ``_1``, ``_2``… appended.
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
    """A graph, with facts that only the live program has.

    Attributes:
        graph: A serialized GraphDef with function library and the shapes that TensorFlow has.
        variables: Variables of the model, or all that a function uses. None if they have to be
            found in the graph.
        fetches: Names of the nodes that make the results; empty if all ops of the graph count.
        inputs: Name of the placeholder of each input, by the name for users.
        layers: Layers of a model: one tree, the model at its root.
        layer_of: Path of the innermost layer that made a node, by node name. Scopes in node names
            are ambiguous: Keras 3 opens the scope of a layer twice, so its ops end up in
            ``dense_1``, which may also be the name of another layer.
        is_own: It was traced for this call, with the shapes that the user gave.
    """

    graph: bytes
    variables: list[Variable] | None
    fetches: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    layers: list[TracedLayer] = field(default_factory=list)
    layer_of: dict[str, str] = field(default_factory=dict)
    is_own: bool = False


class NamedVariable(NamedTuple):
    """A variable with a unique name."""

    name: str
    variable: Any
    trainable: bool


def traced_graph(
    graph: Any,
    variables: Sequence[NamedVariable] | None,
    *,
    is_own: bool = False,
    at_default: str = "",
    **facts: Any,
) -> TracedGraph:
    """Convert a live graph. All changes are made in one message, which is encoded once.

    Args:
        graph: A ``tf.Graph``; it stays as it is.
        variables: The parameters; None if they have to be found in the graph.
        is_own: The graph was traced for this call. Counters in the names of its functions are
            removed, and functions that are never called are left out.
        at_default: Name of a placeholder that takes its default.
        facts: The other attributes of the result.
    """
    try:
        definition = graph.as_graph_def(add_shapes=True)
    except ValueError as error:
        raise _too_large(error) from error
    mark_nodes(graph, definition.node)
    mark_functions(definition.library.function)
    _declare_handles(definition, graph, [*(variables or ()), *used_variables(graph)])
    _take_default(definition, at_default)
    facts.setdefault("fetches", _results(graph))
    facts.setdefault("inputs", _inputs(graph))
    if is_own:
        keep_called_functions(definition)
        captured = {inner.op.name for _, inner in graph.captures}
        name_captures(definition, captured, facts.get("layer_of", {}))
    try:
        data = definition.SerializeToString(deterministic=True)
    except ValueError as error:
        raise _too_large(error) from error
    return TracedGraph(
        data,
        None if variables is None else [_facts(each) for each in variables],
        is_own=is_own,
        **facts,
    )


def _too_large(error: ValueError) -> UsageError:
    return UsageError(
        f"this graph cannot be written down: {error}. Keep large constants in variables"
    )


def named(variables: Iterable[Any], trainable: Iterable[Any] | None = None) -> list[NamedVariable]:
    """Variables, each once, with unique names.

    Args:
        variables: Variables of TensorFlow or Keras; the latter are called by their path.
        trainable: Those that train; None to ask each variable.
    """
    training = None if trainable is None else {id(variable) for variable in trainable}
    names: set[str] = set()
    by_id: dict[int, NamedVariable] = {}
    for variable in variables:
        if id(variable) in by_id:
            continue
        name = getattr(variable, "path", None) or variable.name.partition(":")[0]
        trains = variable.trainable if training is None else id(variable) in training
        name = unused(name, names)
        names.add(name)
        by_id[id(variable)] = NamedVariable(name, variable, bool(trains))
    return list(by_id.values())


def used_variables(graph: Any) -> list[NamedVariable]:
    """The variables that a traced function uses, in the order of their first use.

    Raises:
        UsageError: Some of them were deleted.
    """
    places = {id(outer): place for place, (outer, _) in enumerate(getattr(graph, "captures", ()))}
    try:
        used = getattr(graph, "variables", ())
    except AssertionError as error:  # TensorFlow holds the variables of a function weakly
        raise UsageError(
            "variables of this function have been deleted; keep the model that owns them alive "
            "while you count, or pass the model itself"
        ) from error
    variables = sorted(
        used,
        key=lambda each: (places.get(id(each.handle), len(places)), each.name),
    )
    return named(variables)


def _facts(each: NamedVariable) -> Variable:
    return Variable(each.name, _dims(each.variable.shape), _dtype(each.variable), each.trainable)


def _dims(shape: Any) -> PartialShape:
    """Dimensions of a live shape; None for an unknown rank."""
    return None if getattr(shape, "rank", 0) is None else tuple(shape)


def _dtype(variable: Any) -> int:
    """``DataType`` number of a variable; Keras 3 gives the name of the type."""
    held = getattr(variable, "_value", variable)
    dtype = getattr(held, "dtype", None)
    return int(getattr(dtype, "base_dtype", dtype).as_datatype_enum) if dtype is not None else 0


def _handle(variable: Any) -> Any | None:
    """The resource of a variable; None if it has copies on several devices."""
    try:
        return getattr(getattr(variable, "_value", variable), "handle", None)
    except ValueError:
        return None


def _declare_handles(definition: Any, graph: Any, variables: Iterable[NamedVariable]) -> None:
    """Turn placeholders of captured variables into nodes that declare the variables."""
    by_handle: dict[int, NamedVariable] = {}
    for each in variables:
        by_handle.setdefault(id(_handle(each.variable)), each)
    handles = {
        inner.op.name: by_handle[id(outer)]
        for outer, inner in getattr(graph, "captures", ())
        if id(outer) in by_handle
    }
    for node in definition.node:
        captured = handles.get(node.name)
        if captured is None or node.op != "Placeholder":
            continue
        facts = _facts(captured)
        node.op = "VarHandleOp"
        del node.attr["_user_specified_name"]
        node.attr["dtype"].type = facts.dtype
        declared = node.attr["shape"].shape
        declared.Clear()
        declared.unknown_rank = facts.shape is None
        for dim in facts.shape or ():
            declared.dim.add(size=-1 if dim is None else int(dim))
        node.attr["shared_name"].s = captured.name.encode()


def _take_default(definition: Any, name: str) -> None:
    for node in definition.node:
        if node.name == name and node.op == "PlaceholderWithDefault":
            node.op = "Identity"
            node.attr["T"].type = node.attr["dtype"].type
            del node.attr["dtype"], node.attr["shape"]


def _results(graph: Any) -> list[str]:
    """Nodes of the results and side effects of a traced function, in their order."""
    wanted = {tensor.op.name for tensor in getattr(graph, "outputs", None) or ()}
    wanted.update(operation.name for operation in getattr(graph, "control_outputs", None) or ())
    if not wanted:
        return []
    return [operation.name for operation in graph.get_operations() if operation.name in wanted]


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
    inputs: dict[str, str] = {}
    for tensor in arguments:
        if id(tensor) not in captured and tensor.op.type == "Placeholder":
            inputs[unused(_argument_name(tensor.op), inputs)] = tensor.op.name
    return inputs


def _argument_name(operation: Any) -> str:
    try:
        return str(operation.get_attr("_user_specified_name").decode())
    except ValueError:
        return str(operation.name)
