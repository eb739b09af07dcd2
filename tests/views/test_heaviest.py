"""What costs most by itself, listed or not."""

import pytest

import tfprof
from tfprof.testing.builders import graph, op, op_log, options, run, traced
from tfprof.views.heaviest import heaviest

DEEP = "a/b/c/d/e/deep"


def profiler(**chosen):
    nodes = [op(DEEP, "MatMul"), op("x", "Add"), op("y", "Add", DEEP)]
    log = op_log(traced(DEEP, "m.py:1:main", "m.py:2:inner"), traced("x", "m.py:1:main"),
                 traced("y", "m.py:3:other"))  # fmt: skip
    made = tfprof.Profiler(graph(*nodes), log, **chosen)
    made.add_step(0, run({DEEP: 90, "x": 50, "y": 60}))
    return made


@pytest.mark.parametrize(
    ("kind", "name", "micros"),
    [("scope", DEEP, 90), ("graph", DEEP, 90), ("op", "Add", 110), ("code", "m.py:2:inner", 90)],
)
@pytest.mark.parametrize("depth", [0, 1, 2, 100])
def test_depth_hides_it_not(kind, name, micros, depth):
    tree = profiler().view(kind, options(max_depth=depth))
    assert heaviest(tree, "exec_micros") == (name, micros)


def test_only_what_is_accounted_for_counts():
    tree = profiler().view("scope", options(account_type_regexes=["Add"]))
    assert heaviest(tree, "exec_micros") == ("y", 60)


def test_where_totals_count_what_is_shown_so_does_this():
    tree = profiler().view("scope", options(account_displayed_op_only=True, max_depth=2))
    assert heaviest(tree, "exec_micros") == ("y", 60)


def test_nothing_costs_anything():
    tree = profiler().view("scope", options())
    assert heaviest(tree, "parameters") is None
    assert heaviest(tfprof.Profiler(graph()).view("scope"), "exec_micros") is None
