"""Kinds of nodes by columns are those that the nodes have one by one."""

import pytest

import tfprof
from tests.graphs.interpreter.programs import (
    FLOAT,
    Ref,
    Type,
    function,
    graph,
    node,
    placeholder,
    shape,
)
from tfprof.core.wire import messages as pb
from tfprof.graphs.read.program import read_program
from tfprof.profiles.float_ops.profile_flops import program_of_ops

T = {"T": Type(FLOAT)}


def program(message, **options):
    return program_of_ops(tfprof.Profiler(message)._session.profile.ops, **options)


def variable(name):
    return node(name, "VarHandleOp", dtype=Type(FLOAT), shape=shape(3), shared_name=name,
                container="", debug_name=name)  # fmt: skip


def test_nodes_are_those_of_the_graph():
    large = pb.TensorProto(dtype=1, tensor_shape=shape(100, 100), tensor_content=bytes(40000))
    message = graph(
        placeholder("x", None, 4),
        node("a", "Relu", "x", _private=3, **T),
        node("b", "Relu", "a", "^x", **T),
        node("c", "Const", value=large),
        node("d", "Const", value=large),
        node("e", "MatMul", "nowhere", "b:1", transpose_a=True, **T),
        variable("v"),
    )
    expected = read_program(message).body.nodes
    found = program(message).body.nodes
    assert [each.name for each in found] == [each.name for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one._replace(kind=None) == other._replace(kind=None)
        assert (one.kind.op, one.kind.attrs) == (other.kind.op, other.kind.attrs)
        assert one.kind.output_types == other.kind.output_types
        assert one.kind.stateful == other.kind.stateful
    assert found[-1] is found[len(found) - 1]
    assert found[1:3] == [found[1], found[2]]


def test_the_order_of_attributes_makes_no_kind():
    one = pb.NodeDef(name="a", op="MatMul")
    entries = [
        pb.NodeDef(attr={name: pb.AttrValue(b=True)}).SerializeToString()
        for name in ("transpose_a", "transpose_b")
    ]
    other = pb.NodeDef(name="b", op="MatMul").SerializeToString()
    data = b"".join(
        b"\n" + bytes([len(each)]) + each
        for each in (
            one.SerializeToString() + entries[0] + entries[1],
            other + entries[1] + entries[0],
        )
    )
    nodes = program(data).body.nodes
    assert nodes[0].kind is nodes[1].kind
    assert nodes[0].kind.attrs == {"transpose_a": True, "transpose_b": True}


def test_variables_are_distinguished_by_name_only_on_request():
    message = graph(variable("v"), variable("w"))
    v, w = program(message).body.nodes
    assert (v.kind.attrs["shared_name"], w.kind.attrs["shared_name"]) == ("v", "w")
    v, w = program(message, keep_names=False).body.nodes
    assert v.kind is w.kind
    assert v.kind.attrs == {"dtype": 1, "shape": (3,)}


def relu(name, arg, *dims, op="Relu", **attrs):
    """A function of one node with a declared shape; all its names are its own."""
    inner = node(f"{name}_relu", op, arg, **T, **attrs)
    inner.attr["_output_shapes"].list.shape.append(shape(*dims))
    return function(name, {arg: FLOAT}, {f"{name}_out": (f"{name}_relu:activations:0", FLOAT)},
                    inner)  # fmt: skip


def callers(*functions, **options):
    """Kinds of the nodes that call functions."""
    calls = [
        node(f"call_{each.signature.name}", "PartitionedCall", "x", f=Ref(each.signature.name),
             Tin=[FLOAT], Tout=[FLOAT])
        for each in functions
    ]  # fmt: skip
    found = program(graph(placeholder("x", 4), *calls, *functions), **options)
    return [each.kind for each in list(found.body.nodes)[1:]], found


def test_functions_equal_but_for_names_share_a_body():
    functions = relu("f", "a", 4), relu("g", "b", 4), relu("h", "c", 5)
    (f, g, h), found = callers(*functions, keep_names=False)
    assert f is g is not h
    assert found.function("f") is found.function("g") is not found.function("h")
    (f, g, _), found = callers(*functions)
    assert f is not g
    assert (g.attrs["f"].name, found.function("g").name) == ("g", "g")
    assert [each.name for each in found.function("g").nodes] == ["b", "g_relu"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"dims": (None,)}, id="an unknown size has a name"),
        pytest.param({"op": "other"}, id="a function that it calls may not"),
        pytest.param({"f": Ref("other")}, id="nor one that an attribute names"),
        pytest.param({"f": [Ref("other")]}, id="nor one of several"),
        pytest.param({"frame_name": "loop"}, id="runs tell of loops by name"),
    ],
)
def test_functions_in_which_names_tell_something_have_bodies_of_their_own(change):
    dims = change.get("dims", (4,))
    more = {key: value for key, value in change.items() if key != "dims"}
    functions = relu("f", "a", *dims, **more), relu("g", "b", *dims, **more)
    (f, g, _), found = callers(*functions, relu("other", "c", 4), keep_names=False)
    assert f is not g
    assert found.function("f") is not found.function("g")


def test_told_float_operations_make_a_kind():
    message = graph(*(node(name, "Mystery") for name in "abc"))
    nodes = program(message, given_flops={0: 5, 2: 1 << 70}).body.nodes
    assert [each.kind.attrs for each in nodes] == [
        {"_tfprof_flops": 5}, {}, {"_tfprof_flops": 1 << 70},
    ]  # fmt: skip


def test_a_graph_without_nodes():
    assert len(program(graph()).body.nodes) == 0
