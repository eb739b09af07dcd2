"""Shapes that a user gives for the inputs of a model or function, as ``tf.TensorSpec``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfprof.errors import UsageError
from tfprof.graphs.live.running_tensorflow import tensorflow_module


def is_shape(value: Any) -> bool:
    """Whether a value is one shape or TensorSpec, rather than several."""
    if isinstance(value, (list, tuple)):
        return all(dim is None or hasattr(dim, "__index__") for dim in value)
    return hasattr(value, "as_list") or (hasattr(value, "shape") and hasattr(value, "dtype"))


def spec_of(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A TensorSpec from a shape or TensorSpec, whose own type and name are preferred.

    Raises:
        UsageError: It is not a shape.
    """
    tensorflow = tensorflow_module()
    if not is_shape(shape):
        raise UsageError(
            f"input_shapes: {shape!r} is not a shape; give a tuple such as (None, 224, 224, 3), or "
            "a tf.TensorSpec"
        )
    if hasattr(shape, "dtype"):
        return tensorflow.TensorSpec(shape.shape, shape.dtype, shape.name or name)
    if isinstance(shape, (list, tuple)):
        shape = [None if dim == -1 else dim for dim in shape]
    return tensorflow.TensorSpec(shape, dtype or tensorflow.float32, name)


def map_shapes(function: Callable[[Any], Any], shapes: Any) -> Any:
    """Apply a function to each shape in nested lists, tuples and dicts of them."""
    if is_shape(shapes):
        return function(shapes)
    if isinstance(shapes, Mapping):
        return {key: map_shapes(function, shapes[key]) for key in shapes}
    if isinstance(shapes, Sequence) and not isinstance(shapes, (str, bytes)):
        return [map_shapes(function, shape) for shape in shapes]
    return function(shapes)


def with_batch(spec: Any, batch: int | None, *, strict: bool) -> Any:
    """The spec with the batch size as its first dimension, if that was unknown.

    Args:
        spec: A TensorSpec; other kinds of specs stay as they are.
        batch: Batch size, None to leave it.
        strict: The first dimension is certainly the batch size.

    Raises:
        UsageError: A strict first dimension is another number.
    """
    tensorflow = tensorflow_module()
    if batch is None or type(spec) is not tensorflow.TensorSpec or not spec.shape.rank:
        return spec
    first, *others = spec.shape.as_list()
    if first is None or first == batch:
        return tensorflow.TensorSpec([batch, *others], spec.dtype, spec.name)
    if strict:
        raise UsageError(
            f"batch={batch}: input {spec.name or ''!r} has a batch size of {first} in its shape "
            f"{tuple(spec.shape)}; leave batch out, or pass other input_shapes"
        )
    return spec


def text_of(specs: Any) -> str:
    """Specs for a message."""
    return ", ".join(
        f"{getattr(spec, 'name', None) or 'input'}: {getattr(spec, 'shape', spec)}"
        for spec in tensorflow_module().nest.flatten(specs)
    )
