"""Inputs with which a Keras model is called, from Keras and from the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from tfprof.errors import UsageError
from tfprof.graphs.live.input_specs import is_shape, map_shapes, spec_of
from tfprof.graphs.live.running_tensorflow import tensorflow_module


class Call:
    """Specs of the positional and keyword arguments of a call."""

    def __init__(self, args: Iterable[Any], kwargs: Mapping[str, Any] | None = None) -> None:
        self.args = list(args)
        self.kwargs = dict(kwargs or {})

    def map(self, function: Callable[[Any], Any]) -> Call:
        """The call with a function applied to each spec."""
        return Call(*tensorflow_module().nest.map_structure(function, (self.args, self.kwargs)))

    def flat(self) -> list[Any]:
        """All specs, positional ones first."""
        specs: list[Any] = tensorflow_module().nest.flatten((self.args, self.kwargs))
        return specs

    def replaced(self, specs: Iterable[Any]) -> Call:
        """The call with other values in place of the specs, in the order of ``flat``."""
        structure = (self.args, self.kwargs)
        return Call(*tensorflow_module().nest.pack_sequence_as(structure, list(specs)))


def call_of(model: Any, input_shapes: Any) -> Call:
    """The call of a model according to Keras, with the user's shapes.

    Raises:
        UsageError: The shapes are unknown, or do not fit the model's inputs.
    """
    structured = _structured_call(model)
    if input_shapes is None:
        known = structured or _remembered_call(model)
        if known is None:
            raise UsageError(
                f"model {model.name!r} does not know the shapes of its inputs: pass input_shapes, "
                "such as (None, 224, 224, 3), or call the model once"
            )
        return known
    if structured is not None:
        return _with_shapes(model, structured, input_shapes)
    return _given_call(model, input_shapes)


def _with_shapes(model: Any, known: Call, input_shapes: Any) -> Call:
    """The known call with other shapes, by name or in order."""
    specs = known.flat()
    names = [getattr(spec, "name", None) or "" for spec in specs]
    shapes = [input_shapes] if is_shape(input_shapes) else input_shapes
    if isinstance(shapes, Mapping):
        unknown = [name for name in shapes if name not in names]
        if unknown:
            raise UsageError(
                f"input_shapes: model {model.name!r} has no input {unknown[0]!r}; its inputs are "
                f"{', '.join(names)}"
            )
        given = [shapes.get(name) for name in names]
    else:
        given = list(shapes)
        if len(given) != len(specs):
            raise UsageError(
                f"input_shapes: {len(given)} shapes for the {len(specs)} inputs of model "
                f"{model.name!r}: {', '.join(names)}"
            )
    return known.replaced(
        spec if shape is None else spec_of(shape, spec.dtype, spec.name)
        for spec, shape in zip(specs, given, strict=True)
    )


def _given_call(model: Any, input_shapes: Any) -> Call:
    """The call of a model without known inputs: shapes for its first argument, or for several."""
    parameters = inspect.signature(model.call).parameters
    if isinstance(input_shapes, Mapping):
        specs = {
            name: map_shapes(partial(spec_of, name=name), shapes)
            for name, shapes in input_shapes.items()
        }
        return Call([], specs) if set(specs) <= set(parameters) else Call([specs])
    if is_shape(input_shapes):
        return Call([spec_of(input_shapes)])
    specs_list = map_shapes(spec_of, list(input_shapes))
    required = [
        parameter
        for parameter in parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    several = len(specs_list) > 1 and len(required) == len(specs_list)
    return Call(specs_list if several or len(specs_list) == 1 else [specs_list])


def _structured_call(model: Any) -> Call | None:
    """The inputs of a functional model; None for others."""
    structure = getattr(model, "_inputs_struct", None)  # Keras 3
    if structure is None:
        structure = getattr(getattr(model, "_functional", None), "_inputs_struct", None)
    if structure is None:
        structure = getattr(model, "_nested_inputs", None)  # tf_keras
    return None if structure is None else Call([_plain(structure, _keras_spec)])


def _remembered_call(model: Any) -> Call | None:
    """The inputs with which a model was built or called.

    Keras 3 keeps shapes, but no types; and only the shape of the first argument, unless the
    class of the model has a ``build`` that takes all.
    """
    if not hasattr(model, "_build_shapes_dict"):  # tf_keras
        spec = model._get_save_spec(dynamic_batch=True, inputs_only=False)
        return None if spec is None else Call(*spec)
    shapes = model._build_shapes_dict
    if not shapes:
        return None
    specs = {
        name: map_shapes(lambda shape: spec_of((None, *tuple(shape)[1:])), value)
        for name, value in shapes.items()
    }
    if len(specs) == 1:
        return Call(list(specs.values()))
    return Call([], {name.removesuffix("_shape"): value for name, value in specs.items()})


def _plain(structure: Any, function: Callable[[Any], Any]) -> Any:
    """Plain lists and dicts for those of Keras."""
    if isinstance(structure, Mapping):
        return {key: _plain(structure[key], function) for key in structure}
    if isinstance(structure, (list, tuple)):
        return [_plain(item, function) for item in structure]
    return function(structure)


def _keras_spec(tensor: Any) -> Any:
    tensorflow = tensorflow_module()
    dtype = tensorflow.as_dtype(tensor.dtype)
    name = tensor.name.partition(":")[0].replace("/", "_")
    if getattr(tensor, "sparse", False) or hasattr(tensor, "type_spec"):
        spec = getattr(tensor, "type_spec", None)
        if not isinstance(spec, tensorflow.TensorSpec):
            return spec or tensorflow.SparseTensorSpec(tensor.shape, dtype)
    return tensorflow.TensorSpec(tensor.shape, dtype, name)
