"""Live models, functions and graphs as graphs that can be read without TensorFlow.

The user's objects stay as they are: tracing goes into a graph of our own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tfprof.errors import UsageError
from tfprof.graphs.live.input_specs import is_shape, map_shapes, spec_of, text_of, with_batch
from tfprof.graphs.live.keras_models import is_model, traced_model
from tfprof.graphs.live.live_graph import is_graph, trainable_variables
from tfprof.graphs.live.running_tensorflow import apart_from_graphs, main_line, tensorflow_module
from tfprof.graphs.live.traced_graph import (
    NamedVariable,
    TracedGraph,
    named,
    traced_graph,
    used_variables,
)
from tfprof.graphs.model.variable_names import belongs_to_optimizer


def traced(target: Any, input_shapes: Any = None, batch: int | None = None) -> TracedGraph | None:
    """The graph of a live object; None for any other target.

    Args:
        target: A model or layer of Keras 3 or tf_keras, a ``tf.function``, a concrete function or
            a ``tf.Graph``.
        input_shapes: Shapes, or TensorSpecs, of the inputs of a model or ``tf.function``: one, a
            list of them in order, or a dict by name. Without a type they are float32, or of the
            type that the model or signature says.
        batch: Batch size of a model, and first dimension where the ``input_signature`` of a
            ``tf.function`` leaves it open. Graphs and concrete functions are traced already: they
            keep their shapes.

    Raises:
        UsageError: The target has several graphs, or cannot be traced with these inputs.
    """
    if is_model(target):
        return traced_model(target, input_shapes, batch)
    if "tensorflow" not in sys.modules:
        return None
    if hasattr(target, "get_concrete_function") and hasattr(target, "python_function"):
        return _function(target, input_shapes, batch)
    graph = target if is_graph(target) else getattr(target, "graph", None)
    return _as_it_is(graph) if is_graph(graph) else None


def _as_it_is(graph: Any) -> TracedGraph:
    is_function = hasattr(graph, "captures")
    return traced_graph(graph, used_variables(graph) if is_function else _collected(graph))


def _collected(graph: Any) -> list[NamedVariable] | None:
    """Variables of a model of TensorFlow 1; None if its graph has no collection of them."""
    variables = graph.get_collection("variables")
    if not variables:
        return None
    training = set(trainable_variables(graph))
    kept = [
        each
        for each in variables
        if each.op.name in training or not belongs_to_optimizer(each.op.name, training)
    ]
    return named(kept, [each for each in kept if each.op.name in training])


def _function(function: Any, input_shapes: Any, batch: int | None) -> TracedGraph:
    """The graph of a ``tf.function``: an existing one, or traced by its signature or shapes."""
    signature = getattr(function, "input_signature", None)
    if input_shapes is None:
        known = _known(function, signature, batch)
        if known is not None:
            return _as_it_is(known.graph)
        if signature is None:
            raise UsageError(
                f"{_name(function)} has no input_signature and was not called yet: pass "
                "input_shapes, call it once, or pass a concrete function"
            )
        return _fresh(function, _bound(signature, batch), {})
    return _fresh(function, *_given(function, signature, input_shapes, batch))


def _known(function: Any, signature: Any, batch: int | None) -> Any | None:
    """The concrete function of earlier calls, if it is the one to use."""
    concretes = _concrete_functions(function)
    if signature is not None:
        is_open = batch is not None and _bound(signature, batch) != _bound(signature, None)
        return None if is_open or not concretes else concretes[-1]
    # One that makes variables is traced twice, with and without them.
    by_signature = {text_of(each.structured_input_signature): each for each in concretes}
    if len(by_signature) > 1:
        raise UsageError(
            f"{_name(function)} was traced with {len(by_signature)} signatures "
            f"({'; '.join(by_signature)}): pass input_shapes, or the concrete function of one of "
            "them"
        )
    return next(iter(by_signature.values()), None)


def _concrete_functions(function: Any) -> list[Any]:
    """Concrete functions of earlier calls; listing those of a function never called traces it."""
    restored = getattr(function, "concrete_functions", None)  # of a loaded SavedModel
    if restored is not None:
        return list(restored)
    if not function.experimental_get_tracing_count():
        return []
    return list(function._list_all_concrete_functions())


def _bound(signature: Any, batch: int | None) -> list[Any]:
    nest = tensorflow_module().nest
    bind = lambda spec: with_batch(spec, batch, strict=False)  # noqa: E731
    return list(nest.map_structure(bind, tuple(signature)))


def _given(
    function: Any, signature: Any, input_shapes: Any, batch: int | None
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments from the user's shapes."""
    dtypes = dict(_dtypes(function, signature))

    def spec(key: int | str, shapes: Any) -> Any:
        name = key if isinstance(key, str) else None
        one = lambda shape: with_batch(  # noqa: E731
            spec_of(shape, dtypes.get(key), name), batch, strict=False
        )
        return map_shapes(one, shapes)

    if isinstance(input_shapes, Mapping):
        return [], {name: spec(name, shapes) for name, shapes in input_shapes.items()}
    shapes = [input_shapes] if is_shape(input_shapes) else list(input_shapes)
    return [spec(place, shape) for place, shape in enumerate(shapes)], {}


def _dtypes(function: Any, signature: Any) -> Iterator[tuple[int | str, Any]]:
    """Known type of each argument by place and name, from a signature or an earlier call."""
    specs = list(signature or ())
    if not specs:
        concretes = _concrete_functions(function)
        specs = list(concretes[0].structured_input_signature[0]) if concretes else []
    for place, spec in enumerate(specs):
        if hasattr(spec, "dtype"):
            yield place, spec.dtype
            if getattr(spec, "name", None):
                yield spec.name, spec.dtype


def _fresh(function: Any, args: list[Any], kwargs: dict[str, Any]) -> TracedGraph:
    """Trace the Python function anew; the user's ``tf.function`` stays as it is.

    A function that makes variables at its first call makes them now.
    """
    tensorflow = tensorflow_module()
    own = tensorflow.function(
        function.python_function, autograph=getattr(function, "_autograph", True)
    )
    with apart_from_graphs():
        try:
            concrete = own.get_concrete_function(*args, **kwargs)
        except Exception as error:
            raise UsageError(
                f"{_name(function)} cannot be traced with {text_of([args, kwargs])} "
                f"({type(error).__name__}: {main_line(error)}); pass other input_shapes, one for "
                "each argument, or a concrete function"
            ) from error
    return traced_graph(concrete.graph, used_variables(concrete.graph), is_own=True)


def _name(function: Any) -> str:
    name = getattr(function.python_function, "__name__", "function")
    return f"tf.function {name!r}"
