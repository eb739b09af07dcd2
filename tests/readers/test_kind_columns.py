"""Kinds of nodes by columns are those that the nodes have one by one."""

import tfprof
from tests.analysis.interpreter.programs import FLOAT, Type, graph, node, placeholder, shape
from tfprof._wire import messages as pb
from tfprof.readers.profile_program import program_of_ops
from tfprof.readers.program import read_program

T = {"T": Type(FLOAT)}


def program(message, **options):
    return program_of_ops(tfprof.Profiler(message)._profile.ops, **options)


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


def test_variables_are_told_apart_by_name_only_if_wanted():
    message = graph(variable("v"), variable("w"))
    v, w = program(message).body.nodes
    assert (v.kind.attrs["shared_name"], w.kind.attrs["shared_name"]) == ("v", "w")
    v, w = program(message, keep_names=False).body.nodes
    assert v.kind is w.kind
    assert v.kind.attrs == {"dtype": 1, "shape": (3,)}


def test_told_float_operations_make_a_kind():
    message = graph(*(node(name, "Mystery") for name in "abc"))
    nodes = program(message, given_flops={0: 5, 2: 1 << 70}).body.nodes
    assert [each.kind.attrs for each in nodes] == [
        {"_tfprof_flops": 5}, {}, {"_tfprof_flops": 1 << 70},
    ]  # fmt: skip


def test_a_graph_without_nodes():
    assert len(program(graph()).body.nodes) == 0
