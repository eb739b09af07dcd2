"""Models, functions, graphs, files or profilers → ``Program``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfprof.errors import UnknownFormatError, UsageError
from tfprof.files.disk import is_ordinary_file
from tfprof.files.remote.path import AnyPath, as_path
from tfprof.graphs.live.model_graphs import traced
from tfprof.graphs.live.traced_graph import TracedLayer
from tfprof.graphs.model.node_table import Node
from tfprof.graphs.model.program import Program
from tfprof.graphs.model.seen_program import HasSeenProgram, ObservedControlFlow
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.read.program import open_program, read_program
from tfprof.graphs.shapes.dims import compatible

_KERAS_SUFFIXES = (".keras", ".h5", ".hdf5")

InputShapes = Mapping[str, Sequence[int | None]] | Sequence[Any] | None
"""Shape of each input: by name, in order, or one shape for the only input."""


@dataclass(frozen=True, slots=True)
class Target:
    """A program with facts that are not in its graph.

    Attributes:
        program: The program.
        layers: Layers of a model, the model at the root.
        layer_of: Path of the layer that made a node, by node name.
        observed: How often loops and branches ran in a profile.
        is_traced: The graph was traced for this call: shapes and batch are in it already.
        idle: Places of the nodes that the recorded steps of a profile did not run.
    """

    program: Program
    layers: Sequence[TracedLayer] = ()
    layer_of: Mapping[str, str] = field(default_factory=dict)
    observed: ObservedControlFlow = field(default_factory=ObservedControlFlow)
    is_traced: bool = False
    idle: Sequence[int] = ()


def target_of(
    target: Any,
    *,
    batch: int | None = None,
    input_shapes: InputShapes = None,
    signature: str | None = None,
    static: bool = False,
) -> Target:
    """Recognise and read a target.

    Args:
        target: A Keras model, ``tf.function``, ConcreteFunction, ``tf.Graph``; a GraphDef,
            MetaGraphDef or SavedModel as message, bytes or path; or a ``Profiler``.
        batch: First dimension of the inputs.
        input_shapes: Shapes of the inputs.
        signature: Of a SavedModel, the signature to call.
        static: Of a profile, take the graph with all its ops, not only those that ran.

    Raises:
        UsageError: It is something else, or cannot be traced as it is.
        InputError: It cannot be read.
    """
    if isinstance(target, (str, os.PathLike)):
        _refuse_keras_file(as_path(target))
    if isinstance(target, HasSeenProgram):
        seen = target.__seen_program__(static)
        return Target(seen.program, observed=seen.observed, idle=seen.idle)
    graph = traced(target, input_shapes, batch)
    if graph is None:
        return Target(open_program(target, signature))
    program = read_program(graph.graph)
    places = program.body.places()
    program.variables = graph.variables
    if graph.fetches:
        program.fetches = tuple(places[name] for name in graph.fetches if name in places)
    if graph.inputs:
        program.inputs = {
            name: places[node] for name, node in graph.inputs.items() if node in places
        }
    return Target(program, graph.layers, graph.layer_of, is_traced=graph.is_own)


def _refuse_keras_file(path: AnyPath) -> None:
    if path.suffix.lower() in _KERAS_SUFFIXES and is_ordinary_file(path):
        raise UnknownFormatError(
            f"{path}: a file of Keras holds Python objects and no graph. Load it with "
            "keras.models.load_model and call tfprof.flops(model), or export it with "
            "model.export(PATH) and give that path"
        )


def shapes_by_node(program: Program, input_shapes: InputShapes) -> dict[str, PartialShape]:
    """Shape of each input by the name of its node.

    Raises:
        UsageError: There is no input of a name, or a shape contradicts the graph.
    """
    if input_shapes is None:
        return {}
    given = _by_name(program, input_shapes)
    nodes = program.body.nodes
    shapes: dict[str, PartialShape] = {}
    for name, shape in given.items():
        places = program.inputs
        place = places.get(name, next((p for p in places.values() if nodes[p].name == name), None))
        if place is None:
            there = ", ".join(places) or "none"
            raise UsageError(f"input_shapes: there is no input {name!r}; inputs: {there}")
        node = nodes[place]
        declared = declared_shape(node)
        wanted = _checked(name, shape)
        if not compatible(wanted, declared):
            raise UsageError(
                f"input_shapes: {name} is {_text(declared)} in this graph, not {_text(wanted)}; "
                "trace or export the model again with the shapes that it should have"
            )
        shapes[node.name] = wanted
    return shapes


def declared_shape(node: Node) -> PartialShape:
    """The shape that the graph gives an input."""
    return node.declared[0] if node.declared else node.kind.attrs.get("shape")


def _by_name(program: Program, input_shapes: Any) -> dict[str, Any]:
    if isinstance(input_shapes, Mapping):
        return dict(input_shapes)
    shapes = list(input_shapes)
    if all(dim is None or isinstance(dim, int) for dim in shapes):
        shapes = [shapes]
    names = list(program.inputs)
    if len(shapes) != len(names):
        raise UsageError(
            f"input_shapes has {len(shapes)} shapes for {len(names)} inputs "
            f"({', '.join(names) or 'none'}); give a dict from name to shape"
        )
    return dict(zip(names, shapes, strict=True))


def _checked(name: str, shape: Any) -> tuple[int | None, ...]:
    shape = getattr(shape, "shape", shape)  # a TensorSpec
    try:
        dims = tuple(None if dim is None or dim == -1 else int(dim) for dim in shape)
    except (TypeError, ValueError):
        raise UsageError(
            f"input_shapes: {name} has {shape!r}, which is not a shape; give a tuple such as "
            "(None, 224, 224, 3)"
        ) from None
    if any(dim is not None and dim < 0 for dim in dims):
        raise UsageError(f"input_shapes: {name} has a negative size in {shape!r}")
    return dims


def _text(shape: PartialShape) -> str:
    if shape is None:
        return "of unknown rank"
    return "(" + ", ".join("None" if dim is None else str(dim) for dim in shape) + ")"
