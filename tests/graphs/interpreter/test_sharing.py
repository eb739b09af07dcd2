"""What was found of a node holds for nodes like it: the results are those of one by one."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfprof
from tests.graphs.interpreter.control_flow import conditional, loop
from tests.graphs.interpreter.programs import (
    FLOAT,
    INT,
    Ref,
    Type,
    const,
    function,
    graph,
    node,
    placeholder,
    shape,
)
from tfprof.graphs.flops.registry import all_formulas
from tfprof.graphs.interpreter.engine import Engine, Settings
from tfprof.graphs.read.program import read_program

pytestmark = pytest.mark.slow

T = {"T": Type(FLOAT)}
SQUARE = function("square", {"x": FLOAT}, {"y": ("mm:product:0", FLOAT)},
                  node("mm", "MatMul", "x", "x", **T))  # fmt: skip
TWICE = function("twice", {"x": FLOAT}, {"y": ("b:output:0", FLOAT)},
                 node("a", "PartitionedCall", "x", Tin=[FLOAT], Tout=[FLOAT], f=Ref("square")),
                 node("b", "PartitionedCall", "a:output:0", Tin=[FLOAT], Tout=[FLOAT],
                      f=Ref("square")))  # fmt: skip
ITSELF = function(
    "itself",
    {"x": FLOAT},
    {"y": ("a:output:0", FLOAT)},
    node("a", "PartitionedCall", "x", Tin=[FLOAT], Tout=[FLOAT], f=Ref("itself")),
)


class Forgetful(dict):
    """Keeps nothing."""

    def __setitem__(self, key, value):
        pass


def engine_of(program, **given):
    formulas, free = all_formulas()
    return Engine(program, Settings(formulas=formulas, free=free, **given))


def facts(analysis):
    """All that a walk has found, functions included."""
    calls = {
        place: [(call.role, str(call.times), facts(call.analysis)) for call in each]
        for place, each in analysis.calls.items()
    }
    verdicts = {
        place: (each.status, str(each.cost), each.reason)
        for place, each in analysis.verdicts.items()
    }
    times = {place: str(number) for place, number in analysis.times.items()}
    return (
        list(analysis.order), analysis.outputs, verdicts, times, calls, str(analysis.results),
        str(analysis.flops), str(analysis.cost.macs),
    )  # fmt: skip


def check(message, **given):
    """Compare the walks over a graph, over that of a profile, and without a memory."""
    remembering = engine_of(read_program(message), **given)
    expected = facts(remembering.run())
    program = tfprof.Profiler(message).__seen_program__(True).program
    forgetful = engine_of(program, **given)
    forgetful._settled = Forgetful()
    forgetful._inferred = Forgetful()
    for engine in (engine_of(program, **given), forgetful):
        assert facts(engine.run()) == expected
        assert engine.notes == remembering.notes
        assert engine.sizes.batch_is_free == remembering.sizes.batch_is_free
    return expected


def declared(message, *shapes):
    """The node with shapes of its outputs, as TensorFlow writes them down."""
    for dims in shapes:
        message.attr["_output_shapes"].list.shape.append(
            shape(*dims) if dims is not None else shape_of_unknown_rank()
        )
    return message


def shape_of_unknown_rank():
    message = shape()
    message.unknown_rank = True
    return message


DIMS = st.one_of(st.none(), st.lists(st.sampled_from((None, 2, 4)), max_size=3).map(tuple))


CALLED = {"Tin": [FLOAT], "Tout": [FLOAT]}
OPS = {
    "Relu": lambda name, one, other: node(name, "Relu", one, **T),
    "AddV2": lambda name, one, other: node(name, "AddV2", one, other, **T),
    "MatMul": lambda name, one, other: node(name, "MatMul", one, other, **T),
    "AddN": lambda name, one, other: node(name, "AddN", one, other, one, N=3, **T),
    "Split": lambda name, one, other: node(name, "Split", "zero", one, num_split=2, **T),
    "If": lambda name, one, other: node(
        name, "If", "p", one, then_branch=Ref("square"), else_branch=Ref("twice"), **CALLED
    ),
    "Twice": lambda name, one, other: node(name, "PartitionedCall", one, f=Ref("twice"), **CALLED),
    "Itself": lambda name, one, other: node(
        name, "PartitionedCall", one, f=Ref("itself"), **CALLED
    ),
    "ShapeN": lambda name, one, other: node(
        name, "ShapeN", one, other, N=2, out_type=Type(INT), **T
    ),
    "Reshape": lambda name, one, other: node(name, "Reshape", one, "n", **T),
    "Reshaped": lambda name, one, other: node(name, "Reshape", one, other, **T),
    "Mystery": lambda name, one, other: node(name, "Mystery", one, f"^{other.partition(':')[0]}"),
    "Input": lambda name, one, other: placeholder(name, None, 4),
}


@st.composite
def graphs(draw):
    """Graphs whose declared shapes may be missing, unknown or wrong."""
    nodes = [placeholder("x", *draw(st.sampled_from(((4, 4), (None, 4), (2, 4))))), const("n", 4)]
    names = ["x"]
    for number in range(draw(st.integers(1, 12))):
        op = draw(st.sampled_from(sorted(OPS)))
        name = f"{op}{number}"
        made = OPS[op](name, draw(st.sampled_from(names)), draw(st.sampled_from(names)))
        if draw(st.booleans()):
            declared(made, *draw(st.lists(DIMS, min_size=1, max_size=2)))
        nodes.append(made)
        names += [name, f"{name}:1"] if op in ("Split", "ShapeN") else [name]
    head = [const("zero", 0), node("p", "Placeholder", dtype=Type(10), shape=shape())]
    return graph(*head, *nodes, SQUARE, TWICE, ITSELF)


@pytest.mark.thorough
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.sampled_from((None, 8)))
def test_shared_results_are_those_of_each_node(message, batch):
    check(message, batch=batch)


def test_loops_and_conditionals():
    x = placeholder("x", 8, 8)
    p = node("p", "Placeholder", dtype=Type(10), shape=shape())
    check(graph(x, p, *loop(const("n", 6)), *conditional("p"), *conditional("p", "d/", "w/out")))


def test_conditionals_of_which_runs_tell():
    branch = {"Tin": [FLOAT], "Tout": [FLOAT],
              "then_branch": Ref("square"), "else_branch": Ref("twice")}  # fmt: skip
    message = graph(
        placeholder("x", 4, 4), node("p", "Placeholder", dtype=Type(10), shape=shape()),
        *[node(name, "If", "p", "x", **branch) for name in "abcd"], SQUARE, TWICE,
    )  # fmt: skip
    seen = {"b": {"then_branch": 1}, "c": {"then_branch": 1, "else_branch": 3}}
    engine = engine_of(tfprof.Profiler(message).__seen_program__(True).program, branch_runs=seen)
    analysis = engine.run()
    times = [[str(call.times) for call in analysis.calls[place]] for place in (2, 3, 4, 5)]
    assert times == [["0", "1"], ["1", "0"], ["1/4", "3/4"], ["0", "1"]]
    check(message, branch_runs=seen)


def test_a_function_that_calls_itself_is_not_taken_for_its_call():
    call = {"Tin": [FLOAT], "Tout": [FLOAT], "f": Ref("itself")}
    found = check(graph(placeholder("x", 4, 4), node("a", "PartitionedCall", "x", **call),
                        node("b", "PartitionedCall", "x", **call), ITSELF))  # fmt: skip
    ((_, _, inner),) = found[4][2]
    assert inner[2][1][2] == "the function itself calls itself"


@pytest.mark.parametrize("order", [("r", "x"), ("x", "r")])
def test_nodes_in_any_order(order):
    nodes = {"x": placeholder("x", 4, 4), "r": node("r", "Relu", "x", **T)}
    found = check(graph(*(nodes[name] for name in order)))
    assert found[6] == "16"
