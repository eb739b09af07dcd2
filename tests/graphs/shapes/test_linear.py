from __future__ import annotations

import pytest

from tests.graphs.calls import call, floats, shapes
from tests.graphs.shapes.static_shapes import Case, assert_like_tensorflow
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
T = Symbolic.named("T")


def test_product_of_matrices_has_rows_of_one_and_columns_of_the_other() -> None:
    op = call("MatMul", floats(B, 3), floats(5, 3), transpose_b=True)

    assert shapes(SHAPES, op) == [(B, 5)]


def test_product_with_an_unknown_operand_is_known_in_part() -> None:
    assert shapes(SHAPES, call("MatMul", Tensor(), floats(3, 5))) == [(None, 5)]


def test_batches_broadcast() -> None:
    op = call("BatchMatMulV2", floats(B, 1, 2, 3), floats(7, 3, 4))

    assert shapes(SHAPES, op) == [(B, 7, 2, 4)]


def test_adjoints_of_oneDNN_and_plain_products_are_read_alike() -> None:
    for name in ("BatchMatMulV2", "_MklBatchMatMulV2", "_MklFusedBatchMatMulV2"):
        op = call(name, floats(7, 3, 2), floats(7, 4, 3), adj_x=True, adj_y=True)
        assert shapes(SHAPES, op) == [(7, 2, 4)]


@pytest.mark.parametrize(
    ("a", "b"), [((2, 3), (4, 5)), ((3,), (3, 4)), ((2, 3, 4), (4, 5))], ids=str
)
def test_matrices_that_do_not_fit_have_no_shape(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("MatMul", floats(*a), floats(*b)))


def test_einsum_follows_its_labels_through_unknown_sizes() -> None:
    op = call("Einsum", floats(B, T, 4, 8), floats(B, T, 4, 8), equation="btnh,bsnh->bnts")

    assert shapes(SHAPES, op) == [(B, 4, T, T)]


def test_einsum_broadcasts_what_an_ellipsis_stands_for() -> None:
    op = call("Einsum", floats(B, 1, 2, 3), floats(7, 3, 4), equation="...ij,...jk->...ik")

    assert shapes(SHAPES, op) == [(B, 7, 2, 4)]


def test_einsum_without_an_arrow_sorts_the_labels_that_occur_once() -> None:
    op = call("XlaEinsum", floats(2, 3), floats(3, 4), equation="bj, ja")

    assert shapes(SHAPES, op) == [(4, 2)]


_EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (7, 1, 2, 3), (5, 3, 4)),
    ("ij,kj->", (2, 3), (4, 3)),
    ("ii,i->i", (3, 3), (3,)),
    ("ij->ji", (2, 3)),
    ("ii->", (3, 3)),
    ("ii->i", (3, 3)),
    ("i->ii", (3,)),
    ("i...->...", (2, 3, 4)),
    ("...->...", (2, 3)),
    ("a...b,b...->...a", (2, 5, 3), (3, 1)),
    ("ij,kl->ijkl", (2, 3), (4, 5)),
    ("ab,ab->ab", (2, 3), (2, 3)),
    ("...,...->...", (2, 3), (3,)),
    ("...i,...i->...", (4, 3), (3,)),
    ("i,->i", (3,), ()),
    (",->", (), ()),
    ("ij...,jk...->ik...", (2, 3, 5), (3, 4, 5)),
    ("aib,bcj->aicj", (2, 3, 4), (4, 5, 6)),
    ("...ii->...i", (4, 3, 3)),
    ("ab->aabb", (2, 3)),
]


def _cases() -> list[Case]:
    cases: list[Case] = [
        ("Einsum", {"inputs": list(operands), "equation": equation})
        for equation, *operands in _EQUATIONS
    ]
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            a, b = (3, 2) if transpose_a else (2, 3), (4, 3) if transpose_b else (3, 4)
            flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
            adjoint = {"adj_x": transpose_a, "adj_y": transpose_b}
            cases += [(name, {"a": a, "b": b, **flags}) for name in ("MatMul", "SparseMatMul")]
            cases += [
                (name, {"x": (5, *a), "y": (5, *b), **adjoint})
                for name in ("BatchMatMul", "BatchMatMulV2", "_MklBatchMatMulV2")
            ]
    cases += [
        ("BatchMatMulV2", {"x": (7, 1, 2, 3), "y": (5, 3, 4)}),
        ("BatchMatMulV3", {"x": (7, 1, 2, 3), "y": (5, 3, 4), "Tout": "float32"}),
    ]
    return cases


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", _cases(), ids=str)
def test_shapes_are_those_that_tensorflow_infers(case: Case) -> None:
    assert_like_tensorflow(SHAPES, case)
