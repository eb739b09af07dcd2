"""What element types do to counts."""

import pytest

from tests.graphs.calls import call
from tfprof.graphs.flops.formulas import (
    additions,
    float_work,
    multiplications,
    real_multiply_adds,
    steps,
)
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import COMPLEX_TYPES, FLOAT_TYPES, INTEGER_TYPES, REF, Tensor

B = Symbolic.named("B")


@pytest.mark.parametrize("dtype", sorted(FLOAT_TYPES | {0}))
def test_floats_and_unknown_types_count_as_they_are(dtype):
    assert additions(7, dtype) == multiplications(7, dtype) == float_work(7, dtype) == 7
    assert real_multiply_adds(7 * B, dtype) == 7 * B


@pytest.mark.parametrize("dtype", sorted(INTEGER_TYPES))
def test_whole_numbers_count_in_products_only(dtype):
    assert additions(7, dtype) == multiplications(7, dtype) == float_work(7, dtype) == 0
    assert real_multiply_adds(7, dtype) == 7


@pytest.mark.parametrize("dtype", sorted(COMPLEX_TYPES))
def test_complex_numbers_have_two_parts(dtype):
    assert additions(7, dtype) == 2 * 7
    assert multiplications(7, dtype) == 6 * 7
    assert real_multiply_adds(7, dtype) == 4 * 7


def test_references_are_of_the_type_that_they_refer_to():
    assert call("Neg", Tensor((2,), 1 + REF)).dtype() == 1


def test_nothing_is_left_to_combine_where_nothing_is():
    assert steps(12, 3) == 9
    assert steps(0, 3) == 0
    assert steps(10 * B, B) == 9 * B
