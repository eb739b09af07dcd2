"""Views without a chosen order or attributes: the highest costs first."""

import numpy as np
import pytest

import tfprof
from tests.graphs.interpreter import programs
from tests.graphs.interpreter.programs import FLOAT, Type, node, placeholder
from tfprof.options.spec import ORDER_BY, SELECT, UNASKED
from tfprof.testing.builders import graph, op, run

RELU = [placeholder("x", 4, 4), node("r", "Relu", "x", T=Type(FLOAT))]


def options(**chosen):
    return {**tfprof.ProfileOptionBuilder().build(), **chosen}


def profiler(*, classic=False, steps=1):
    ops = [op("a/slow", "Mul"), op("b/idle", "Abs"), op("c/quick", "Sub", "a/slow")]
    made = tfprof.Profiler(graph(*ops), classic=classic)
    for step in range(steps):
        made.add_step(step, run({"a/slow": 5, "c/quick": 70}))
    return made


def names(tree):
    return list(tree.names[1:])


def test_the_dearest_comes_first_and_what_never_ran_is_counted():
    made = profiler()
    tree = made.view("op")
    assert (names(tree), tree.n_idle) == (["Sub", "Mul"], 1)
    assert (tree.options.order_by, tree.options.select) == ("micros", ("micros",))
    tree = made.view("scope")
    assert (names(tree), tree.n_idle) == (["c", "c/quick", "a", "a/slow"], 2)
    tree = made.view("graph")
    assert (names(tree), tree.n_idle) == (["c/quick", "a/slow"], 1)


def test_totals_count_what_is_not_shown():
    made = tfprof.Profiler(programs.graph(*RELU, node("a", "Mystery", "x")))
    made.add_step(0, run({"a": 5}))
    by_name = made.view("op", options())
    assert names(made.view("op")) == ["Mystery"]
    for view in ("op", "scope"):
        sums, whole = made.view(view).total, made.view(view, options()).total
        assert np.array_equal(sums[:, 0], whole[:, 0])
    assert len(by_name) == 4


@pytest.mark.parametrize("view", ["op", "scope", "graph"])
@pytest.mark.parametrize("order", [o for o in ORDER_BY if o != "auto"])
def test_an_order_that_is_given_hides_nothing(view, order):
    tree = profiler().view(view, options(order_by=order))
    assert tree.n_idle == 0
    assert {"Abs", "b/idle"} & set(names(tree))


def test_protos_keep_the_given_options():
    made = profiler()
    answer = made.profile_operations(options(output="none"))
    assert answer.children[0].name == "Abs"
    answer = made.profile_name_scope(
        {
            "output": "none",
            "account_type_regexes": [".*"],
            "start_name_regexes": [".*"],
            "show_name_regexes": [".*"],
        }
    )
    assert [child.name for child in answer.children] == ["a", "b", "c"]


def test_classic_mode_keeps_the_originals_order():
    made = profiler(classic=True)
    for chosen in (None, options(order_by="auto", select=["auto"])):
        tree = made.view("op", chosen)
        assert (names(tree), tree.n_idle) == (["Abs", "Mul", "Sub"], 0)
        assert (tree.options.order_by, tree.options.select) == ("name", ("micros",))


def test_a_graph_without_runs_shows_its_float_operations_and_parameters():
    made = tfprof.Profiler(programs.graph(node("first", "Abs2"), *RELU))
    tree = made.view("op")
    assert (tree.options.order_by, tree.options.select) == ("float_ops", ("float_ops", "params"))
    assert (names(tree)[0], len(tree), tree.n_idle) == ("Relu", 4, 0)


def test_where_nothing_is_known_names_give_the_order():
    tree = tfprof.Profiler(graph(op("b", "Ours1"), op("a", "Ours2"))).view("op")
    assert (tree.options.order_by, tree.options.select) == ("name", ("micros",))
    assert names(tree) == ["Ours1", "Ours2"]


@pytest.mark.parametrize("select", [s for s in SELECT if s != "auto"])
def test_attributes_that_are_given_are_shown_and_decide_the_order(select):
    tree = profiler().view("op", options(select=[select], order_by="auto"))
    assert tree.options.select == (select,)
    assert tree.options.order_by in (select, "name")
    # What has something to show is never hidden; where nothing can be ranked, nothing is.
    assert tree.n_idle == (1 if tree.options.order_by == select and select != "params" else 0)


def test_auto_stands_for_attributes_among_others():
    tree = profiler().view("op", options(select=["auto", "device"]))
    assert tree.options.select == ("device", "micros")


def test_timelines_and_drawings_hold_every_op(tmp_path):
    made = profiler()
    tree = made.view("op", options(order_by="auto"))
    assert tree.options.order_by == "micros"
    for output in ("timeline:outfile=x", "pprof:outfile=x", "dot:outfile=x.dot"):
        parsed = tfprof.options.parse.parse_options({**UNASKED, "output": output})
        tree = made._session.views.build("scope", parsed)
        assert (tree.options.order_by, tree.n_idle) == ("name", 0)


def test_a_step_in_which_less_ran():
    made = profiler()
    made.add_step(1, run({"a/slow": 9}))
    assert names(made.view("op", {**UNASKED, "step": 1})) == ["Mul"]
    assert names(made.view("op", {**UNASKED, "step": 0})) == ["Sub", "Mul"]
