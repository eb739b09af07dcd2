"""Lines by hand in both ways, and numbers as ``tfprof.core.text.units`` writes them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfprof.core.text import outline_text
from tfprof.core.text.outline_text import Ratios, outline, outline_lines
from tfprof.core.text.units import classic_count, classic_memory, classic_time
from tfprof.core.wire.compiled import native_module

_native = native_module("outline")
needs_native = pytest.mark.skipif(_native is None, reason="the native part was not built")
FORMS = (classic_count, classic_time, classic_memory)


@pytest.fixture(params=["native", "pure"], autouse=True)
def either_way(request, monkeypatch):
    """Each test runs with the compiled part and without it."""
    if request.param == "native" and _native is None:
        pytest.skip("the native part was not built")
    monkeypatch.setenv("TFPROF_PURE", "1" if request.param == "pure" else "0")


def column(*values):
    return np.array(values, np.int64)


def test_names_items_and_left_out_items():
    accounted = np.array([False, True, True])
    times = Ratios(column(0, 1500, -2), column(2_500_000, 1500, 999), accounted, classic_time)
    sizes = Ratios(column(0, 0, 7), column(7, 0, 7), accounted, classic_count, " params")
    text = outline(["root", "ö/x", "y"], column(0, 1, 2), [times, [None, "cpu", None], sizes])
    assert text == (
        "root (--/2.50sec, --/7 params)\n"
        "  ö/x (1.50ms/1.50ms, cpu, 0/0 params)\n"
        "    y (-2us/999us, 7/7 params)\n"
    )


def test_without_columns_and_without_rows():
    assert outline(["a", "b"], column(0, 1), []) == "a ()\n  b ()\n"
    assert outline([], column(), []) == ""


def test_names_that_have_no_utf8():
    assert outline(["\ud800"], column(0), [["\udfff"]]) == "\ud800 (\udfff)\n"


@needs_native
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@example([999, 1000, 1005, 1015, 1025, 1_005_000, 999_995, 999_999, 10**9, 1_234_565_000])
@example([2_675, 1_115, 8_125, 1_625, 9_999_995_000, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_numbers_are_those_of_units(values):
    numbers = column(*values)
    everywhere = np.ones(len(values), np.bool_)
    names = [""] * len(values)
    for form in FORMS:
        ratios = Ratios(numbers, numbers[::-1], everywhere, form)
        expected = "".join(outline_lines(names, np.zeros(len(values), np.int64), [ratios]))
        assert outline(names, np.zeros(len(values), np.int64), [ratios]) == expected


@needs_native
@pytest.mark.parametrize("form", FORMS)
def test_all_numbers_near_the_middle_between_two_hundredths(form):
    values = np.concatenate([np.arange(1000, 60_000, 5), np.arange(1_000_000, 9_000_000, 5000)])
    marks = np.ones(len(values), np.bool_)
    names, depth = [""] * len(values), np.zeros(len(values), np.int64)
    lines = outline(names, depth, [Ratios(values, values, marks, form)]).splitlines()
    assert lines == [f" ({form(value)}/{form(value)})" for value in values.tolist()]


@needs_native
def test_columns_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="length"):
        outline_text._native.outline(["a"], column(0, 0), [])
    with pytest.raises(ValueError, match="length"):
        outline_text._native.outline(["a"], column(0), [["x", "y"]])
    with pytest.raises(ValueError, match="length"):
        outline_text._native.outline(["a"], column(0), [("x",)])
    with pytest.raises(ValueError, match="deep"):
        outline_text._native.outline(["a"], column(2), [])
    with pytest.raises(ValueError, match="length"):
        outline_text._native.Ratios(column(0), column(0, 0), np.zeros(1, np.uint8), [b""], b"")
    with pytest.raises(ValueError, match="units"):
        outline_text._native.Ratios(column(0), column(0), np.zeros(1, np.uint8), [], b"")
