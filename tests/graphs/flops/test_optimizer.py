"""Updates of variables, by their rules written out."""

import pytest

from tests.graphs.calls import call, cost, floats, scalar, variable
from tfprof.graphs.flops.registry import FORMULAS, FREE
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_INT32, DT_INT64, UNKNOWN, Tensor

B = Symbolic.named("B")
NUMBER = floats()

# Name, inputs before the gradient, operations per element
CASES = [
    ("GradientDescent", 2, 2),  # α·g, -
    ("Momentum", 3, 2 + 2),  # μ·a, + g; lr·a, -
    ("KerasMomentum", 3, 3 + 1),  # μ·a, lr·g, -; +
    # g - m, ·(1 - β₁), +; g², - v, ·(1 - β₂), +; α·m, √v, + ε, /, -
    ("Adam", 9, 3 + 4 + 5),
    ("AdamWithAmsgrad", 10, 3 + 4 + 5 + 1),
    ("AdaMax", 8, 3 + 3 + 4),  # m; β₂·v, |g|, max; α·m, + ε, /, -
    ("RMSProp", 7, 4 + 6 + 1),  # s; μ·mom, lr·g, + ε, √, /, +; -
    ("CenteredRMSProp", 8, 3 + 4 + 8 + 1),  # a; s; a², - besides; -
    ("Adagrad", 3, 2 + 4),  # g², +; lr·g, √, /, -
    ("AdagradV2", 4, 2 + 5),
    ("Adadelta", 6, 4 + 6 + 2 + 4),  # a; + ε √ + ε √ / ·; lr·u -; d
    ("Ftrl", 3, 2 + 7 + 2 + 7),
    ("FtrlV2", 3, 2 + 7 + 2 + 2 + 7),
    ("AddSign", 6, 3 + 8 + 2),  # m; two signs 4, product, ·d, + α, ·g; lr·, -
    ("PowerSign", 6, 3 + 8 + 2),
    ("ProximalGradientDescent", 4, 2 + 7),
    ("ProximalAdagrad", 5, 2 + 2 + 2 + 10),
]


@pytest.mark.parametrize(("name", "place", "per_element"), CASES)
def test_each_element_takes_the_operations_of_the_rule(name, place, per_element):
    op = call(f"ResourceApply{name}", *[NUMBER] * place, floats(3, 4), NUMBER)
    assert cost(None, op).flops == 12 * per_element


def test_references_and_sparse_gradients_count_alike():
    inputs = [NUMBER] * 3
    assert cost(None, call("ApplyAdagrad", *inputs, floats(3, 4))).flops == 72
    rows = Tensor((2,), DT_INT32)
    for op_type in ("SparseApplyAdagrad", "ResourceSparseApplyAdagrad"):
        op = call(op_type, variable(1000, 4), *inputs[1:], floats(2, 4), rows)
        assert cost(None, op).flops == 6 * 8


@pytest.mark.parametrize(("name", "place", "per_element"), [("Momentum", 3, 7), ("Adam", 9, 15)])
def test_nesterov_looks_ahead(name, place, per_element):
    op = call(f"ResourceApply{name}", *[NUMBER] * place, floats(5), use_nesterov=True)
    assert cost(None, op).flops == 5 * per_element


def test_slots_that_are_not_updated_take_nothing():
    op = call("ResourceApplyAdagrad", *[NUMBER] * 3, floats(5), update_slots=False)
    assert cost(None, op).flops == 5 * 4


def test_the_variable_gives_the_size_where_the_gradient_does_not():
    op = call("ResourceApplyGradientDescent", variable(B, 4), NUMBER, UNKNOWN)
    assert cost(None, op).flops == 8 * B
    op = call("ApplyGradientDescent", floats(3, 4), NUMBER, UNKNOWN)
    assert cost(None, op).flops == 24
    op = call("ResourceApplyGradientDescent", Tensor((), 20), NUMBER, UNKNOWN)
    with pytest.raises(UnknownError):
        cost(None, op)


def test_additions_to_variables():
    for op_type in ("AssignAdd", "AssignSubVariableOp"):
        assert cost(None, call(op_type, variable(3, 4), floats(3, 4))).flops == 12
    step = Tensor((), DT_INT64)
    assert cost(None, call("AssignAddVariableOp", variable(), step)).flops == 0
    assert "ResourceCountUpTo" in FREE


def test_scattered_elements_are_added_once_each():
    rows, updates = Tensor((2,), DT_INT32), floats(2, 4)
    for op_type in ("ResourceScatterAdd", "ScatterSub", "TensorScatterMax", "ScatterNdAdd"):
        assert cost(None, call(op_type, floats(9, 4), rows, updates)).flops == 8
    assert cost(None, call("ScatterNd", rows, updates, scalar(9))).flops == 8
    whole = Tensor((2, 4), DT_INT32)
    assert cost(None, call("ResourceScatterAdd", floats(9, 4), rows, whole)).flops == 0


def test_a_scattered_scalar_reaches_whole_rows():
    rows = Tensor((2,), DT_INT32)
    op = call("ResourceScatterMul", variable(9, 4), rows, NUMBER)
    assert cost(None, op).flops == 2 * 4


def test_complex_updates_are_not_counted():
    op = call("ResourceApplyGradientDescent", variable(4), NUMBER, Tensor((4,), 8))
    with pytest.raises(UnknownError, match="complex"):
        cost(None, op)


def test_accumulators_add_and_average():
    op = call("ResourceAccumulatorApplyGradient", Tensor(()), Tensor((), 9), floats(3, 4))
    assert cost(None, op).flops == 12
    op = call("AccumulatorTakeGradient", Tensor(()), Tensor((), 3), outputs=(floats(3, 4),))
    assert cost(None, op).flops == 12


@pytest.mark.tensorflow
def test_gradients_are_where_the_op_says():
    from tensorflow.python.framework import op_def_registry

    for name, place, _ in CASES:
        for kind in ("ResourceApply", "Apply", "ResourceSparseApply", "SparseApply"):
            op_def = op_def_registry.get(kind + name)
            assert (op_def is not None) == (kind + name in FORMULAS), kind + name
            if op_def is not None:
                assert op_def.input_arg[place].name in ("grad", "delta"), kind + name
