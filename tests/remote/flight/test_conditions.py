"""The language of ``--when``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.errors import UsageError
from tfprof.remote.flight.conditions import NAMES, condition

VALUES = {"step_time": 2.0, "median": 0.5, "input_share": 0.4, "memory": 2.0**31}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("step_time > 3 * median", True),
        ("step_time > 3 * median + 1", False),
        ("step_time-1>=median*2", True),
        ("step_time == 2000ms", True),
        ("step_time < 1m and memory > 1GiB", True),
        ("memory != 2GiB", False),
        ("memory > 2GB", True),
        ("input_share > 30%", True),
        ("input_share > .5 or not step_time > 3", True),
        ("not (step_time > 1 or median > 1)", False),
        ("-step_time < -(1 + 2 / 4)", True),
        ("step_time > 8 / 2 / 2 - 1", True),
        ("step_time > 1 or median > 1 and median > 1", True),
        ("step_time > 3 * mean", None),  # unknown
        ("step_time > 3 * mean or step_time > 1", True),
        ("step_time > 3 * mean and step_time > 3", False),
        ("not step_time > mean", None),
        ("step_time > 1 / 0", None),
        (" ( step_time\n >\t1s ) ", True),
    ],
)
def test_value(text, holds):
    assert condition(text)(VALUES) is holds


def test_names():
    assert condition("step_time > 3 * median or memory > 1GB").names == {
        "step_time", "median", "memory",
    }  # fmt: skip
    assert set(VALUES) < set(NAMES)


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("step_time > 3 * medain", 17, "unknown name 'medain'"),
        ("step_time > 3 parsecs", 15, "unknown name 'parsecs'"),
        ("step_time > 3parsecs", 14, "unknown unit 'parsecs'"),
        ("step_time >", 12, "a name or a number is missing"),
        ("", 1, "a name or a number is missing"),
        ("(step_time > 1", 1, "'(' was never closed"),
        ("1 < step_time < 2", 17, "only one comparison at a time"),
        ("step_time", 1, "a number; compare it"),
        ("step_time > 1 and median", 19, "a number; compare it"),
        ("(step_time > 1) + 2 > 1", 2, "this is true or false"),
        ("step_time.real > 1", 10, "'.' means nothing"),
        ("__import__('os')", 1, "unknown name '__import__'"),
        ("(" * 100, 100, "'(' was never closed"),
        ("not " * 100 + "step_time > 1", 165, "more than 40 levels"),
        ("-" * 100 + "1 > 1", 41, "more than 40 levels"),
        ("step_time >= 1 2", 16, "invalid syntax"),
        ("  1.5s.3 > step_time", 3, "'1' means nothing"),
        ("\u00a0step_time > 1", 1, "means nothing"),
        ("  step_time > median // 2ms", 15, "'median // 2ms' means nothing"),
        ("  step_time(median) > 1", 3, "'step_time(median)' means nothing"),
        ("median > ()", 10, "'()' means nothing"),
        ("median > +1", 10, "'+1' means nothing"),
        ("step_time > ²", 13, "means nothing"),
    ],
)
def test_errors_point_at_the_place(text, column, what):
    with pytest.raises(UsageError) as raised:
        condition(text)
    first, shown, arrow = str(raised.value).split("\n")
    assert f"at column {column}: " in first and what in first
    assert (shown, arrow.index("^")) == (f"  {text}", column + 1)


def test_too_long():
    with pytest.raises(UsageError, match="1001 characters"):
        condition("1" * 1001)


NUMBERS = st.recursive(
    st.sampled_from(["1", "2.5", "step_time", "median"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        lambda parts: "({} {} {})".format(*parts)
    ),
    max_leaves=5,
)
CONDITIONS = st.recursive(
    st.tuples(NUMBERS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), NUMBERS).map(" ".join),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join)
        | inner.map("not ({})".format)
    ),
    max_leaves=5,
)


@given(CONDITIONS)
def test_means_what_python_means(text):
    assert condition(text)(VALUES) is eval(text, {}, dict(VALUES))


@given(st.text(max_size=40))
def test_any_text_is_understood_or_refused(text):
    try:
        condition(text)(VALUES)
    except UsageError:
        return
