import gzip
import lzma

import pytest
from google.protobuf import text_format

from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.graphs.read.graphdef import read_graph
from tfprof.testing.builders import graph, op


def shape_of(node):
    columns = read_graph(graph(node))
    shape_id = columns.shape_ids[0]
    return "none" if shape_id < 0 else columns.shapes.shapes[shape_id]


def outputs_of(node):
    columns = read_graph(graph(node))
    list_id = columns.output_shapes_ids[0]
    return "none" if list_id < 0 else columns.shapes.list_of(list_id)


def inputs_of(columns):
    return [columns.inputs.of(node) for node in range(len(columns.names))]


def ops_of(columns):
    return [columns.places.op_types[number] for number in columns.places.op_numbers]


def test_nodes_in_order():
    columns = read_graph(graph(op("b", "Relu", "a", "^c"), op("a", "Const"), op("b", "Tanh")))
    assert columns.names == ["b", "a", "b"]
    assert ops_of(columns) == ["Relu", "Const", "Tanh"]
    assert inputs_of(columns) == [["a", "^c"], [], []]


def test_the_function_library_holds_no_nodes():
    message = graph(op("a"))
    message.library.function.add().node_def.add(name="inside", op="Relu")
    assert read_graph(message).names == ["a"]


@pytest.mark.parametrize(
    ("shape", "read"), [([2, -1], (2, -1)), ([], ()), ("?", None), ([0], (0,))]
)
def test_shape_attribute(shape, read):
    assert shape_of(op("a", shape=shape)) == read


def test_a_shape_attribute_of_another_kind_is_passed_over():
    assert shape_of(op("a")) == "none"
    assert shape_of(op("a", shape=None)) == "none"
    as_int = op("a")
    as_int.attr["shape"].i = 3
    assert shape_of(as_int) == "none"
    as_list = op("a")
    as_list.attr["shape"].list.shape.add().dim.add(size=3)
    assert shape_of(as_list) == "none"


def test_dimensions_win_over_unknown_rank():
    both = op("a", shape=[2])
    both.attr["shape"].shape.unknown_rank = True
    assert shape_of(both) == (2,)


def test_output_shapes():
    assert outputs_of(op("a", outputs=[[2, 3], "?", []])) == [(2, 3), None, ()]
    assert outputs_of(op("a", outputs=[])) == []
    assert outputs_of(op("a")) == "none"
    single = op("a")
    single.attr["_output_shapes"].shape.dim.add(size=3)
    assert outputs_of(single) == "none"


def test_equal_shapes_are_held_once():
    columns = read_graph(graph(op("a", shape=[2]), op("b", shape=[2]), op("c", shape=[3])))
    assert columns.shape_ids[0] == columns.shape_ids[1] != columns.shape_ids[2]


def meta_graph(*nodes, trainable=(), tags=()):
    message = pb.MetaGraphDef(graph_def=graph(*nodes))
    message.meta_info_def.tags.extend(tags)
    for name in trainable:
        variable = pb.VariableDef(variable_name=name).SerializeToString()
        message.collection_def["trainable_variables"].bytes_list.value.append(variable)
    return message


def test_meta_graph_names_its_trainable_variables():
    message = meta_graph(op("w"), op("b"), trainable=["w:0", "b"])
    columns = read_graph(message)
    assert columns.names == ["w", "b"]
    assert columns.trainable_variables == ["w", "b"]
    assert read_graph(message.SerializeToString()).trainable_variables == ["w", "b"]


def test_a_graph_def_names_none():
    assert read_graph(graph(op("w"))).trainable_variables == []
    assert read_graph(meta_graph(op("w"))).trainable_variables == []


def test_the_serving_graph_of_a_saved_model_is_taken():
    message = pb.SavedModel(saved_model_schema_version=1)
    message.meta_graphs.append(meta_graph(op("training"), tags=["train"]))
    message.meta_graphs.append(meta_graph(op("serving"), tags=["serve", "tpu"]))
    assert read_graph(message).names == ["serving"]
    del message.meta_graphs[1]
    assert read_graph(message).names == ["training"]


def test_a_saved_model_without_a_graph():
    with pytest.raises(EmptyProfileError, match="holds no graph"):
        read_graph(pb.SavedModel(saved_model_schema_version=1))


@pytest.mark.parametrize("name", ["saved_model.pb", "saved_model.pbtxt"])
def test_saved_model_folder(tmp_path, name):
    message = pb.SavedModel(saved_model_schema_version=1)
    message.meta_graphs.append(meta_graph(op("w", "VarHandleOp"), trainable=["w:0"]))
    data = message.SerializeToString()
    if name.endswith("txt"):
        data = text_format.MessageToString(message).encode()
    (tmp_path / name).write_bytes(data)
    (tmp_path / "variables").mkdir()
    for source in (tmp_path, str(tmp_path), tmp_path / name):
        columns = read_graph(source)
        assert (columns.names, columns.trainable_variables) == (["w"], ["w"])


PACKERS = {".pb": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("as_text", [False, True], ids=["binary", "text"])
def test_every_way_to_write_a_graph(tmp_path, packed, as_text):
    message = graph(op("x", "Placeholder", shape=[2]), op("y", "Relu", "x"))
    plain = message.SerializeToString()
    if as_text:
        plain = text_format.MessageToString(message).encode()
    data = PACKERS[packed](plain)
    path = tmp_path / f"graph{packed}"
    path.write_bytes(data)
    for source in (path, str(path), data, bytearray(data), memoryview(data)):
        columns = read_graph(source)
        assert columns.names == ["x", "y"]
        assert inputs_of(columns) == [[], ["x"]]
        assert columns.shapes.shapes[columns.shape_ids[0]] == (2,)


def test_nothing_is_an_empty_graph(tmp_path):
    (tmp_path / "empty.pb").write_bytes(b"")
    assert read_graph(b"").names == []
    assert read_graph(pb.GraphDef()).names == []
    assert read_graph(tmp_path / "empty.pb").names == []


def test_a_message_of_another_pool_is_taken_by_its_name():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="o.proto", package="tensorflow", syntax="proto3")
    node = file.message_type.add(name="NodeDef")
    node.field.add(name="name", number=1, type=9, label=1)
    node.field.add(name="op", number=2, type=9, label=1)
    other = file.message_type.add(name="GraphDef")
    other.field.add(name="node", number=1, type=11, label=3, type_name=".tensorflow.NodeDef")
    pool.Add(file)
    foreign = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.GraphDef"))()
    foreign.node.add(name="a", op="Relu")
    columns = read_graph(foreign)
    assert (columns.names, ops_of(columns)) == (["a"], ["Relu"])


@pytest.mark.parametrize("source", [3, None, ["a"], object()], ids=["int", "None", "list", "obj"])
def test_other_types_are_refused_by_name(source):
    with pytest.raises(
        UsageError, match=r"graph must be a GraphDef .*got " + type(source).__name__
    ):
        read_graph(source)
