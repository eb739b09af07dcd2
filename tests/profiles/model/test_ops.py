from tfprof.graphs.read.graphdef import graph_columns, read_graph
from tfprof.profiles.model.ops import OpTable
from tfprof.testing.builders import graph, op


def table(*nodes):
    ops = OpTable()
    ops.add_graph(read_graph(graph(*nodes)))
    return ops


def test_the_first_definition_of_a_name_wins_with_its_inputs():
    ops = table(op("a"), op("b", "Relu", "a"), op("b", "Tanh", "a", "a"))
    assert [ops.name(row) for row in range(len(ops))] == ["a", "b"]
    assert ops.strings[int(ops.op_ids.array[1])] == "Relu"
    assert ops.input_offsets().tolist() == [0, 0, 1]


def test_a_second_graph_adds_only_what_is_new():
    ops = table(op("b", "Relu", "x"))
    added = ops.add_graph(read_graph(graph(op("b", "Tanh"), op("x", "Const"))))
    assert added == 1
    assert [ops.name(row) for row in range(len(ops))] == ["b", "x"]
    # The input that was only a name before now has its producer.
    assert ops.input_rows().tolist() == [1]


def test_input_texts():
    ops = table(op("y", "F", "a", "b:2", "^c", "^d:1", "e:x", ":3", "^"), op("a"), op("b"), op("c"))
    assert ops.input_rows().tolist() == [1, 2, 3, -1, -1, -1, -1]
    assert ops.input_ports.tolist() == [0, 2, -1, -1, 0, 3, -1]


def test_rows_by_name_are_in_byte_order():
    # U+FFFD sorts before U+10000 as UTF-8 and as code points, but not as UTF-16.
    names = ["b", "a/b", "a", "a.b", "\U00010000", "\ufffd", "B"]
    ops = table(*map(op, names))
    assert [ops.name(row) for row in ops.rows_by_name().tolist()] == [
        "B", "a", "a.b", "a/b", "b", "\ufffd", "\U00010000",
    ]  # fmt: skip


def test_rows_by_name_follow_growth():
    ops = table(op("b"))
    assert ops.rows_by_name().tolist() == [0]
    ops.add_run_time_op("a", None)
    assert ops.rows_by_name().tolist() == [1, 0]


def test_run_time_ops_have_their_own_name_as_type():
    ops = table(op("b", "Relu", "ghost"))
    row = ops.add_run_time_op("ghost", "_Arg")
    assert (ops.row("ghost"), ops.row("b"), ops.row("none")) == (row, 0, -1)
    assert ops.strings[int(ops.op_ids.array[row])] == "ghost"
    assert ops.strings[int(ops.label_op_ids.array[row])] == "_Arg"
    assert ops.input_rows().tolist() == [row]
    assert ops.input_offsets().tolist() == [0, 1, 1]


def test_attributes_for_formulas_are_kept():
    ops = table(op("c", "Conv2D", data_format="NHWC", strides=[1, 2], padding="SAME"))
    assert ops.attrs_of(0) == {"data_format": "NHWC", "strides": (1, 2)}


def test_an_empty_graph_adds_nothing():
    ops = OpTable()
    assert ops.add_graph(graph_columns(b"")) == 0
    assert len(ops) == 0
    assert ops.input_offsets().tolist() == [0]
