"""Variables of plain graphs, and weights of frozen ones."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tfprof.core.wire import messages as pb
from tfprof.graphs.costs.graph_variables import GraphVariables, variables_of_graph
from tfprof.graphs.costs.params import params_report
from tfprof.graphs.model.program import Variable
from tfprof.graphs.read.program import read_program
from tfprof.testing.builders import graph, op

FLOAT, INT = pb.DataType.DT_FLOAT, pb.DataType.DT_INT32


def variable(name: str, *shape: int, type_: str = "VarHandleOp", shared: str = "") -> pb.NodeDef:
    node = op(name, type_, shape=shape, shared_name=shared)
    node.attr["dtype"].type = FLOAT
    return node


def constant(name: str, *shape: int, dtype: int = FLOAT) -> pb.NodeDef:
    node = op(name, "Const")
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.dtype = dtype
    for dim in shape:
        node.attr["value"].tensor.tensor_shape.dim.add(size=dim)
    return node


def found(*nodes: pb.NodeDef, trainable: Any = None, library: Any = ()) -> GraphVariables:
    definition = graph(*nodes)
    definition.library.function.extend(library)
    program = read_program(definition)
    return variables_of_graph(program.body, trainable, program.function)


def names(result: GraphVariables) -> list[str]:
    return [each.name for each in result.variables]


@pytest.mark.parametrize("type_", ["VarHandleOp", "VariableV2", "Variable", "AutoReloadVariable"])
def test_declared_variables(type_: str) -> None:
    result = found(variable("w", 4, 3, type_=type_), constant("c", 3))
    assert result == GraphVariables([Variable("w", (4, 3), FLOAT, None)], ())


def test_collections_tell_which_train() -> None:
    nodes = [variable("w", 4, 3), variable("bn/mean", 3)]
    assert found(*nodes, trainable=["w"]).variables == [
        Variable("w", (4, 3), FLOAT, True),
        Variable("bn/mean", (3,), FLOAT, False),
    ]


@pytest.mark.parametrize("trainable", [None, {"dense/w", "b"}])
def test_variables_of_optimizers_do_not_count(trainable: Any) -> None:
    result = found(
        variable("dense/w", 4, 3),
        variable("b", 3),
        variable("dense/w/Adam", 4, 3),
        variable("dense/w/Adam_1", 4, 3),
        variable("training/b/Momentum", 3),
        variable("training/beta1_power"),
        variable("beta2_power_1"),
        variable("global_step"),
        trainable=trainable,
    )
    assert names(result) == ["dense/w", "b"]
    assert result.notes == ("6 variables are left out: by their names, they belong to optimizers",)


def test_handles_of_one_shared_variable_are_one() -> None:
    result = found(
        variable("a", 2, shared="same"),
        variable("b", 2, shared="same"),
        variable("c", 3, shared="same"),
        variable("d", 2),
        variable("e", 2),
    )
    assert names(result) == ["a", "c", "d", "e"]


def test_attributes_that_are_missing_are_unknown() -> None:
    assert found(op("w", "VarHandleOp")).variables == [Variable("w", None, 0, None)]


def test_frozen_weights() -> None:
    result = found(
        op("x", "Placeholder"),
        constant("kernel", 3, 3, 3, 8),
        op("kernel/read", "Identity", "kernel"),
        op("conv", "Conv2D", "x", "kernel/read"),
        constant("scale", 8),
        op("mul", "Mul", "conv", "scale"),
        constant("bias", 1, 1, 1, 8),
        op("add", "AddV2", "mul", "bias"),
        constant("mask", 8, 8),
        op("masked", "Mul", "add", "mask"),
        constant("epsilon"),
        op("plus", "AddV2", "masked", "epsilon"),
        constant("one", 1),
        op("plus_one", "AddV2", "plus", "one"),
        constant("shape", 2, dtype=INT),
        op("flat", "Reshape", "plus_one", "shape"),
        constant("indices", 5, dtype=INT),
        op("pick", "GatherV2", "flat", "indices"),
        constant("unused", 4, 4),
    )
    assert result.variables == [
        Variable("kernel", (3, 3, 3, 8), FLOAT, None),
        Variable("scale", (8,), FLOAT, None),
        Variable("bias", (1, 1, 1, 8), FLOAT, None),
    ]
    assert result.notes == (
        "the graph has no variables: these are 3 frozen constants that are used as weights",
    )


def test_frozen_weights_in_another_form() -> None:
    chain = [
        op("a", "Cast", "w"),
        op("b", "Enter", "a"),
        op("c", "Transpose", "b", "order"),
        op("d", "FakeQuantWithMinMaxVars", "c", "low", "high"),
        op("e", "MatMul", "x", "d"),
    ]
    order = constant("order", 2)  # float on purpose: only the first input is the weight
    assert names(found(*reversed(chain), constant("w", 4, 3), order)) == ["w"]


def function(name: str, n_args: int, *nodes: pb.NodeDef) -> pb.FunctionDef:
    definition = pb.FunctionDef(node_def=nodes)
    definition.signature.name = name
    for place in range(n_args):
        definition.signature.input_arg.add(name=f"arg{place}", type=FLOAT)
    return definition


def called(name: str, type_: str, *inputs: str, **functions: str) -> pb.NodeDef:
    node = op(name, type_, *inputs)
    for attr, callee in functions.items():
        node.attr[attr].func.name = callee
    return node


def test_frozen_weights_go_through_calls_and_loops() -> None:
    inner = function("inner", 2, op("mm", "MatMul", "arg0", "arg1"))
    body = function("body", 3, called("call", "PartitionedCall", "arg0", "arg2", f="inner"))
    body.node_def.append(op("same", "Identity", "arg2"))
    for place, tensor in enumerate(["call:output:0", "arg1", "same:output:0"]):
        body.signature.output_arg.add(name=f"result{place}", type=FLOAT)
        body.ret[f"result{place}"] = tensor
    condition = function("cond", 3, op("less", "Less", "arg0", "arg1"))
    own = function("own", 1, constant("k", 2, 2), op("mm", "MatMul", "arg0", "k:output:0"))
    library = [inner, body, condition, own]
    loop_only = [
        constant("start", 4, 3),
        constant("limit", 3, 3),
        constant("w", 3, 3),
        called("loop", "While", "start", "limit", "w", cond="cond", body="body"),
    ]
    branch = called("if", "If", "limit", "start", then_branch="own", else_branch="own")
    result = found(*loop_only, branch, library=library)
    # "start" goes into the first product of the loop, but as a state that the loop changes; that it
    # goes into the product of a branch, too, is what makes it count.
    assert names(result) == ["start", "w", "own/k"]
    assert names(found(*loop_only, library=library)) == ["w"]


def test_functions_that_call_themselves_end() -> None:
    loop = function(
        "loop",
        2,
        called("again", "PartitionedCall", "arg1", "arg0", f="loop"),
        op("mm", "MatMul", "arg0", "arg0"),
    )
    result = found(
        constant("a", 2, 2),
        constant("b", 2, 2),
        called("call", "PartitionedCall", "a", "b", f="loop"),
        library=[loop],
    )
    assert names(result) == ["a", "b"]


def test_cycles_and_broken_edges_end() -> None:
    result = found(
        op("a", "Identity", "b"),
        op("b", "Identity", "a"),
        op("mm", "MatMul", "a", "nowhere"),
        called("call", "PartitionedCall", "a", f="missing"),
        op("empty", "Identity"),
    )
    assert result == GraphVariables([], ())


@pytest.mark.tensorflow
def test_a_frozen_keras_model() -> None:
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")
    convert = pytest.importorskip("tensorflow.python.framework.convert_to_constants")
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3),
            layers.BatchNormalization(),
            layers.Reshape((-1, 4)),
            layers.LSTM(5),
            layers.LayerNormalization(),
            layers.Dense(2),
        ]
    )
    traced = tf.function(lambda x: model(x, training=False)).get_concrete_function(
        tf.TensorSpec([1, 8, 8, 3])
    )
    frozen = convert.convert_variables_to_constants_v2(traced, lower_control_flow=False)
    program = read_program(pb.GraphDef.FromString(frozen.graph.as_graph_def().SerializeToString()))
    result = variables_of_graph(program.body, None, program.function)
    elements = [math.prod(each.shape or ()) for each in result.variables]
    assert sum(elements) == model.count_params()


def test_a_shape_that_is_a_function_is_unknown() -> None:
    node = variable("v")
    node.attr["shape"].func.name = "body"
    assert all(size is None for one in found(node).variables for size in one.shape or (None,))
    assert params_report(found(node).variables).rows[0].params is None
