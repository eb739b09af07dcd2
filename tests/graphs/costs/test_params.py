"""Counting parameters, by hand."""

from __future__ import annotations

import textwrap

from tfprof.graphs.costs.params import params_report
from tfprof.graphs.model.program import Variable

MODEL = [
    Variable("net/dense/kernel", (4, 3), 1, True),
    Variable("net/dense/bias", (3,), 1, True),
    Variable("net/norm/mean", (3,), 2, False),
    Variable("count", (), 9, None),
]


def test_totals() -> None:
    report = params_report(MODEL)
    assert report.total == int(report) == 12 + 3 + 3 + 1
    assert report.trainable == 15
    assert report.non_trainable == 3
    assert report.unknown == 1
    assert report.bytes == 15 * 4 + 3 * 8 + 8
    assert report.uncounted == ()
    assert report.notes == ()


def test_scopes_have_all_below_them() -> None:
    assert params_report(MODEL).by_scope == {"": 19, "net": 18, "net/dense": 15, "net/norm": 3}


def test_a_name_with_slashes_at_its_ends_makes_no_empty_scope() -> None:
    report = params_report([Variable("/a//b", (2,), 1), Variable("a/", (3,), 1)])
    assert report.by_scope == {"": 5, "/a": 2, "/a/": 2, "a": 3}


def test_unknown_shapes_are_reported_and_never_zero() -> None:
    report = params_report(
        [
            Variable("known", (2, 3), 1, True),
            Variable("partly", (None, 3), 1, True),
            Variable("rank", None, 1, True),
        ],
        ["from somewhere"],
    )
    assert report.total == 6
    assert report.uncounted == ("partly", "rank")
    assert [row.params for row in report.rows] == [6, None, None]
    assert [row.size_bytes for row in report.rows] == [24, None, None]
    assert report.notes == (
        "from somewhere",
        "2 of 3 variables have no complete shape in this program: they are not counted",
    )
    assert "(?, 3)" in str(report)
    assert "n/a" in str(report)


def test_an_empty_variable_is_a_measured_zero() -> None:
    report = params_report([Variable("empty", (0, 3), 1, True)])
    assert report.total == 0
    assert report.uncounted == ()


def test_types_have_their_names_and_sizes() -> None:
    kinds = {1: ("float32", 4), 14: ("bfloat16", 2), 19: ("float16", 2), 6: ("int8", 1)}
    for number, (name, width) in kinds.items():
        (row,) = params_report([Variable("v", (10,), number)]).rows
        assert (row.dtype, row.size_bytes) == (name, 10 * width)
    (row,) = params_report([Variable("v", (10,), 0)]).rows
    assert (row.dtype, row.params, row.size_bytes) == ("n/a", 10, None)


def test_rows_as_dictionaries() -> None:
    assert params_report(MODEL[:1]).to_rows() == [
        {
            "name": "net/dense/kernel",
            "shape": (4, 3),
            "dtype": "float32",
            "params": 12,
            "trainable": True,
            "size_bytes": 48,
        }
    ]


def test_text() -> None:
    assert str(params_report(MODEL)) == textwrap.dedent(
        """\
        19 parameters (92 B): 15 trainable, 3 not trainable, 1 not known to be trainable or not
        name              shape   type     params  trainable
        net/dense/kernel  (4, 3)  float32      12  yes
        net/dense/bias    (3)     float32       3  yes
        net/norm/mean     (3)     float64       3  no
        count             ()      int64         1  n/a"""
    )
    assert str(params_report([])) == "0 parameters (0 B)"
