"""The graph of what ran, from function bodies built by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tfprof.capture.eager.events import Dataset, Execution
from tfprof.capture.eager.graph import ProgramGraph
from tfprof.capture.eager.recorder import EagerOp
from tfprof.core.columns.frames import Frame
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.function_graphs import FunctionBody
from tfprof.testing.builders import op

HERE = (Frame("program.py", "main", 3, "f(x)"),)


def body(name: str, *nodes: pb.NodeDef, args: tuple[str, ...] = (), **results: str) -> FunctionBody:
    return FunctionBody(name, [*(op(arg, "_Arg") for arg in args), *nodes], len(args), results, {})


def calling(name: str, op_type: str, *inputs: str, **functions: str) -> pb.NodeDef:
    node = op(name, op_type, *inputs)
    for key, function in functions.items():
        node.attr[key].func.name = function
    return node


def call(name: str, start: int = 0) -> Execution:
    return Execution(name, name, start, 10, calls_function=True)


def ran(name: str, op_type: str, parent: Execution | Dataset | None) -> Execution:
    return Execution(name, op_type, 1, 1, owner=parent)


def graph(*bodies: FunctionBody) -> ProgramGraph:
    return ProgramGraph({body.name: body for body in bodies}, [], lambda _: {})


def names(program: ProgramGraph, *executions: Execution) -> list[str]:
    return program.names(executions)


def edges(program: ProgramGraph) -> Mapping[str, list[str]]:
    return {name: list(node.input) for name, node in program.nodes.items()}


def test_data_flow_into_and_out_of_called_functions() -> None:
    program = graph(
        body(
            "__inference_f_1",
            calling("call", "PartitionedCall", "x", f="g"),
            op("out", "Neg", "call:0"),
            args=("x",),
            result="out:0",
        ),
        body("g", op("double", "Add", "a", "a"), args=("a",), result="double:0"),
    )
    f = call("__inference_f_1")
    assert names(program, f, ran("call/double", "Add", f)) == ["", "f/call/double"]
    assert edges(program) == {
        "f/x": [],
        "f/call": ["f/x", "^f/call/double"],
        "f/out": ["f/call:0"],
        "f/call/a": ["f/x"],
        "f/call/double": ["f/call/a", "f/call/a"],
    }
    assert ("f/call/double:0", "f/call:0") in program.same


@pytest.mark.parametrize("numbered", ["loop/body/_4/step", "loop/body/step"])
def test_bodies_of_loops_have_no_numbers(numbered: str) -> None:
    program = graph(
        body("__inference_f_1", calling("loop", "While", "x", body="b", cond="c"), args=("x",)),
        body("b", op("step", "Neg", "a"), args=("a",), result="step:0"),
        body("c", op("test", "Less", "a"), args=("a",), result="test:0"),
    )
    f = call("__inference_f_1")
    assert names(program, f, ran(numbered, "Neg", f)) == ["", "f/loop/body/step"]
    assert edges(program)["f/loop/body/a"] == ["f/x"]
    assert program.same.count(("f/loop/body/step:0", "f/loop:0")) == 1
    assert ("f/loop/cond/test:0", "f/loop:0") not in program.same


def test_branches_do_not_take_the_predicate() -> None:
    program = graph(
        body(
            "__inference_f_1",
            calling("if", "If", "p", "x", then_branch="t", else_branch="e"),
            args=("p", "x"),
        ),
        body("t", args=("a",), result="a:0"),
        body("e", args=("a",), result="a:0"),
    )
    names(program, call("__inference_f_1"))
    assert edges(program)["f/if/then/a"] == ["f/x"]
    assert edges(program)["f/if/else/a"] == ["f/x"]


def test_ops_of_the_optimizer_become_nodes_of_their_type() -> None:
    program = graph(body("__inference_f_1", op("x", "Neg")))
    f = call("__inference_f_1")
    assert names(program, f, ran("x/made-up", "_Copy", f)) == ["", "f/x/made-up"]
    assert program.nodes["f/x/made-up"].op == "_Copy"


def test_ops_of_the_optimizer_stand_in_the_renamed_scope_of_their_neighbours() -> None:
    bodies = {"__inference_f_1": body("__inference_f_1", op("dense_1/mm", "MatMul"))}
    program = ProgramGraph(bodies, [], lambda _: {"dense_1/mm": "dense/mm"})
    f = call("__inference_f_1")
    made = [ran("dense_1/mm", "MatMul", f), ran("dense_1/made/up", "Mul", f), ran("up", "Mul", f)]
    assert names(program, f, *made)[1:] == ["f/dense/mm", "f/dense/made/up", "f/up"]


def test_ops_that_no_line_made_show_the_line_of_the_call() -> None:
    restored = body("restored", op("mm", "MatMul"))
    line = EagerOp(op("call", "restored"), [], [], [], [], [("program.py", 3, "main")])
    program = ProgramGraph({"restored": restored}, [line], lambda _: {})
    f = call("restored")
    f.eager_index = 0
    names(program, f, ran("mm", "MatMul", f), ran("made", "Mul", f), ran("alone", "Mul", None))
    shown = {name: [frame.line_number for frame in stack] for name, stack in program.stacks.items()}
    assert shown == {"restored/mm": [3], "restored/made": [3]}


def test_a_fused_kernel_is_the_product_at_its_root() -> None:
    program = graph(
        body(
            "__inference_f_1",
            op("mm", "MatMul", "x", "w"),
            op("bias", "BiasAdd", "mm:0", "b"),
            op("relu", "Relu", "bias:0"),
            op("alone", "Relu", "x"),
            args=("x", "w", "b"),
        )
    )
    f = call("__inference_f_1")
    fused = [
        ran("relu", "_FusedMatMul", f),
        ran("relu", "_MklNativeFusedMatMul", f),
        ran("relu", "_FusedConv2D", f),
        ran("alone", "_FusedMatMul", f),
        ran("relu", "Relu", f),
    ]
    assert names(program, f, *fused)[1:] == ["f/mm", "f/mm", "f/relu", "f/alone", "f/relu"]


def test_a_function_that_calls_itself_ends() -> None:
    program = graph(
        body("__inference_f_1", calling("again", "PartitionedCall", f="__inference_f_1"))
    )
    names(program, call("__inference_f_1"))
    assert list(program.nodes) == ["f/again", "f"]


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("__inference_train_step_123", "train_step"),
        ("__forward_model_7", "model"),
        ("__backward_model_8", "model_backward"),
        ("__inference___backward_model_8_9", "model_backward"),
        ("restored_function", "restored_function"),
    ],
)
def test_functions_are_named_as_in_the_program(name: str, scope: str) -> None:
    assert names(graph(), call(name)) == [scope]


def test_functions_of_one_name_are_numbered_in_the_order_of_their_calls() -> None:
    first, second = call("__inference_f_9", 1), call("__inference_f_1", 2)
    assert names(graph(), first, second) == ["f", "f_1"]


def test_what_an_input_pipeline_runs() -> None:
    executions = [
        ran("x", "Mul", Dataset("Map")),
        ran("y", "Mul", Dataset("")),
        ran("z", "Z", None),
    ]
    assert names(graph(), *executions) == ["tf.data/Map/x", "tf.data/y", "z"]
