"""Shapes of what updates of variables return."""

import pytest

from tests.graphs.calls import call, floats, shapes, variable
from tfprof.graphs.flops.registry import FORMULAS
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def test_updates_of_resources_return_nothing():
    for op_type in ("ResourceApplyAdam", "ResourceSparseApplyFtrl", "AssignAddVariableOp"):
        assert shapes(SHAPES, call(op_type, variable(3, 4), floats(3, 4))) == []


def test_updates_of_references_return_the_variable():
    for op_type in ("ApplyAdam", "SparseApplyAdagrad", "AssignAdd"):
        assert shapes(SHAPES, call(op_type, floats(B, 4), floats(B, 4))) == [(B, 4)]


def test_every_counted_update_has_a_shape_rule():
    updates = {name for name in FORMULAS if "Apply" in name or "Scatter" in name}
    assert len(updates) > 90
    assert updates - {"DTensorReduceScatter"} <= SHAPES.keys()


@pytest.mark.tensorflow
def test_rules_give_as_many_shapes_as_the_op_has_outputs():
    from tensorflow.python.framework import op_def_registry

    for op_type in [name for name in SHAPES if "Apply" in name]:
        op_def = op_def_registry.get(op_type)
        made = shapes(SHAPES, call(op_type, floats(3, 4)))
        assert len(made) == len(op_def.output_arg), op_type
