"""Element-wise ops: operations per element, on cases computed by hand."""

import pytest

from tests.graphs.calls import call, cost, floats
from tfprof.graphs.flops.elementwise import PER_ELEMENT
from tfprof.graphs.flops.registry import FORMULAS
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_BOOL, DT_INT32, DT_STRING, REF, Handle, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
COMPLEX64 = 8


def complexes(*dims):
    return Tensor(dims, COMPLEX64)


# Op type, inputs of 2 x 3 elements, operations per element
CASES = [
    *[(t, 1, 1) for t in ("Abs", "Neg", "Square", "Reciprocal", "Exp", "Log", "Tanh", "Erf")],
    *[(t, 1, 1) for t in ("Sqrt", "Sin", "Floor", "Round", "Lgamma", "IsNan", "Relu")],
    ("Sign", 1, 2),  # two comparisons
    ("Rsqrt", 1, 2),  # a root and a division
    ("Sigmoid", 1, 4),  # negation, exp, addition, division
    ("Softplus", 1, 3),  # exp, addition, log
    ("Softsign", 1, 3),  # |x|, addition, division
    ("Relu6", 1, 2),  # two bounds
    ("Elu", 1, 3),  # comparison, exp, subtraction
    ("Selu", 1, 4),  # and a factor
    ("LeakyRelu", 1, 2),  # a product and a maximum
    ("_MklSwish", 1, 5),  # a sigmoid and a product
    *[(t, 2, 1) for t in ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Pow", "Less")],
    ("SquaredDifference", 2, 2),
    ("FloorMod", 2, 4),  # division, floor, product, subtraction
    ("Xlogy", 2, 3),  # comparison, log, product
    ("ReluGrad", 2, 1),  # the comparison
    ("Relu6Grad", 2, 2),
    ("SigmoidGrad", 2, 3),  # 1 - y and two products
    ("TanhGrad", 2, 3),  # y·y, 1 - y·y and a product
    ("SqrtGrad", 2, 2),
    ("RsqrtGrad", 2, 4),
    ("SoftplusGrad", 2, 4),  # negation, exp, addition, division
    ("EluGrad", 2, 3),
    ("SeluGrad", 2, 3),
    ("ClipByValue", 3, 2),
]


@pytest.mark.parametrize(("op_type", "n_inputs", "per_element"), CASES)
def test_each_element_takes_so_many_operations(op_type, n_inputs, per_element):
    op = call(op_type, *[floats(2, 3)] * n_inputs)
    assert cost(SHAPES, op).flops == 6 * per_element


def test_broadcasting_counts_the_result():
    # [4, 1] + [3] has 12 elements
    assert cost(SHAPES, call("AddV2", floats(4, 1), floats(3))).flops == 12


def test_an_unknown_batch_stays_a_name():
    assert cost(SHAPES, call("Sigmoid", floats(B, 10))).flops == 4 * 10 * B


@pytest.mark.parametrize("dtype", [DT_INT32, DT_INT32 + REF, DT_BOOL, DT_STRING])
def test_whole_numbers_truth_values_and_strings_are_not_float_work(dtype):
    x = Tensor((2, 3), dtype)
    assert cost(SHAPES, call("AddV2", x, x)).flops == 0
    assert cost(SHAPES, call("AddN", x, x)).flops == 0


def test_an_unknown_type_counts_as_float():
    x = Tensor((2, 3))
    assert cost(SHAPES, call("AddV2", x, x)).flops == 6


def test_complex_numbers_take_more():
    z = complexes(5)
    assert cost(SHAPES, call("AddV2", z, z)).flops == 5 * 2  # both parts
    assert cost(SHAPES, call("Mul", z, z)).flops == 5 * 6  # 4 products, 2 sums
    # (a·c + b·d, b·c - a·d) / (c² + d²): 6 products, 3 sums, 2 divisions
    assert cost(SHAPES, call("RealDiv", z, z)).flops == 5 * 11
    assert cost(SHAPES, call("Exp", z)).flops == 5 * 5  # exp, cos, sin, 2 products


EXP, LOG, SQRT, SIN, COS, SINH, PRODUCT, QUOTIENT, RECIPROCAL = 5, 3, 7, 6, 7, 6, 6, 11, 6


@pytest.mark.parametrize(
    ("op_type", "n_inputs", "expected"),
    [
        ("Tan", 1, SIN + COS + QUOTIENT),
        ("Tanh", 1, SINH + SINH + QUOTIENT),
        ("Rsqrt", 1, SQRT + RECIPROCAL),
        ("Sigmoid", 1, 2 + EXP + 2 + RECIPROCAL),
        ("Pow", 2, LOG + PRODUCT + EXP),
        ("SquaredDifference", 2, 2 + 3),  # |d|²: two squares and their sum
        ("SigmoidGrad", 2, 2 + 2 * PRODUCT),
        ("TanhGrad", 2, 2 + 2 * PRODUCT),
        ("SqrtGrad", 2, 2 + QUOTIENT),
        ("RsqrtGrad", 2, 2 + 3 * PRODUCT),
    ],
)
def test_complex_functions_are_composed_of_parts(op_type, n_inputs, expected):
    op = call(op_type, *[complexes(5)] * n_inputs)
    assert cost(SHAPES, op).flops == 5 * expected


def test_what_complex_numbers_cannot_do_is_not_counted():
    with pytest.raises(UnknownError, match="complex"):
        cost(SHAPES, call("Relu", complexes(5)))


def test_the_sum_of_k_tensors_takes_one_addition_less():
    assert cost(SHAPES, call("AddN", *[floats(2, 3)] * 4)).flops == 3 * 6
    assert cost(SHAPES, call("AddN", floats(2, 3))).flops == 0
    assert cost(SHAPES, call("AddN", complexes(2), complexes(2))).flops == 4


def test_lists_are_summed_element_by_element():
    lists = Tensor((), 21, None, Handle((2, 3), 1, 5))
    op = call("AddN", lists, lists, lists)
    assert cost(SHAPES, op).flops == 2 * 5 * 6  # 2 additions of 5 tensors of 6
    with pytest.raises(UnknownError):
        cost(SHAPES, call("AddN", *[Tensor((), 21, None, Handle((2, 3), 1))] * 2))


def test_biases():
    assert cost(SHAPES, call("BiasAdd", floats(2, 4, 4, 3), floats(3))).flops == 96
    assert cost(SHAPES, call("BiasAddGrad", floats(2, 4, 4, 3))).flops == 96 - 3
    op = call("BiasAddGrad", floats(2, 3, 4, 4), data_format="NCHW")
    assert cost(SHAPES, op).flops == 96 - 3


def test_half_the_sum_of_squares():
    # 20 squares, 19 additions, 1 halving
    assert cost(SHAPES, call("L2Loss", floats(4, 5))).flops == 40


def test_adding_to_rows_counts_the_rows():
    op = call("InplaceAdd", floats(9, 4), floats(2), floats(2, 4), outputs=(floats(9, 4),))
    assert cost(None, op).flops == 8


def test_fused_unary_ops_cost_what_they_cost_alone():
    op = call("_UnaryOpsComposition", floats(10), op_names=("Log", "Sigmoid", "Rsqrt"))
    assert cost(SHAPES, op).flops == 10 * (1 + 4 + 2)
    for names in (None, (), ("Log", "Unheard")):
        with pytest.raises(UnknownError):
            cost(SHAPES, call("_UnaryOpsComposition", floats(10), op_names=names))


def test_sequences_of_floats_take_arithmetic_and_those_of_integers_none():
    made = (floats(7),)
    assert cost(None, call("Range", *[floats()] * 3, outputs=made)).flops == 7
    whole = Tensor((), DT_INT32)
    assert cost(None, call("Range", *[whole] * 3, outputs=made)).flops == 0
    assert cost(None, call("LinSpace", *[floats()] * 3, outputs=made)).flops == 14


def test_every_entry_says_what_is_computed():
    for op_type, formula in FORMULAS.items():
        assert formula.rule and formula.why and formula.source, op_type
    assert set(PER_ELEMENT) <= set(FORMULAS)
