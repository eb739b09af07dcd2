"""Which name scope belongs to which Keras layer."""

from __future__ import annotations

from tfprof.capture.eager.layers import layer_renaming, scopes_of_layers
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.function_graphs import FunctionBody, LayerTree


def tree(name: str, *children: str | LayerTree) -> LayerTree:
    return LayerTree(name, [c if isinstance(c, LayerTree) else LayerTree(c) for c in children])


def test_a_number_is_taken_for_added_where_names_alone_do_not_tell() -> None:
    names = ["net_1/dense_1/MatMul", "net_1/dense_1_2/MatMul"]
    assert scopes_of_layers(names, [tree("net", "dense", "dense_1")]) == {
        "net_1": "net",
        "net_1/dense_1": "dense",
        "net_1/dense_1_2": "dense_1",
    }


def test_scopes_that_bear_their_layers_names_stay() -> None:
    names = ["net/dense/MatMul", "net/dense_1/MatMul"]
    assert scopes_of_layers(names, [tree("net", "dense", "dense_1")]) == {
        "net": "net",
        "net/dense": "dense",
        "net/dense_1": "dense_1",
    }


def test_a_layer_that_is_called_twice_keeps_the_second_scope() -> None:
    names = ["net/dense_1/MatMul", "net/dense_3/MatMul"]
    found = scopes_of_layers(names, [tree("net", "dense")])
    assert found == {"net": "net", "net/dense_1": "dense"}


def test_layers_are_looked_for_inside_their_parents_only() -> None:
    names = ["net_1/block_1/dense_1/MatMul", "loss/dense_1/MatMul", "wrapped/net_2/head_1/x"]
    model = tree("net", tree("block", "dense"), "head")
    assert scopes_of_layers(names, [model]) == {
        "net_1": "net",
        "net_1/block_1": "block",
        "net_1/block_1/dense_1": "dense",
        "wrapped/net_2": "net",
        "wrapped/net_2/head_1": "head",
    }


def body(*names: str) -> FunctionBody:
    return FunctionBody("f", [pb.NodeDef(name=name, op="NoOp") for name in names], 0, {}, {})


def test_gradients_are_renamed_like_the_ops() -> None:
    rename = layer_renaming([tree("net", "dense")])
    assert rename(body("net_1/dense_1/MatMul", "gradient_tape/net_1/dense_1/MatMul", "Add")) == {
        "net_1/dense_1/MatMul": "net/dense/MatMul",
        "gradient_tape/net_1/dense_1/MatMul": "gradient_tape/net/dense/MatMul",
    }


def test_no_two_nodes_get_one_name() -> None:
    rename = layer_renaming([tree("net", "dense")])
    renamed = rename(body("net/dense_1/x", "net/dense/x"))
    assert renamed == {}  # "dense" is the name of a node's scope already


def test_without_models_nothing_is_renamed() -> None:
    assert layer_renaming([])(body("net_1/dense_1/MatMul")) == {}
