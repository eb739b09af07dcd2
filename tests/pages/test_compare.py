import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.pages.compare import compared, table_of_both, unpacked
from tfprof.pages.document import Page, column, words


def table(rows, name="ops"):
    return {
        "kind": "table", "id": name, "title": "Ops", "n_rows": len(rows),
        "columns": [
            {"id": "op", "label": "op", "about": "", "type": "string", "unit": ""},
            {"id": "time", "label": "time", "about": "", "type": "number", "unit": "us"},
        ],
        "cells": [column([op for op, _ in rows]), column([time for _, time in rows])],
    }  # fmt: skip


def rows_of(block):
    return list(zip(*(unpacked(cells) for cells in block["cells"]), strict=True))


def test_rows_of_the_same_name_stand_side_by_side_with_their_difference():
    both = table_of_both(
        table([("MatMul", 10.0), ("Relu", 2.0)]),
        table([("Relu", 3.0), ("MatMul", 4.0)]),
        ("a", "b"),
    )
    assert [each["label"] for each in both["columns"]] == [
        "op",
        "time: a",
        "time: b",
        "time: difference",
    ]
    assert rows_of(both) == [("MatMul", 10, 4, -6), ("Relu", 2, 3, 1)]


def test_what_only_one_run_has_stays_with_an_unknown_number():
    both = table_of_both(table([("Old", 1.0)]), table([("New", 2.0)]), ("a", "b"))
    assert rows_of(both) == [("Old", 1, None, None), ("New", None, 2, None)]


def test_rows_of_equal_names_are_matched_in_their_order():
    both = table_of_both(table([("x", 1.0), ("x", 2.0)]), table([("x", 5.0)]), ("a", "b"))
    assert rows_of(both) == [("x", 1, 5, 4), ("x", 2, None, None)]


@pytest.mark.one_engine
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 99)), max_size=80),
    st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.integers(0, 99)), max_size=80),
)
def test_no_row_is_lost_and_none_is_counted_twice(first, second):
    rows = rows_of(table_of_both(table(first), table(second), ("a", "b")))

    def known(values):
        return sorted(
            (name, int(value))
            for name, value in values
            if value is not None and not math.isnan(value)
        )

    assert known((row[0], row[1]) for row in rows) == known(first)
    assert known((row[0], row[2]) for row in rows) == known(second)


def test_blocks_that_cannot_be_joined_stand_below_each_other_with_the_name_of_their_run():
    first = Page("x", "X", "", [words(["fast"]), table([("a", 1.0)])])
    second = Page("x", "X", "", [words(["slow"]), table([("a", 2.0)]), table([("b", 3.0)], "more")])
    page = compared(first, second, ("old", "new"))
    assert [(b["kind"], b.get("of_run")) for b in page.blocks] == [
        ("words", None), ("words", "old"), ("words", "new"), ("table", None), ("table", "new"),
    ]  # fmt: skip
