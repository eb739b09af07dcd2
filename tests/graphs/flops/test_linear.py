from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, cost, floats
from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
COMPLEX64 = 8


def count(op: OpCall) -> Cost:
    return cost(SHAPES, op)


def einsum(equation: str, *shapes: tuple[int, ...], dtype: int = 1) -> Cost:
    tensors = [Tensor(shape, dtype) for shape in shapes]
    return count(call("Einsum", *tensors, equation=equation))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_product_of_matrices_takes_a_multiply_add_for_each_row_column_and_term(
    transpose_a: bool, transpose_b: bool
) -> None:
    a = (3, 2) if transpose_a else (2, 3)
    b = (5, 3) if transpose_b else (3, 5)
    op = call("MatMul", floats(*a), floats(*b), transpose_a=transpose_a, transpose_b=transpose_b)

    assert count(op).macs == 2 * 3 * 5
    assert count(op).flops == 60


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.booleans(), st.booleans())
def test_matmul_counts_what_three_loops_do(
    m: int, k: int, n: int, transpose_a: bool, transpose_b: bool
) -> None:
    products = sum(1 for _ in product(range(m), range(n), range(k)))
    a, b = (k, m) if transpose_a else (m, k), (n, k) if transpose_b else (k, n)
    op = call("MatMul", floats(*a), floats(*b), transpose_a=transpose_a, transpose_b=transpose_b)

    assert count(op).macs == products


def test_batch_that_broadcasts_counts_every_product_of_the_result() -> None:
    op = call("BatchMatMulV2", floats(7, 1, 2, 3), floats(5, 4, 3), adj_y=True)

    assert count(op).macs == 7 * 5 * 2 * 4 * 3


def test_unknown_batch_stays_in_the_count() -> None:
    op = call("MatMul", floats(B, 128), floats(128, 10))

    assert count(op).macs == 1280 * B


def test_depth_is_taken_from_the_operand_that_has_it() -> None:
    op = call("MatMul", floats(B, Symbolic.named("K")), floats(128, 10))

    assert count(op).macs == 1280 * B


def test_depth_of_a_product_with_an_operand_of_unknown_shape() -> None:
    op = call("MatMul", Tensor(), floats(128, 10), outputs=(floats(4, 10),))

    assert count(op).macs == 4 * 10 * 128


def test_products_of_integers_count_too() -> None:
    op = call("MatMul", Tensor((2, 3), 3), Tensor((3, 5), 3))

    assert count(op).macs == 30


def test_complex_multiply_add_is_four_real_ones() -> None:
    op = call("MatMul", Tensor((2, 3), COMPLEX64), Tensor((3, 5), COMPLEX64))

    assert count(op).macs == 4 * 30


def test_gradients_of_a_product_take_as_much_as_the_product_each() -> None:
    forward = count(call("MatMul", floats(2, 3), floats(3, 5)))
    by_a = count(call("MatMul", floats(2, 5), floats(3, 5), transpose_b=True, grad_a=True))
    by_b = count(call("MatMul", floats(2, 3), floats(2, 5), transpose_a=True, grad_b=True))

    assert forward.flops == by_a.flops == by_b.flops


def test_sparse_product_counts_like_a_dense_one() -> None:
    op = call("SparseMatMul", floats(2, 3), floats(3, 5), a_is_sparse=True)

    assert count(op).macs == 30


@pytest.mark.parametrize(
    ("a", "b"), [((2, 3), (4, 5)), ((2,), (2, 3)), ((2, 3, 4), (4, 5))], ids=str
)
def test_matrices_that_do_not_fit_have_no_count(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    with pytest.raises(UnknownError):
        count(call("MatMul", floats(*a), floats(*b)))


@pytest.mark.parametrize(
    ("equation", "shapes", "macs", "other"),
    [
        ("ij,jk->ik", ((2, 3), (3, 5)), 30, 0),
        ("bhqd,bhkd->bhqk", ((2, 4, 6, 8), (2, 4, 7, 8)), 2 * 4 * 6 * 7 * 8, 0),
        ("...ij,...jk->...ik", ((7, 1, 2, 3), (5, 3, 4)), 7 * 5 * 2 * 3 * 4, 0),
        ("abc,cde->abde", ((2, 3, 4), (4, 5, 6)), 2 * 3 * 4 * 5 * 6, 0),
        # Nothing is summed: products alone.
        ("i,j->ij", ((3,), (4,)), 0, 12),
        ("ij,ij->ij", ((3, 4), (3, 4)), 0, 12),
        # i belongs to one operand only: 3·4 elements become 4 by 8 additions, then 4 products.
        ("ij,j->j", ((3, 4), (4,)), 0, 8 + 4),
        # The same, and the products are summed.
        ("ij,j->", ((3, 4), (4,)), 4, 8),
        # Both operands have such a label.
        ("ij,jk->j", ((3, 4), (4, 5)), 0, 8 + 16 + 4),
        # A diagonal is free: 3 products of 3 elements.
        ("ii,i->", ((3, 3), (3,)), 3, 0),
        ("ij,jk", ((2, 3), (3, 5)), 30, 0),
        # One operand: sums only.
        ("ij->ji", ((3, 4),), 0, 0),
        ("ii->", ((3, 3),), 0, 2),
        ("ii->i", ((3, 3),), 0, 0),
        ("i->ii", ((3,),), 0, 0),
        ("ij->", ((3, 4),), 0, 11),
        ("ijk->j", ((3, 4, 5),), 0, 56),
        ("...i->...", ((2, 3, 4),), 0, 18),
    ],
)
def test_einsum_sums_lone_labels_first_then_multiplies(
    equation: str, shapes: tuple[tuple[int, ...], ...], macs: int, other: int
) -> None:
    result = einsum(equation, *shapes)

    assert (result.macs, result.other) == (macs, other)


def test_einsum_of_complex_numbers_counts_real_operations() -> None:
    assert einsum("ij,jk->ik", (2, 3), (3, 5), dtype=COMPLEX64).macs == 4 * 30
    assert einsum("i,j->ij", (3,), (4,), dtype=COMPLEX64).other == 6 * 12
    assert einsum("ij->", (3, 4), dtype=COMPLEX64).other == 2 * 11


def test_einsum_of_unknown_batch_stays_symbolic() -> None:
    op = call("Einsum", floats(B, 8, 16), floats(16, 4), equation="btd,dk->btk")

    assert count(op).macs == 8 * 16 * 4 * B


@st.composite
def equations(draw: st.DrawFn) -> tuple[str, tuple[tuple[int, ...], ...]]:
    sizes = {label: draw(st.integers(1, 3)) for label in "abcd"}
    terms = [
        "".join(draw(st.lists(st.sampled_from("abcd"), max_size=3)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    labels = sorted(set("".join(terms)))
    chosen = draw(st.lists(st.sampled_from(labels), unique=True)) if labels else []
    shapes = tuple(tuple(sizes[label] for label in term) for term in terms)
    return f"{','.join(terms)}->{''.join(chosen)}", shapes


@given(equations())
def test_einsum_counts_what_a_walk_over_all_labels_does(
    case: tuple[str, tuple[tuple[int, ...], ...]],
) -> None:
    equation, shapes = case
    if equation.startswith("->"):
        return
    left, _, right = equation.partition("->")
    terms = left.split(",")
    sizes = dict(zip("".join(terms), (n for shape in shapes for n in shape), strict=True))

    def values(labels: set[str]) -> int:
        """Number of different values of some labels, by trying all."""
        ordered = sorted(labels)
        return len(list(product(*(range(sizes[label]) for label in ordered))))

    additions, joint = 0, set()
    for place, term in enumerate(terms):
        elsewhere = set(right).union(*(other for n, other in enumerate(terms) if n != place))
        kept = set(term) & elsewhere
        additions += values(set(term)) - values(kept)
        joint |= kept
    products = values(joint) if len(terms) == 2 else 0
    summed = joint - set(right)

    op = call("Einsum", *(floats(*shape) for shape in shapes), equation=equation)
    result = count(op)

    assert result.macs == (products if summed else 0)
    assert result.other == additions + (0 if summed else products)
    wanted = np.einsum(equation, *(np.zeros(shape) for shape in shapes)).shape
    assert SHAPES["Einsum"](op)[0] == wanted


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("", ((2,),)),
        ("ij,jk->ik", ((2, 3),)),
        ("ij,jk->ik", ((2, 3), (4, 5))),
        ("ij->i", ((2, 3, 4),)),
        ("i...->i", ((2, 3),)),
        ("ij->k", ((2, 3),)),
        ("i1->i", ((2, 3),)),
        ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
    ],
)
def test_equations_that_make_no_sense_have_no_count(
    equation: str, shapes: tuple[tuple[int, ...], ...]
) -> None:
    with pytest.raises(UnknownError):
        einsum(equation, *shapes)


def test_onednn_products_count_like_plain_ones() -> None:
    for name in ("_MklMatMul", "_MklBatchMatMulV2", "_MklNativeBatchMatMulV2"):
        assert count(call(name, floats(2, 3), floats(3, 5))).macs == 30
