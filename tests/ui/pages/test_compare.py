import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.ui.pages.compare import compared, table_of_both
from tfprof.ui.pages.document import Page, column, words
from tfprof.ui.pages.packed_columns import unpacked


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


def tree(rows):
    """A tree block of rows: name, parent, and what each costs with all below it."""
    from tfprof.ui.pages.tree_block import TreeMeasure, tree_block

    totals = np.array([float(cost) for _, _, cost in rows])
    measure = TreeMeasure("micros", "time", "us", totals, whole=totals[0])
    parents = np.array([parent for _, parent, _ in rows], np.int64)
    return tree_block([name for name, _, _ in rows], parents, [measure], id="scope")


def rows_of_tree(block):
    names, parents = unpacked(block["names"]), unpacked(block["parent"])

    def way(row):
        return "" if row <= 0 else f"{way(parents[row])}/{names[row]}"

    numbers = [unpacked(each["totals"]) for each in block["measures"]]
    return {way(row): tuple(column[row] for column in numbers) for row in range(block["n_rows"])}


def test_trees_are_matched_from_the_root_down():
    both = compared(
        Page("scope", "S", "", [tree([("all", -1, 9), ("a", 0, 5), ("x", 1, 5), ("b", 0, 4)])]),
        Page("scope", "S", "", [tree([("all", -1, 8), ("b", 0, 2), ("c", 0, 6), ("x", 2, 6)])]),
        ("old", "new"),
    ).blocks[-1]
    assert [each["label"] for each in both["measures"]] == [
        "time: old",
        "time: new",
        "time: difference",
    ]
    assert rows_of_tree(both) == {
        "": (9, 8, -1), "/a": (5, None, None), "/a/x": (5, None, None), "/b": (4, 2, -2),
        "/c": (None, 6, None), "/c/x": (None, 6, None),
    }  # fmt: skip


@pytest.mark.one_engine
@given(st.data())
def test_no_row_of_two_trees_is_lost(data):
    def drawn():
        rows = [("all", -1, 1)]
        for at in range(data.draw(st.integers(0, 12))):
            name = data.draw(st.sampled_from("ab"))
            rows.append((name, data.draw(st.integers(0, at)), data.draw(st.integers(0, 9))))
        return rows

    first, second = drawn(), drawn()
    both = compared(
        Page("p", "", "", [tree(first)]), Page("p", "", "", [tree(second)]), ("a", "b")
    ).blocks[-1]
    parents = unpacked(both["parent"])
    assert all(parent < row for row, parent in enumerate(parents))
    mine, theirs = (unpacked(each["totals"]) for each in both["measures"][:2])
    for values, rows in ((mine, first), (theirs, second)):
        known = [int(value) for value in values if value is not None and not math.isnan(value)]
        assert sorted(known) == sorted(cost for _, _, cost in rows)


def test_first_rows_of_longer_tables_are_not_matched_as_others_may_be_further_down():
    few = {**table([("MatMul", 10.0)]), "page": "op-stats"}
    other = {**table([("Relu", 4.0)]), "page": "op-stats"}
    page = compared(
        Page("start", "Start", "", [few]), Page("start", "Start", "", [other]), ("a", "b")
    )
    assert [block["title"] for block in page.blocks[1:]] == ["Ops: a", "Ops: b"]
    assert [rows_of(block) for block in page.blocks[1:]] == [[("MatMul", 10)], [("Relu", 4)]]


def test_ranks_are_not_compared_and_columns_keep_their_order():
    def ranked(rank, mode):
        return {
            **table([]), "n_rows": 1, "cells": [[rank], [5.0], [mode]],
            "columns": [
                {"id": "rank", "label": "rank", "type": "number", "unit": ""},
                {"id": "time", "label": "time", "type": "number", "unit": "us"},
                {"id": "mode", "label": "mode", "type": "string", "unit": ""},
            ],
        }  # fmt: skip

    both = table_of_both(ranked(1, "eager"), ranked(7, "eager"), ("a", "b"))
    labels = [each["label"] for each in both["columns"]]
    assert labels == ["time: a", "time: b", "time: difference", "mode"]
    assert rows_of(both) == [(5, 5, 0, "eager")]


def test_a_run_that_lacks_the_page_or_the_step_leaves_that_of_the_other(tmp_path):
    from tfprof import tools
    from tfprof.inputs.opened import opened_run
    from tfprof.testing.xspace_builders import event, host, line, xspace
    from tfprof.ui.pages.site import Site

    def run_of(*steps):
        marks = [event("train", 1000 * at, 900, step_num=at, _r=1) for at in steps]
        return tools.open_run(xspace(host(line(*marks))))

    site = Site(
        [replace(opened_run(run_of(*at)), name=name) for name, at in (("a", (1, 2)), ("b", (5,)))]
    )
    page = site.page("pod", {"run": "a", "against": "b", "step": "2"})
    assert page.blocks[0]["items"][0]["text"].startswith("There is nothing of b here: no step 2")
    assert page.blocks[1:] == site.page("pod", {"run": "a", "step": "2"}).blocks


def test_numbers_of_one_run_and_texts_of_the_other_stand_side_by_side():
    unknown = table([("MatMul", "768·B"), ("Relu", None)])
    assert unknown["columns"][1]["type"] == "number"  # as tables with some unknown sizes have it
    both = table_of_both(table([("MatMul", 10), ("Relu", 2)]), unknown, ("a", "b"))
    assert [each["label"] for each in both["columns"]] == ["op", "time: a", "time: b"]
    assert rows_of(both) == [("MatMul", "10", "768·B"), ("Relu", "2", "")]
    assert len(table_of_both(unknown, table([("MatMul", 10)]), ("a", "b"))["columns"]) == 3
