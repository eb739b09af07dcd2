import pytest

import tfprof
from tfprof.testing.builders import graph, logged, op, op_log, options, run, traced
from tfprof.views.code import forward_name


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


def view(entries, times, classic=False, **changes):
    """Entries are op name → call stack; types equal names."""
    log = op_log(*(traced(name, *lines) for name, lines in entries.items()))
    profiler = tfprof.Profiler(graph(*(op(name, name) for name in times)), log, classic=classic)
    profiler.add_step(0, run(times))
    return profiler.view("code", options(**changes))


def outline(tree):
    return [(row["name"], row["depth"]) for row in tree.to_rows()[1:]]


def totals(tree):
    return {row["name"]: row["total_exec_micros"] for row in tree.to_rows()}


MAIN, LEFT, RIGHT = "f.py:1:main", "f.py:2:left", "g.py:3:right"
ENTRIES = {"a": [MAIN, LEFT], "b": [MAIN], "c": [MAIN, RIGHT], "d": [RIGHT]}
TIMES = {"a": 1, "b": 20, "c": 300, "d": 4000, "untraced": 50000}


def test_ops_hang_under_their_innermost_line(classic):
    tree = view(ENTRIES, TIMES, classic)
    assert outline(tree) == [(MAIN, 1), (LEFT, 2), (RIGHT, 2), (RIGHT, 1)]
    assert tree.own[1].tolist() == [0, 20, 1, 300, 4000]
    assert tree.total[1].tolist() == [4321, 321, 1, 300, 4000]


def test_order_of_first_appearance(classic):
    entries = {"a": ["z.py:1:f"], "b": ["a.py:1:f"]}
    times = {"b": 1, "a": 1}
    assert [n for n, _ in outline(view(entries, times, classic, order_by=""))] == [
        "z.py:1:f", "a.py:1:f",
    ]  # fmt: skip


def test_lines_with_equal_texts_are_one_among_siblings_only(classic):
    entries = {"a": ["/x/f.py:1:main"], "b": ["/y/f.py:1:main", MAIN]}
    assert outline(view(entries, {"a": 1, "b": 2}, classic)) == [(MAIN, 1), (MAIN, 2)]


@pytest.mark.parametrize(
    ("name", "forward"),
    [
        ("gradients/a_grad/mul", "a"),
        ("x/gradients/s/a_grad/mul", "s/a"),
        ("gradients/a_grad", ""),
        ("gradients/a", ""),
        ("gradients/_grad/x", ""),
        ("_grad/gradients/a", "a"),
        ("_grad/gradients/", ""),
        ("b_grad/gradients/a_grad/c", "a_grad/c"),
        ("gradients/a_grad/gradients/b_grad/c", "a"),
        ("plain", ""),
    ],
)
def test_forward_name(name, forward):
    assert forward_name(name) == forward


def test_gradients_stand_at_the_lines_of_their_forward_op(classic):
    entries = {"a": [MAIN, LEFT], "gradients/a_grad/x": ["tf.py:9:inside"]}
    tree = view(entries, {"a": 1, "gradients/a_grad/x": 20}, classic)
    assert outline(tree) == [
        (MAIN, 1), (LEFT, 2), (f"{MAIN} (gradient)", 1), (f"{LEFT} (gradient)", 2),
    ]  # fmt: skip
    assert totals(tree)[f"{MAIN} (gradient)"] == 20


def test_an_untraced_gradient_is_nowhere(classic):
    tree = view({"a": [MAIN]}, {"a": 1, "gradients/a_grad/x": 20}, classic)
    assert outline(tree) == [(MAIN, 1)]


def test_a_gradient_of_a_gradient_is_not_a_forward_op(classic):
    entries = {"gradients/a_grad/x": [MAIN], "gradients/gradients/a_grad/x_grad/y": [MAIN]}
    assert outline(view(entries, dict.fromkeys(entries, 1), classic)) == []


def test_trim_drops_the_line_itself_too(classic):
    tree = view(ENTRIES, TIMES, classic, trim_name_regexes=[".*left", "g.py.*"])
    assert outline(tree) == [(MAIN, 1)]
    assert totals(tree)[MAIN] == 321


def test_lines_without_accounted_ops_below_are_gone(classic):
    tree = view(ENTRIES, TIMES, classic, account_type_regexes=["a"])
    assert outline(tree) == [(MAIN, 1), (LEFT, 2)]
    assert tree.accounted.tolist() == [False, False, True]
    assert tree.own[1].tolist() == [0, 0, 1]
    assert totals(tree)["_TFProfRoot"] == 1


def test_bounds_look_at_totals_and_occurrence_is_not_tested(classic):
    assert outline(view(ENTRIES, TIMES, classic, min_micros=300)) == [
        (MAIN, 1), (RIGHT, 2), (RIGHT, 1),
    ]  # fmt: skip
    assert len(outline(view(ENTRIES, TIMES, classic, min_occurrence=99))) == 4


def test_float_ops_bounds_look_at_totals(classic):
    log = op_log(traced("a", MAIN, LEFT, float_ops=7))
    profiler = tfprof.Profiler(graph(op("a")), log, classic=classic)
    assert len(profiler.view("code", options(min_float_ops=7))) == 3
    assert len(profiler.view("code", options(min_float_ops=8))) == 1


def test_sorting(classic):
    assert outline(view(ENTRIES, TIMES, classic, order_by="micros")) == [
        (RIGHT, 1), (MAIN, 1), (RIGHT, 2), (LEFT, 2),
    ]  # fmt: skip
    two = {"a": [LEFT], "b": [RIGHT], "c": [RIGHT]}
    assert outline(view(two, dict.fromkeys(two, 1), classic, order_by="occurrence")) == [
        (RIGHT, 1), (LEFT, 1),
    ]  # fmt: skip


def test_depth_hidden_and_start(classic):
    assert outline(view(ENTRIES, TIMES, classic, max_depth=2)) == [(MAIN, 1), (RIGHT, 1)]
    assert outline(view(ENTRIES, TIMES, classic, hide_name_regexes=["f.*main"])) == [
        (LEFT, 1), (RIGHT, 1), (RIGHT, 1),
    ]  # fmt: skip
    assert outline(view(ENTRIES, TIMES, classic, start_name_regexes=[".*right"])) == [
        (RIGHT, 1), (RIGHT, 1),
    ]  # fmt: skip


def test_totals_ignore_account_displayed_op_only(classic):
    tree = view(
        ENTRIES, TIMES, classic, show_name_regexes=["f.*main"], account_displayed_op_only=True
    )
    assert totals(tree) == {"_TFProfRoot": 4321, MAIN: 321}


def test_dropped_gradient_groups_are_noted_once():
    entries = {"a": [MAIN], "gradients/x_grad/m": [MAIN], "gradients/x_grad/n": [MAIN]}
    log = op_log(*(traced(name, *lines) for name, lines in entries.items()))
    profiler = tfprof.Profiler(graph(*map(op, entries)), log)
    for _ in range(2):
        profiler.view("code", options())
    assert {n.code: n.count for n in profiler.notices} == {"gradient-without-forward": 1}


def test_without_call_stacks():
    profiler = tfprof.Profiler(graph(op("a")), op_log(logged("a", types=["t"])))
    with pytest.raises(tfprof.EmptyProfileError, match="call stacks"):
        profiler.view("code", options())
