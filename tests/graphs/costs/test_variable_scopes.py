from tests.graphs.interpreter.programs import (
    FLOAT,
    RESOURCE,
    Ref,
    Type,
    analyse,
    function,
    graph,
    node,
    placeholder,
)
from tests.graphs.reports.programs import matmul, read, two_layers, variable
from tfprof.graphs.costs.variable_scopes import using_scopes
from tfprof.graphs.model.program import Variable


def users(message, **variables):
    analysis, _ = analyse(message)
    return using_scopes(analysis, [Variable(name, dims, 1) for name, dims in variables.items()])


def test_the_scope_of_a_variable_is_that_of_the_first_op_that_takes_it():
    shapes = {"dense1/w": (4, 3), "dense2/w": (3, 2), "spare/v": (5,)}
    assert users(two_layers(8), **shapes) == {
        "dense1/w": "dense1/MatMul",
        "dense2/w": "dense2/MatMul",
    }


def layer(*nodes):
    return function(
        "layer", {"x": FLOAT, "w": RESOURCE}, {"y": ("in/mm:product:0", FLOAT)},
        read("in/read", "w"), matmul("in/mm", "x", "in/read:value:0"), *nodes,
    )  # fmt: skip


CALL = {"f": Ref("layer"), "Tin": [FLOAT, RESOURCE], "Tout": [FLOAT]}


def test_functions_are_followed_for_each_call():
    message = graph(
        placeholder("x", 4, 4), variable("v", 4, 4), variable("w", 4, 4),
        node("first", "PartitionedCall", "x", "v", **CALL),
        node("second", "PartitionedCall", "first", "w", **CALL), layer(),
    )  # fmt: skip
    assert users(message, v=(4, 4), w=(4, 4)) == {"v": "first/in", "w": "second/in"}


def test_a_second_handle_of_a_variable_has_a_number_in_its_name():
    message = graph(
        placeholder("x", 4, 4), variable("w_1", 4, 4),
        node("StatefulPartitionedCall", "PartitionedCall", "x", "w_1", **CALL), layer(),
    )  # fmt: skip
    assert users(message, w=(4, 4)) == {"w": "in"}
    assert users(message, w=(4, 5)) == {}


def test_assignments_and_gradients_are_not_uses():
    message = graph(
        placeholder("x", 4, 4), variable("w", 4, 4),
        node("init/assign", "AssignVariableOp", "w", "x", dtype=Type(FLOAT)),
        read("gradients/read", "w"), read("net/read", "w"),
    )  # fmt: skip
    assert users(message, w=(4, 4)) == {"w": "net"}


def test_frozen_weights():
    message = graph(
        placeholder("x", 4, 4), placeholder("c", 4, 4), node("w", "Const", dtype=Type(FLOAT)),
        node("w/read", "Identity", "w"), matmul("net/mm", "x", "w/read"),
    )  # fmt: skip
    assert users(message, w=(4, 4)) == {"w": "net"}
