import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.graphs.model.symbolic import (
    Symbolic,
    bind,
    ceil_div,
    floor_div,
    maximum,
    minimum,
    symbols_of,
    total,
    typical,
)

B, H = Symbolic.named("B"), Symbolic.named("H")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (20_000 * B + 400, "20,000·B + 400"),
        (B * H * 3 - H, "3·B·H - H"),
        ((H - 1) ** 2, "H^2 - 2·H + 1"),
        (-B, "-B"),
        (ceil_div(H, 2), "ceil(H / 2)"),
        (ceil_div(H + B, 2) * 2, "2·ceil((B + H) / 2)"),
        (maximum(B, H) + 1, "max(B, H) + 1"),
    ],
)
def test_text(number, text):
    assert str(number) == text


def test_formatting():
    number = 20_000 * B + 400
    assert f"{number:,}" == f"{number}" == "20,000·B + 400"
    assert f"{number:>16,}" == "  20,000·B + 400"


def test_what_is_known_is_an_int():
    assert B - B == 0
    assert isinstance(B - B + 3, int)
    assert (B + 1) * 0 == 0
    assert floor_div(B * H * 3, B * H) == 3
    assert total([B, 4, -B]) == 4


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ((4 * B + 3) // 4, B),
        ((4 * B + 5) // 4, B + 1),
        (ceil_div(4 * B + 5, 4), B + 2),
        ((20 * B) // 10, 2 * B),
        (B * 20 // B, 20),
        (ceil_div(ceil_div(H, 2), 2), ceil_div(H, 4)),
        (floor_div(floor_div(H, 2), 3), floor_div(H, 6)),
        (7 * B % 7, 0),
        (maximum(3 * B, 2 * B), 3 * B),
        (minimum(B, B + H), B),
        (maximum(B, 1), B),
    ],
)
def test_simplification(number, expected):
    assert number == expected
    assert str(number) == str(expected)


def test_an_unknown_number_is_not_an_int():
    with pytest.raises(TypeError, match=r"B·H is not a number until B, H are known"):
        int(B * H)
    with pytest.raises(TypeError):
        range(B)  # type: ignore[call-overload]


def test_division_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        floor_div(B, 0)


def test_binding_some_unknowns_leaves_the_others():
    number = 3 * B * H + ceil_div(H, 2)
    assert number.symbols == ("B", "H")
    assert number.bind(H=5) == 15 * B + 3
    assert number.bind({"H": 5, "B": 2, "other": 9}) == 33
    assert number.bind() is number
    assert bind(7, {"B": 1}) == 7
    assert symbols_of(7) == ()
    assert typical(B + 1) == 65


_NUMBERS = st.recursive(
    st.one_of(st.integers(-40, 40), st.sampled_from([B, H, Symbolic.named("L")])),
    lambda inner: st.tuples(
        st.sampled_from(["+", "-", "*", "//", "ceil", "max", "min", "%"]), inner, inner
    ),
    max_leaves=8,
)

_PYTHON = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "ceil": lambda a, b: -(-a // b), "max": max, "min": min, "%": operator.mod,
}  # fmt: skip
_OURS = {**_PYTHON, "//": floor_div, "ceil": ceil_div, "max": maximum, "min": minimum}


def _evaluated(expression, functions, values):
    if isinstance(expression, tuple):
        name, left, right = expression
        return functions[name](
            _evaluated(left, functions, values), _evaluated(right, functions, values)
        )
    return bind(expression, values) if values is not None else expression


@given(_NUMBERS, st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_binding_gives_what_arithmetic_gives(expression, b, h, length):
    values = {"B": b, "H": h, "L": length}
    try:
        expected = _evaluated(expression, _PYTHON, values)
        symbolic = _evaluated(expression, _OURS, None)
        found = bind(symbolic, values)
    except ZeroDivisionError:
        return
    assert found == expected
    assert isinstance(found, int)


@given(_NUMBERS, _NUMBERS)
def test_equal_numbers_have_equal_hashes_and_texts(left, right):
    try:
        a, b = (_evaluated(each, _OURS, None) for each in (left, right))
        a, b = a + b, b + a
    except ZeroDivisionError:
        return
    assert a == b
    assert hash(a) == hash(b)
    assert str(a) == str(b)


@given(st.lists(st.one_of(st.integers(-9, 9), st.sampled_from([B, H, 2 * B, B * H]))))
def test_total_is_the_sum(numbers):
    assert total(numbers) == sum(numbers)
    assert math.prod(numbers[:3]) == math.prod(reversed(numbers[:3]))


def test_functions_are_not_nested_beyond_what_can_be_read():
    """Each contains the text of those before it: the text of a chain grows with its square."""
    size = H
    with pytest.raises(OverflowError, match="nested too deep"):
        for _ in range(1000):
            size = floor_div(size - 3, 2)
    assert 900 < len(str(size)) <= 1000
    with pytest.raises(OverflowError, match="nested too deep"):
        maximum(size, Symbolic.named(100 * "h"))
