"""Loops of functions. Numbers are worked out by hand."""

import pytest

from tests.graphs.interpreter.programs import (
    FLOAT,
    INT,
    Ref,
    Type,
    analyse,
    const,
    function,
    graph,
    node,
    placeholder,
)
from tests.graphs.interpreter.while_loops import TYPES, VARS, X, body, condition

PRODUCT = 2 * 8 * 8 * 8


def loop(start, limit, *functions, **settings):
    message = graph(
        X, start, limit,
        node("loop", "While", "start", "limit", "x", T=TYPES, cond=Ref("cond"), body=Ref("body")),
        *(functions or (condition(), body())),
    )  # fmt: skip
    return analyse(message, **settings)


@pytest.mark.parametrize(
    ("start", "limit", "step", "trips"), [(0, 10, 1, 10), (3, 10, 3, 3), (5, 5, 1, 0), (9, 2, 1, 0)]
)
def test_trips_follow_from_constants(start, limit, step, trips):
    analysis, engine = loop(
        const("start", start), const("limit", limit), condition(), body(step=step)
    )
    assert analysis.flops == trips * PRODUCT
    assert engine.notes == {}
    final, passed, _ = analysis.outputs[3]
    assert final.values == (start + trips * step,)
    assert passed.values == (limit,)


def test_an_unknown_limit_is_symbolic_and_noted():
    analysis, engine = loop(const("start", 0), placeholder("limit", dtype=INT))
    assert str(analysis.flops) == "1,024·trips(loop)"
    assert list(engine.notes) == [
        "how often the loop loop runs is not known; give trip_counts={'loop': n}"
    ]


@pytest.mark.parametrize("name", ["loop", ""])
def test_the_caller_can_tell(name):
    analysis, engine = loop(
        const("start", 0), placeholder("limit", dtype=INT), trip_counts={name: 7}
    )
    assert analysis.flops == 7 * PRODUCT
    assert engine.notes == {}


def test_the_condition_runs_once_more_than_the_body():
    costly = condition(
        node("s", "Sum", "x", "axes:output:0", T=Type(FLOAT), Tidx=Type(INT)),
        const("axes", 0, 1, rank=1),
        node("less", "Less", "i", "n", T=Type(INT)),
    )
    analysis, _ = loop(const("start", 0), const("limit", 4), costly, body())
    assert analysis.flops == 4 * PRODUCT  # the sum decides nothing, so it does not run
    asking = condition(
        const("axes", 0, 1, rank=1),
        node("s", "Sum", "x", "axes:output:0", T=Type(FLOAT), Tidx=Type(INT)),
        node("low", "Less", "s:output:0", "s:output:0", T=Type(FLOAT)),
        node("less", "Less", "i", "n", T=Type(INT)),
        node("both", "LogicalAnd", "low:z:0", "less:z:0"),
        result="both:z:0",
    )
    analysis, engine = loop(const("start", 0), const("limit", 4), asking, body())
    assert analysis.flops == 4 * PRODUCT + 5 * (63 + 1)
    assert list(engine.notes) == [
        "the loop loop may end before its counter does; counted as if it did not"
    ]


def test_a_size_that_grows_is_open():
    growing = body(
        const("zero", 0),
        node("wide", "ConcatV2", "x", "x", "zero:output:0", N=2, T=Type(FLOAT)),
        node("relu", "Relu", "wide:output:0", T=Type(FLOAT)),
        x="relu:activations:0",
    )
    analysis, _ = loop(const("start", 0), const("limit", 3), condition(), growing)
    assert str(analysis.flops) == "48·loop:2[0]"
    assert str(analysis.outputs[3][2].shape) == "(<loop:2[0]>, 8)"


def test_iterations_that_cost_different_amounts_are_walked_one_by_one():
    # The first i rows of x: 0, 8, 16 and 24 elements.
    sliced = body(
        const("zeros", 0, 0, rank=1),
        const("eight", 8),
        node("size", "Pack", "i", "eight:output:0", N=2, T=Type(INT)),
        node(
            "rows", "Slice", "x", "zeros:output:0", "size:output:0", T=Type(FLOAT), Index=Type(INT)
        ),
        node("exp", "Exp", "rows:output:0", T=Type(FLOAT)),
        node("axes", "Const", dtype=Type(INT), value=const("c", 0, 1, rank=1).attr["value"].tensor),
        node("sum", "Sum", "exp:y:0", "axes:output:0", T=Type(FLOAT), Tidx=Type(INT)),
        node("add", "AddV2", "x", "sum:output:0", T=Type(FLOAT)),
        x="add:z:0",
    )
    analysis, _ = loop(const("start", 0), const("limit", 4), condition(), sliced)
    elements = 0 + 8 + 16 + 24
    assert analysis.flops == elements + (8 - 1) + (16 - 1) + (24 - 1) + 4 * 64


def test_a_loop_in_a_loop():
    inner = function(
        "outer", VARS, {"i1": ("next:z:0", INT), "n1": ("n", INT), "x1": ("w:output:2", FLOAT)},
        const("one", 1), node("next", "AddV2", "i", "one:output:0", T=Type(INT)),
        const("zero", 0),
        node("w", "While", "zero:output:0", "n", "x", T=TYPES, cond=Ref("cond"), body=Ref("body")),
    )  # fmt: skip
    message = graph(
        X, const("start", 0), const("limit", 5),
        node("loop", "StatelessWhile", "start", "limit", "x", T=TYPES,
             cond=Ref("cond"), body=Ref("outer")),
        condition(), body(), inner,
    )  # fmt: skip
    assert analyse(message)[0].flops == 25 * PRODUCT


def test_a_loop_without_its_functions_is_not_counted():
    message = graph(X, node("loop", "While", "x", T=[FLOAT], cond=Ref("c"), body=Ref("b")))
    analysis, _ = analyse(message)
    assert analysis.verdicts[1].reason == "the function b is not in the graph's library"


def test_a_counter_that_becomes_an_empty_vector_does_not_crash():
    emptied = function(
        "body", VARS, {"i1": ("none:output:0", INT), "n1": ("n", INT), "x1": ("x", FLOAT)},
        node("none", "Const", dtype=Type(INT), value=const("c", rank=1).attr["value"].tensor),
    )  # fmt: skip
    analysis, engine = loop(const("start", 0), const("limit", 4), condition(), emptied)
    assert analysis.flops == 0
    assert len(engine.notes) == 1
