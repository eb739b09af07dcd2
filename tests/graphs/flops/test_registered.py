"""Where our formulas differ from TensorFlow's registered ones, and why: nowhere else."""

import pytest

import tfprof.graphs.flops.registry as registry
from tests.graphs.calls import call, floats, ints
from tfprof.graphs.model.tensors import Tensor
from tfprof.profiles.float_ops import registered_flops

# Op type, shapes of inputs and output, attributes
CASES = {
    **dict.fromkeys(
        ("Reciprocal", "Square", "Log", "Neg", "Rsqrt", "Softmax"), (((4, 3),), (4, 3))
    ),
    **dict.fromkeys(
        (
            *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "Less"),
            *("GreaterEqual", "Greater", "LessEqual", "Equal", "NotEqual", "SquaredDifference"),
        ),
        (((4, 1), (3,)), (4, 3)),
    ),
    **dict.fromkeys(("AssignAdd", "AssignSub", "RsqrtGrad"), (((4, 3), (4, 3)), (4, 3))),
    "BiasAdd": (((4, 3), (3,)), (4, 3)),
    "BiasAddGrad": (((4, 3),), (3,)),
    "L2Loss": (((4, 3),), ()),
    "AddN": (((4, 3), (4, 3), (4, 3)), (4, 3)),
    **dict.fromkeys(("Mean", "Sum"), (((4, 3), (1,)), (3,))),
    **dict.fromkeys(("ArgMax", "ArgMin"), (((4, 3), ()), (3,))),
}

# n squares, n - 1 additions and one halving are 2·n, not 3·n - 1.
DIFFERENT = {"L2Loss": (24, 35)}

PRODUCTS = {
    *("AvgPool", "MaxPool", "AvgPoolGrad", "MaxPoolGrad", "Conv2DBackpropInput", "MatMul"),
    *("Conv2DBackpropFilter", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D"),
    *("Conv3D", "DepthwiseConv2dNative", "Dilation2D"),
}


def ours(op_type, inputs, output):
    tensors = [floats(*dims) for dims in inputs]
    if op_type in ("Mean", "Sum"):
        tensors[1] = ints(0)
    op = call(op_type, *tensors, outputs=(floats(*output),))
    return registry.FORMULAS[op_type].cost(op).flops


def theirs(op_type, inputs, output):
    op = registered_flops._Op(list(inputs), [output], {})
    return registered_flops.FORMULAS[op_type](op)


@pytest.mark.parametrize("op_type", sorted(CASES))
def test_formulas_agree_unless_a_reason_is_given(op_type):
    inputs, output = CASES[op_type]
    counts = ours(op_type, inputs, output), theirs(op_type, inputs, output)
    if op_type in DIFFERENT:
        assert counts == DIFFERENT[op_type]
    else:
        assert counts[0] == counts[1]


def test_every_registered_formula_is_compared_or_a_product():
    assert CASES.keys() | PRODUCTS == registered_flops.FORMULAS.keys()


def test_integers_count_there_and_not_here():
    op = call("AddV2", Tensor((3,), 3), Tensor((3,), 3), outputs=(Tensor((3,), 3),))
    assert registry.FORMULAS["AddV2"].cost(op).flops == 0
    assert theirs("AddV2", [(3,), (3,)], (3,)) == 3


@pytest.mark.parametrize("op_type", ["Conv2DBackpropInput", "Conv2DBackpropFilter"])
def test_gradients_of_a_convolution_cost_what_it_costs(op_type):
    image, kernel, gradient = (1, 8, 8, 3), (3, 3, 3, 4), (1, 6, 6, 4)  # VALID, stride 1
    attrs = {"strides": (1, 1, 1, 1), "padding": "VALID"}
    first, second, output = {
        "Conv2DBackpropInput": (ints(*image), floats(*kernel), image),
        "Conv2DBackpropFilter": (floats(*image), ints(*kernel), kernel),
    }[op_type]
    op = call(op_type, first, second, floats(*gradient), outputs=(floats(*output),), **attrs)
    assert registry.FORMULAS[op_type].cost(op).flops == 2 * (6 * 6 * 4) * (3 * 3 * 3) == 7776
    shapes = [(4,) if tensor.values else tensor.shape for tensor in (first, second)]
    theirs = registered_flops._Op([*shapes, gradient], [output], attrs)
    assert registered_flops.FORMULAS[op_type](theirs) == 13824
