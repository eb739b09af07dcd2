from tfprof.graphs.read.graphdef import read_graph
from tfprof.profiles.accounting.op_facts import CONTROL_INPUT, OpInputs
from tfprof.profiles.model.ops import OpTable
from tfprof.testing.builders import graph, op


def dims_of(*nodes, name="y", classic=False):
    """Input shapes of one op; None for a control input."""
    ops = OpTable()
    ops.add_graph(read_graph(graph(*nodes)))
    shapes = OpInputs.of(ops, classic=classic).shapes
    return [
        None if shape_id == CONTROL_INPUT else shapes.dims[shape_id]
        for shape_id in shapes.of(ops.row(name))
    ]


SPLIT = op("s", "Split", outputs=[[2, 3], [4, -1], "?", []])


def test_each_input_has_the_shape_of_the_output_it_reads():
    node = op("y", "F", "s", "s:1", "s:2", "s:3", "s:4")
    assert dims_of(SPLIT, node) == [(2, 3), (4, -1), (), (1,), ()]


def test_unknown_and_silent_producers_have_no_shape():
    node = op("y", "F", "ghost", "mute", "s")
    assert dims_of(SPLIT, op("mute"), node) == [(), (), (2, 3)]


def test_control_inputs_carry_nothing():
    assert dims_of(SPLIT, op("y", "F", "s:1", "^s")) == [(4, -1), None]


def test_no_inputs_and_no_graph():
    assert dims_of(op("y")) == []
    assert OpInputs.of(OpTable(), classic=False).shapes.shape_ids.tolist() == []


def test_a_producer_without_outputs():
    assert dims_of(op("s", outputs=[]), op("y", "F", "s")) == [()]
