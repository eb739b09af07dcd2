import pytest

import tfprof
from tfprof.testing.builders import graph, op, options, run


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


def view(nodes, times=None, classic=False, **changes):
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    if times is not None:
        profiler.add_step(0, run(times))
    return profiler.view("graph", options(**changes))


def outline(tree):
    return [(row["name"], row["depth"]) for row in tree.to_rows()[1:]]


def totals(tree):
    return {row["name"]: row["total_exec_micros"] for row in tree.to_rows()}


# out reads b and c, both of which read a.
DIAMOND = [op("a"), op("b", "B", "a"), op("c", "C", "a"), op("out", "O", "c", "b", "^a")]
TIMES = {"a": 1, "b": 20, "c": 300, "out": 4000}


def test_each_op_hangs_under_the_first_consumer_that_leads_to_it(classic):
    tree = view(DIAMOND, TIMES, classic, order_by="")
    assert outline(tree) == [("out", 1), ("c", 2), ("a", 3), ("b", 2)]
    assert totals(tree) == {"_TFProfRoot": 4321, "out": 4321, "c": 301, "a": 1, "b": 20}


def test_siblings_can_be_sorted(classic):
    assert outline(view(DIAMOND, TIMES, classic)) == [("out", 1), ("b", 2), ("c", 2), ("a", 3)]
    assert outline(view(DIAMOND, TIMES, classic, order_by="micros")) == [
        ("out", 1), ("c", 2), ("a", 3), ("b", 2),
    ]  # fmt: skip


def test_roots_are_in_byte_order(classic):
    nodes = [op("z", "Z", "x"), op("y", "Y", "x"), op("x")]
    assert outline(view(nodes, None, classic, order_by="")) == [("y", 1), ("x", 2), ("z", 1)]


def test_missing_inputs_and_repeated_ones(classic):
    nodes = [op("a"), op("b", "B", "ghost", "a", "a:1", "^a")]
    assert outline(view(nodes, None, classic)) == [("b", 1), ("a", 2)]


def test_unaccounted_ops_hand_their_inputs_to_their_consumer(classic):
    tree = view(DIAMOND, TIMES, classic, account_type_regexes=["O", "NoOp"])
    assert outline(tree) == [("out", 1), ("a", 2)]
    assert totals(tree) == {"_TFProfRoot": 4001, "out": 4001, "a": 1}
    assert tree.definitions.tolist() == [2, 2, 1]


def test_an_unaccounted_root_hands_its_inputs_to_the_top(classic):
    tree = view(DIAMOND, TIMES, classic, account_type_regexes=["B", "C"])
    assert outline(tree) == [("b", 1), ("c", 1)]


def test_depth_counts_accounted_levels(classic):
    assert outline(view(DIAMOND, TIMES, classic, max_depth=2)) == [("out", 1)]
    tree = view(DIAMOND, TIMES, classic, max_depth=2, account_type_regexes=["NoOp"])
    assert outline(tree) == [("a", 1)]


def test_trim_hides_the_inputs_below(classic):
    tree = view(DIAMOND, TIMES, classic, trim_name_regexes=["c"], order_by="")
    assert outline(tree) == [("out", 1), ("c", 2), ("b", 2)]
    assert totals(tree)["c"] == 301


def test_start_searches_along_the_tree(classic):
    tree = view(DIAMOND, TIMES, classic, start_name_regexes=["b", "c"])
    assert outline(tree) == [("b", 1), ("c", 1), ("a", 2)]
    assert totals(tree)["_TFProfRoot"] == 4321


def test_hidden_nodes_let_their_inputs_move_up(classic):
    tree = view(DIAMOND, TIMES, classic, hide_name_regexes=["c"], account_displayed_op_only=True)
    assert outline(tree) == [("out", 1), ("a", 2), ("b", 2)]
    assert totals(tree) == {"_TFProfRoot": 4021, "out": 4021, "a": 1, "b": 20}
    assert tree.definitions.tolist()[0] == 4  # three ops and, as in the original, the root


def test_a_cycle_with_a_way_in_is_entered_there(classic):
    nodes = [op("a", "A", "c"), op("b", "B", "a"), op("c", "C", "b"), op("out", "O", "b")]
    assert outline(view(nodes, None, classic)) == [("out", 1), ("b", 2), ("a", 3), ("c", 4)]


def test_run_time_ops_stand_at_the_top(classic):
    tree = view([op("a")], {"a": 1, "extra": 2}, classic)
    assert outline(tree) == [("a", 1), ("extra", 1)]


def test_the_root_has_its_own_type(classic):
    tree = view(DIAMOND, None, classic, account_type_regexes=["_TFGraphParent"])
    assert len(tree) == 1
    assert tree.accounted.tolist() == [False]


def test_an_empty_graph(classic):
    assert outline(view([], None, classic)) == []
