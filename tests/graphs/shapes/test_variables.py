"""Shapes of variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, floats, scalar, shapes, variable
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    return shapes(SHAPES, call(op_type, *inputs, **attrs))[0]


def test_a_variable_has_the_shape_that_it_says() -> None:
    assert shape("VariableV2", shape=(3, 4)) == (3, 4)
    assert shape("VariableV2", shape=()) == ()
    assert shape("VariableV2", shape=None) is None
    assert shape("VariableV2", shape="nonsense") is None
    assert shape("Variable", shape=()) is None
    assert shape("Variable", shape=(3,)) == (3,)


def test_what_is_read_has_the_shape_of_the_variable() -> None:
    assert shape("ReadVariableOp", variable(3, None)) == (3, None)
    with pytest.raises(UnknownError):
        shape("ReadVariableOp", floats(3))


def test_what_is_assigned_tells_the_shape() -> None:
    assert shape("Assign", floats(3, 4), floats(3, 4)) == (3, 4)
    assert shape("Assign", Tensor(None), floats(3, 4)) == (3, 4)
    assert shape("Assign", floats(2), floats(3, 4), validate_shape=False) == (3, 4)
    with pytest.raises(UnknownError):
        shape("Assign", floats(2), floats(3, 4))


def test_several_variables_at_once() -> None:
    op = call("_VarHandlesOp", output_types=(20, 20))
    assert shapes(SHAPES, op) == [(), ()]
    op = call("_ReadVariablesOp", variable(3), floats(1), output_types=(1, 1))
    assert shapes(SHAPES, op) == [(3,), None]


@pytest.mark.tensorflow
def test_shapes_are_those_of_tensorflow() -> None:
    def build(raw: Any, feed: Any) -> None:
        handle = raw.VarHandleOp(dtype=np.float32, shape=[3, 4])
        raw.AssignVariableOp(resource=handle, value=np.ones((3, 4), np.float32))
        raw.VarIsInitializedOp(resource=handle)
        raw.ReadVariableOp(resource=handle, dtype=np.float32)
        raw.VariableShape(input=handle)

    check(build)


@pytest.mark.tensorflow
def test_shapes_of_reference_variables_are_those_of_tensorflow() -> None:
    import tensorflow as tf

    def build(raw: Any, feed: Any) -> None:
        made = tf.compat.v1.get_variable("made", [3, 4], use_resource=False)
        tf.compat.v1.scatter_update(made, [1], np.ones((1, 4), np.float32))
        tf.compat.v1.assign(made, np.ones((3, 4), np.float32))
        tf.compat.v1.is_variable_initialized(made)

    check(build, run=False)


def test_counters_are_scalars() -> None:
    assert shape("ResourceCountUpTo", scalar(0), limit=3) == ()
