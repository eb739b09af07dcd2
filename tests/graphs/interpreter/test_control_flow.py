"""Loops and conditionals of TensorFlow 1, op by op. Numbers are worked out by hand."""

import pytest

from tests.graphs.interpreter.control_flow import T, conditional, loop
from tests.graphs.interpreter.programs import (
    BOOL,
    INT,
    Type,
    analyse,
    const,
    graph,
    node,
    placeholder,
)

PRODUCT = 2 * 8 * 8 * 8
X = placeholder("x", 8, 8)


def place(analysis, name):
    return next(i for i, each in enumerate(analysis.body.nodes) if each.name == name)


def test_a_counted_loop():
    analysis, engine = analyse(graph(X, *loop(const("n", 6)), node("after", "Relu", "w/out", **T)))
    assert analysis.flops == 6 * PRODUCT + 64
    assert engine.notes == {}
    times = {analysis.body.nodes[p].name: n for p, n in analysis.times.items()}
    assert times["w/mm"] == times["w/add"] == 6
    assert times["w/less"] == times["w/go"] == 7
    assert "after" not in times
    assert analysis.outputs[place(analysis, "w/count")][0].values == (6,)
    assert analysis.outputs[place(analysis, "w/out")][0].shape == (8, 8)


def test_an_unknown_limit():
    analysis, engine = analyse(graph(X, *loop(placeholder("n", dtype=INT))))
    assert str(analysis.flops) == "1,024·trips(w/frame)"
    assert len(engine.notes) == 1
    analysis, engine = analyse(graph(X, *loop(placeholder("n", dtype=INT))), trip_counts={"w": 4})
    assert analysis.flops == 4 * PRODUCT
    assert engine.notes == {}


def test_a_loop_in_a_loop():
    inner = loop(const("w/m", 3), prefix="w/v/", x="w/sx:1")
    for constant in inner[:2]:
        constant.input.append("^w/si")  # so that they are in the outer loop
    nodes = loop(const("n", 5), inner=inner, product="v/out")
    analysis, _ = analyse(graph(X, *nodes))
    assert analysis.flops == 5 * PRODUCT + 5 * 3 * PRODUCT


def test_what_leaves_one_loop_limits_the_next():
    second = loop(const("unused", 0), prefix="v/", x="w/out")
    second = [n for n in second if n.name != "unused"]
    for each in second:
        if each.name == "v/en":
            each.input[0] = "w/count"
    analysis, engine = analyse(graph(X, *loop(const("n", 6)), *second))
    assert analysis.flops == 12 * PRODUCT
    assert engine.notes == {}


def test_of_two_sides_the_costlier_one_counts():
    message = graph(X, placeholder("p", dtype=BOOL), *conditional("p"))
    analysis, engine = analyse(message)
    assert analysis.flops == PRODUCT
    assert analysis.times[place(analysis, "c/relu")] == 0
    assert len(engine.notes) == 1


@pytest.mark.parametrize(("ran", "expected"), [("c/relu", 64), ("c/mm", PRODUCT)])
def test_the_side_that_ran_counts(ran, expected):
    message = graph(X, placeholder("p", dtype=BOOL), *conditional("p"))
    analysis, engine = analyse(message, node_runs={ran: 2, "p": 2})
    assert analysis.flops == expected
    assert engine.notes == {}


def test_a_conditional_in_a_conditional():
    # x @ x, then on the true side relu or another product.
    outer = [
        node("o", "Switch", "x", "p", **T),
        node("o/relu", "Relu", "o", **T),
        node("o/mm", "MatMul", "o:1", "o:1", **T),
        node("o/q", "Switch", "q", "p", T=Type(BOOL)),
        *conditional("o/q:1", name="o/c/", x="o/mm"),
        node("out", "Merge", "o/relu", "o/c/out", N=2, **T),
    ]
    parts = (X, placeholder("p", dtype=BOOL), placeholder("q", dtype=BOOL), *outer)
    assert analyse(graph(*parts))[0].flops == 2 * PRODUCT
    runs = {"o/mm": 1, "o/c/relu": 1}
    assert analyse(graph(*parts), node_runs=runs)[0].flops == PRODUCT + 64


def test_a_size_that_grows_is_open():
    wider = [
        const("w/zero", 0),
        node("w/wide", "ConcatV2", "w/mm", "w/mm", "w/zero", N=2, **T),
        node("w/exp", "Exp", "w/wide", **T),
    ]
    analysis, _ = analyse(graph(X, *loop(const("n", 6), inner=wider, product="exp")))
    assert analysis.outputs[place(analysis, "w/mx")][0].shape[1] == 8
    assert analysis.times[place(analysis, "w/exp")] == 6
    assert set(analysis.flops.symbols) == {"w/mx[0]"}


def test_broken_loops_do_not_crash():
    nodes = loop(const("n", 6))
    for missing in range(len(nodes)):
        analysis, _ = analyse(graph(X, *nodes[:missing], *nodes[missing + 1 :]))
        assert str(analysis.flops)
