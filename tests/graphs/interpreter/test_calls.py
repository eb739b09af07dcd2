"""Functions: plain calls, conditionals, maps. Numbers are worked out by hand."""

import pytest

from tests.graphs.interpreter.programs import (
    BOOL,
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

PRODUCT = 2 * 8 * 8 * 8
SQUARE = function(
    "square", {"x": FLOAT}, {"y": ("mm:product:0", FLOAT)},
    node("mm", "MatMul", "x", "x", T=Type(FLOAT)),
)  # fmt: skip
RELU = function(
    "relu", {"x": FLOAT}, {"y": ("r:activations:0", FLOAT)},
    node("r", "Relu", "x", T=Type(FLOAT)),
)  # fmt: skip
CALL = {"Tin": [FLOAT], "Tout": [FLOAT]}
BRANCHES = {"then_branch": Ref("square"), "else_branch": Ref("relu")}
X = placeholder("x", 8, 8)


def call(name, source, callee, **attrs):
    return node(name, "PartitionedCall", source, f=Ref(callee), **{**CALL, **attrs})


def test_a_function_is_counted_for_each_call():
    analysis, engine = analyse(graph(X, call("a", "x", "square"), call("b", "a", "square"), SQUARE))
    assert analysis.flops == 2 * PRODUCT
    assert analysis.cost.macs == PRODUCT
    assert engine.notes == {}
    assert analysis.outputs[2][0].shape == (8, 8)


def test_functions_call_functions():
    twice = function(
        "twice", {"x": FLOAT}, {"y": ("b:output:0", FLOAT)},
        call("a", "x", "square"), call("b", "a:output:0", "square"),
    )  # fmt: skip
    analysis, _ = analyse(graph(X, call("c", "x", "twice"), twice, SQUARE))
    assert analysis.flops == 2 * PRODUCT


def test_a_function_is_walked_once_for_each_shape():
    y = placeholder("y", None, 8)
    analysis, _ = analyse(
        graph(X, y, call("a", "x", "square"), call("b", "y", "relu"), SQUARE, RELU)
    )
    assert str(analysis.flops) == "8·B + 1,024"
    first, second = (analysis.calls[place][0].analysis for place in (2, 3))
    assert first is not second
    analysis, _ = analyse(graph(X, call("a", "x", "square"), call("b", "x", "square"), SQUARE))
    assert analysis.calls[1][0].analysis is analysis.calls[2][0].analysis


def test_what_a_function_does_not_need_does_not_run():
    idle = function(
        "idle", {"x": FLOAT}, {"y": ("r:activations:0", FLOAT)},
        node("mm", "MatMul", "x", "x", T=Type(FLOAT)), node("r", "Relu", "x", T=Type(FLOAT)),
    )  # fmt: skip
    analysis, _ = analyse(graph(X, call("a", "x", "idle"), idle))
    assert analysis.flops == 64


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([call("a", "x", "missing")], "the function missing is not in the graph's library"),
        ([node("a", "PartitionedCall", "x", **CALL)], "does not say which function is called"),
        (
            [
                call("a", "x", "loop"),
                function(
                    "loop", {"x": FLOAT}, {"y": ("b:output:0", FLOAT)}, call("b", "x", "loop")
                ),
            ],
            "the function loop calls itself",
        ),
    ],
)
def test_calls_that_cannot_be_followed_say_why(parts, reason):
    analysis, _ = analyse(graph(X, *parts))
    verdict = analysis.verdicts[1]
    inner = analysis.calls[1][0].analysis.verdicts[1] if analysis.calls[1] else verdict
    assert inner.status.value == "not counted"
    assert reason in inner.reason


@pytest.mark.parametrize("op", ["If", "StatelessIf"])
def test_of_two_branches_the_costlier_one_counts(op):
    choice = node("c", op, "p", "x", Tcond=Type(BOOL), **CALL, **BRANCHES)
    analysis, engine = analyse(graph(X, placeholder("p", dtype=BOOL), choice, SQUARE, RELU))
    assert analysis.flops == PRODUCT
    assert [(c.role, c.times) for c in analysis.calls[2]] == [
        ("then_branch", 1),
        ("else_branch", 0),
    ]
    assert list(engine.notes) == [
        "where a condition is unknown, the most expensive branch is counted"
    ]
    assert analysis.outputs[2][0].shape == (8, 8)


def test_a_known_condition_chooses():
    choice = node("c", "If", "p", "x", Tcond=Type(INT), **CALL, **BRANCHES)
    analysis, engine = analyse(graph(X, const("p", 0), choice, SQUARE, RELU))
    assert analysis.flops == 64
    assert engine.notes == {}


def test_observed_runs_choose():
    choice = node("c", "If", "p", "x", Tcond=Type(BOOL), **CALL, **BRANCHES)
    message = graph(X, placeholder("p", dtype=BOOL), choice, SQUARE, RELU)
    analysis, _ = analyse(message, branch_runs={"c": {"else_branch": 3}})
    assert analysis.flops == 64


@pytest.mark.parametrize(("index", "expected"), [(0, PRODUCT), (1, 64), (7, 64), (None, PRODUCT)])
def test_case(index, expected):
    choice = node("c", "Case", "i", "x", **CALL, branches=[Ref("square"), Ref("relu")])
    which = placeholder("i", dtype=INT) if index is None else const("i", index)
    analysis, _ = analyse(graph(X, which, choice, SQUARE, RELU))
    assert analysis.flops == expected


def test_branches_that_disagree_about_a_size_leave_it_open():
    wide = function(
        "wide", {"x": FLOAT}, {"y": ("p:output:0", FLOAT)},
        const("zero", 0), node("p", "ConcatV2", "x", "x", "zero:output:0", N=2, T=Type(FLOAT)),
    )  # fmt: skip
    choice = node("c", "If", "p", "x", Tcond=Type(BOOL), **CALL,
                  then_branch=Ref("wide"), else_branch=Ref("relu"))  # fmt: skip
    after = node("r", "Relu", "c", T=Type(FLOAT))
    analysis, _ = analyse(graph(X, placeholder("p", dtype=BOOL), choice, after, wide, RELU))
    assert str(analysis.outputs[2][0].shape) == "(<c[0]>, 8)"
    assert str(analysis.flops) == "8·c[0] + 64"


def test_a_map_runs_once_for_each_element():
    mapped = node(
        "m", "MapDefun", "x", f=Ref("relu"), Targuments=[FLOAT], Tcaptured=[], output_types=[FLOAT]
    )
    analysis, _ = analyse(graph(placeholder("x", None, 5), mapped, RELU))
    assert str(analysis.flops) == "5·B"
    assert str(analysis.outputs[1][0].shape) == "(<B>, 5)"


def test_a_function_as_an_op_type():
    analysis, _ = analyse(graph(X, node("a", "square", "x"), SQUARE))
    assert analysis.flops == PRODUCT


@pytest.mark.parametrize("op", ["SymbolicGradient", "XlaCallModule"])
def test_other_files_than_graphs_are_not_counted(op):
    analysis, _ = analyse(graph(X, node("a", op, "x", **CALL)))
    assert analysis.verdicts[1].status.value == "not counted"
    assert analysis.flops == 0


def test_functions_nested_a_thousand_times():
    chain = [
        function(f"f{i}", {"x": FLOAT}, {"y": ("b:output:0", FLOAT)},
                 call("a", "x", f"f{i + 1}"), call("b", "a:output:0", f"f{i + 1}"))
        for i in range(1000)
    ]  # fmt: skip
    last = function("f1000", {"x": FLOAT}, {"y": ("r:activations:0", FLOAT)},
                    node("r", "Relu", "x", T=Type(FLOAT)))  # fmt: skip
    analysis, _ = analyse(graph(X, call("c", "x", "f0"), *chain, last))
    assert analysis.flops == 64 * 2**1000
