"""Special functions, by the parts of their approximations."""

import pytest

from tests.graphs.calls import call, cost, floats
from tfprof.graphs.shapes.infer import SHAPES

# Horner's scheme takes 2·d for degree d, a Chebyshev series 3 for each term.
SPECIAL = [
    # log, 0.5/x, x·x, 1/(x·x), degree 6, ·z, two subtractions
    ("Digamma", 1, 1 + 1 + 2 + 2 * 6 + 1 + 2),
    # y - 0.5, y², P of degree 4, Q of degree 8 with leading 1, ·y², /, ·y, + y, ·√2π
    ("Ndtri", 1, 1 + 1 + 2 * 4 + (2 * 8 - 1) + 5),
    ("Erfinv", 1, 30 + 3),
    # |x|, ·0.5, - 2, 18 terms
    ("BesselI0e", 1, 3 + 3 * 18),
    ("BesselI0", 1, 57 + 2),
    # 8/x - 2, 10 terms, √x, /
    ("BesselK0e", 1, 2 + 3 * 10 + 2),
    ("Dawsn", 1, 1 + 2 * 9 + 2 * 10 + 2),
    ("Igamma", 2, 6 + 20 * 6 + 2),
]


@pytest.mark.parametrize(("op_type", "n_inputs", "per_element"), SPECIAL)
def test_special_functions_follow_their_approximation(op_type, n_inputs, per_element):
    op = call(op_type, *[floats(2, 3)] * n_inputs)
    assert cost(SHAPES, op).flops == 6 * per_element
