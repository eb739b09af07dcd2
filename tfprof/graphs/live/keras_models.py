"""Graphs of Keras models: of Keras 3 on TensorFlow, and of tf_keras.

A model is called once, for inference, with placeholders in a graph of our own. Changes of the
model's objects are undone afterwards: flags, losses, tensors that a layer keeps, and the variables
of a model that was not built before.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfprof.errors import UsageError
from tfprof.graphs.live.input_specs import text_of, with_batch
from tfprof.graphs.live.keras_inputs import Call, call_of
from tfprof.graphs.live.keras_layers import Layers, keras_3_state
from tfprof.graphs.live.running_tensorflow import (
    apart_from_graphs,
    main_line,
    runs_eagerly,
    tensorflow_module,
)
from tfprof.graphs.live.stable_names import unused
from tfprof.graphs.live.traced_graph import TracedGraph, named, traced_graph

_LIBRARIES = ("keras", "tf_keras")


def is_model(target: Any) -> bool:
    """Whether a target is a model or layer of Keras 3 or tf_keras."""
    return _library_of(target) is not None


def _library_of(target: Any) -> Any | None:
    for name in _LIBRARIES:
        library = sys.modules.get(name)
        layers = getattr(library, "layers", None)
        if library is not None and isinstance(target, getattr(layers, "Layer", ())):
            return library
    return None


def traced_model(model: Any, input_shapes: Any = None, batch: int | None = None) -> TracedGraph:
    """The graph of a model's inference.

    Args:
        model: A model or layer.
        input_shapes: Shapes, or TensorSpecs, of the inputs: one, a list of them or a dict by name.
            None for those that the model declares.
        batch: Batch size; None to leave it unknown where the model does.

    Raises:
        UsageError: The model's inputs are unknown, do not fit the batch size, or the model
            cannot be called with them; or Keras does not run on TensorFlow.
    """
    library = _library_of(model)
    _check_backend(library)
    if _is_in_v1_graph(model):
        return _graph_of_outputs(model)
    from tensorflow.python.framework import func_graph

    call = call_of(model, input_shapes).map(lambda spec: with_batch(spec, batch, strict=True))
    with apart_from_graphs(), _unchanged(Layers(model).all), _unchanged_counters():
        if not model.built:
            _call_in(func_graph.FuncGraph("model"), model, call)  # makes the variables
        return _traced(model, call)


def _check_backend(library: Any) -> None:
    backend = getattr(getattr(library, "config", None), "backend", None)
    name = backend() if backend is not None else "tensorflow"
    if name != "tensorflow":
        raise UsageError(
            f"Keras runs on {name} here: its models have no TensorFlow graph. Set "
            "KERAS_BACKEND=tensorflow before Keras is imported, and load the model again"
        )


def _traced(model: Any, call: Call) -> TracedGraph:
    """Call the model in a graph that records which layer makes each node."""
    from tensorflow.python.framework import func_graph

    layers = Layers(model)
    layer_of: dict[str, str] = {}

    class Graph(func_graph.FuncGraph):  # type: ignore[misc, unused-ignore]
        def _create_op_internal(self, *args: Any, **kwargs: Any) -> Any:
            operation = super()._create_op_internal(*args, **kwargs)
            path = layers.current()
            if path is not None:
                layer_of[operation.name] = path
            return operation

    graph = Graph("model")
    _call_in(graph, model, call)
    variables = named(model.weights, model.trainable_weights)
    return traced_graph(
        graph, variables, is_own=True, layers=[layers.tree(variables)], layer_of=layer_of
    )


def _call_in(graph: Any, model: Any, call: Call) -> None:
    """Call the model in a ``FuncGraph``, with placeholders for its inputs."""
    from tensorflow.python.framework import func_graph

    options = {"training": False} if _takes_training(model) else {}
    specs = _with_names(call.flat())
    try:
        func_graph.func_graph_from_py_func(
            graph.name,
            lambda *flat: _run(model, call.replaced(flat), options),
            args=tuple(specs),
            kwargs={},
            func_graph=graph,
        )
    except Exception as error:
        raise UsageError(_failure(model, specs, error)) from error


def _run(model: Any, call: Call, options: Mapping[str, Any]) -> list[Any]:
    """Results as a flat list of tensors; other values are left out."""
    tensorflow = tensorflow_module()
    results = model(*call.args, **call.kwargs, **options)
    flat = tensorflow.nest.flatten(results, expand_composites=True)
    return [result for result in flat if tensorflow.is_tensor(result)]


def _failure(model: Any, specs: Sequence[Any], error: Exception) -> str:
    unknown = any(not spec.shape.is_fully_defined() for spec in specs)
    remedy = (
        "pass batch, or the input_shapes of all inputs" if unknown else "pass other input_shapes"
    )
    return (
        f"model {model.name!r} cannot be called with {text_of(specs)} "
        f"({type(error).__name__}: {main_line(error)}); {remedy}"
    )


def _takes_training(model: Any) -> bool:
    parameters = inspect.signature(model.call).parameters
    return "training" in parameters or any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def _with_names(specs: Sequence[Any]) -> list[Any]:
    """TensorSpecs with distinct names, so that each input can be identified."""
    tensorflow = tensorflow_module()
    taken: set[str] = set()
    result = list(specs)
    for place, spec in enumerate(specs):
        if type(spec) is tensorflow.TensorSpec:
            name = unused(spec.name or "input", taken)
            taken.add(name)
            result[place] = tensorflow.TensorSpec(spec.shape, spec.dtype, name)
    return result


def _is_in_v1_graph(model: Any) -> bool:
    """Whether the model's ops are in a graph already, as without eager execution."""
    outputs = getattr(model, "outputs", None)
    return hasattr(outputs[0], "graph") if outputs else not runs_eagerly()


def _graph_of_outputs(model: Any) -> TracedGraph:
    outputs = getattr(model, "outputs", None)
    if not outputs:
        raise UsageError(
            f"model {model.name!r} has no outputs in a graph yet: call it on placeholders, or "
            "build it with the functional API"
        )
    layers = Layers(model)
    variables = named(model.weights, model.trainable_weights)
    graph = outputs[0].graph
    return traced_graph(
        graph,
        variables,
        at_default="keras_learning_phase",  # False: inference
        fetches=list(dict.fromkeys(tensor.op.name for tensor in outputs)),
        inputs={tensor.op.name: tensor.op.name for tensor in model.inputs or ()},
        layers=[layers.tree(variables)],
        layer_of=layers.in_graph(operation.name for operation in graph.get_operations()),
    )


@contextlib.contextmanager
def _unchanged(objects: Sequence[Any]) -> Iterator[None]:
    """Restore the attributes of objects, and the contents of their lists, sets and dicts."""
    saved: list[tuple[Any, Any]] = []
    seen: set[int] = set()
    trackers = [each._tracker for each in objects if hasattr(each, "_tracker")]  # of Keras 3
    waiting = [vars(each) for each in [*objects, *trackers]]
    for container in waiting:  # grows on the way
        if id(container) in seen:
            continue
        seen.add(id(container))
        kind = _kind(container)
        saved.append((container, kind(container)))
        waiting += [vars(container)] if hasattr(container, "__dict__") else []
        if kind is dict:
            waiting += [value for value in container.values() if _kind(value) is not None]
            waiting += [vars(value) for value in container.values() if _is_random(value)]
    try:
        yield
    finally:
        for container, before in saved:
            if isinstance(before, list):
                list.__setitem__(container, slice(None), before)
            else:
                kind = type(before)
                kind.clear(container)
                kind.update(container, before)


def _is_random(value: Any) -> bool:
    """Whether it is an initializer or random generator of tf_keras, which change when used."""
    return type(value).__name__ == "RandomGenerator" or "_random_generator" in getattr(
        value, "__dict__", ()
    )


def _kind(value: Any) -> Any:
    """List, set or dict, if a value is one of them; Keras wraps some."""
    return next((kind for kind in (list, set, dict) if issubclass(type(value), kind)), None)


@contextlib.contextmanager
def _unchanged_counters() -> Iterator[None]:
    """Restore the counters in names of new layers, and the seeds of new variables."""
    from tensorflow.python.eager import context

    counts = keras_3_state("object_name_uids")
    legacy_seeds = getattr(sys.modules.get("tf_keras.src.backend"), "_SEED_GENERATOR", None)
    own = getattr(context.context(), "_rng", None), getattr(legacy_seeds, "generator", None)
    generators = [generator for generator in own if generator is not None]
    before = dict(counts or {})
    states = [generator.getstate() for generator in generators]
    try:
        yield
    finally:
        if counts is not None:
            counts.clear()
            counts.update(before)
        for generator, state in zip(generators, states, strict=True):
            generator.setstate(state)
