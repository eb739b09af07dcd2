"""Graphs: GraphDef in both forms, MetaGraph, and folders of SavedModels."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from fuzz.case import Format
from fuzz.formats.changed_messages import changed_message, field_of
from fuzz.formats.folders import packed, unpacked
from fuzz.formats.growing_graphs import GROWING
from fuzz.formats.messages import odd_text
from tests.graphs.interpreter import programs
from tests.graphs.interpreter.control_flow import conditional, loop
from tests.graphs.interpreter.while_loops import body, condition
from tests.oracle.cases import random_session
from tfprof.core.wire import messages as pb
from tfprof.graphs.flops.registry import FORMULAS, FREE
from tfprof.graphs.interpreter.calls import CALLS
from tfprof.graphs.shapes.infer import SHAPES

ATTRIBUTES = (
    "value", "data_format", "num_splits", "full_matrices", "shape", "padding", "name", "keep_dims",
    "element_shape", "compute_uv", "adjoint_b", "N", "transpose_b", "strides", "shared_name",
    "shapes", "rnn_mode", "reduce_op", "paddings", "num_sparse", "filter_format", "direction",
    "adjoint_a", "transpose_a", "squeeze_dims", "row_partition_types", "result_shapes",
    "pooling_ratio", "output_shapes", "_output_shapes", "num_split", "num_partitions", "num_outs",
    "num", "ksizes", "ksize", "dilations", "rates", "interpolation", "input_mode", "frame_name",
    "is_constant", "explicit_paddings", "equation", "dtypes", "dtype", "dimension_numbers",
    "dense_shapes", "container", "branches", "boundaries", "body", "cond", "then_branch",
    "else_branch", "axis", "Targuments", "T", "Tin", "Tout", "Tparams", "Tindices", "f",
    "fused_ops",
    "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask",
    "component_types",
    "output_types", "max_batch_size", "trip_count", "window_strides", "feature_group_count",
    "_class",
    "_user_specified_name", "DstT", "SrcT", "out_type", "Tshape", "batch_dims", "k", "num_args",
)  # fmt: skip
_SIZES = (-1, -1, 0, 1, 2, 3, 8, 224, 2**31, 2**40, 2**62, 2**63 - 1, -2, -(2**63))
_TYPES = (1, 2, 3, 9, 10, 14, 20, 21, 7, 8, 0, 101, 4, 19, 127, -1)
_EQUATIONS = (
    "ij,jk->ik",
    "...a,...ab->...b",
    "ii->i",
    "a->",
    ",->",
    "ab,->ab",
    "ab,bc",
    "a.b->",
    "",
)
_WORDS = ("NHWC", "NCHW", "VALID", "SAME", "EXPLICIT", "lstm", "add", *_EQUATIONS)


@cache
def op_types() -> tuple[str, ...]:
    """All op types of which tfprof has a shape, a formula, a reason or a handler."""
    return tuple(sorted({*SHAPES, *FORMULAS, *FREE, *CALLS}))


def graph_seeds() -> Sequence[bytes]:
    """Programs of each kind: loops and conditions of both TensorFlows, calls, and random ones."""
    x, n = programs.placeholder("x", None, 8), programs.const("n", 5)
    node, ref = programs.node, programs.Ref
    arguments = [*programs.placeholder("v", 3, 3).attr["dtype"].list.type, 3, 3, 1]
    calls = programs.graph(
        x, n, programs.const("i", 0),
        node("w", "StatelessWhile", "i", "n", "x", cond=ref("cond"), body=ref("body"),
             T=[programs.INT, programs.INT, programs.FLOAT]),
        node("c", "PartitionedCall", "i", "n", "w:2", f=ref("body"), Tin=arguments),
        node("if", "If", "i", "i", "n", "c:2", then_branch=ref("body"), else_branch=ref("body"),
             Tout=arguments),
        condition(), body(),
    )  # fmt: skip
    layers = programs.graph(
        programs.placeholder("images", None, 32, 32, 3),
        node("k", "VariableV2", shape=programs.shape(3, 3, 3, 16), dtype=programs.Type(1)),
        node("conv/Conv2D", "Conv2D", "images", "k/read", strides=[1, 2, 2, 1], padding="SAME"),
        node("k/read", "Identity", "k"),
        node("conv/Relu", "Relu", "conv/Conv2D"),
        programs.const("axes", 1, 2, rank=1),
        node("mean", "Mean", "conv/Relu", "axes", keep_dims=True),
        node("gradients/conv/Conv2D_grad/Conv2DBackpropFilter", "Conv2DBackpropFilter", "images",
             "shape", "conv/Relu", strides=[1, 2, 2, 1], padding="SAME"),
        programs.const("shape", 3, 3, 3, 16, rank=1),
    )  # fmt: skip
    old = programs.graph(
        x, *loop(n), *conditional("p"), programs.placeholder("p", dtype=programs.BOOL)
    )
    made = [graph.SerializeToString(deterministic=True) for graph in (calls, layers, old)]
    return [*made, *(random_session(seed).graph for seed in (1, 2, 5))]


def changed_graph(chance: random.Random, data: bytes) -> bytes:
    """A program with other ops, attributes, edges, names and functions."""
    try:
        graph = pb.GraphDef.FromString(data)
    except (DecodeError, RuntimeWarning):
        return data
    for _ in range(chance.choice((1, 1, 2, 4, 12))):
        chance.choice(_CHANGES)(chance, graph)
    return bytes(graph.SerializePartialToString())


def _nodes(graph: Any) -> list[Any]:
    """Nodes of the graph and of its functions."""
    return [*graph.node, *(node for one in graph.library.function for node in one.node_def)]


def _another_op(chance: random.Random, graph: Any) -> None:
    if nodes := _nodes(graph):
        chance.choice(nodes).op = chance.choice(op_types())


def _another_attribute(chance: random.Random, graph: Any) -> None:
    if nodes := _nodes(graph):
        attributes = chance.choice(nodes).attr
        known = [*attributes, chance.choice(ATTRIBUTES), chance.choice(ATTRIBUTES)]
        key = chance.choice(known)
        attributes[key].CopyFrom(odd_attribute(chance, graph))


def odd_attribute(chance: random.Random, graph: Any) -> Any:
    """An attribute of any type."""
    value, kind = pb.AttrValue(), chance.randrange(9)
    if kind == 0:
        value.i = chance.choice(_SIZES)
    elif kind == 1:
        value.s = chance.choice((chance.choice(_WORDS), odd_text(chance))).encode()
    elif kind == 2:
        value.type = chance.choice(_TYPES)
    elif kind == 3:
        value.shape.CopyFrom(_odd_shape(chance))
    elif kind == 4:
        value.tensor.CopyFrom(_odd_tensor(chance))
    elif kind == 5:
        functions = [one.signature.name for one in graph.library.function]
        value.func.name = chance.choice([*functions, "body", "MatMul", ""])
    elif kind == 6:
        value.list.i.extend(chance.choices(_SIZES, k=chance.choice((0, 1, 2, 4, 4, 5, 2000))))
    elif kind == 7:
        value.list.type.extend(chance.choices(_TYPES, k=chance.choice((0, 1, 3, 300))))
    else:
        for _ in range(chance.choice((0, 1, 2, 40))):
            value.list.shape.add().CopyFrom(_odd_shape(chance))
    return value


def _odd_shape(chance: random.Random) -> Any:
    rank = chance.choice((0, 1, 2, 2, 3, 4, 4, 5, 40, 300))
    sizes = (
        chance.choices(_SIZES, k=rank) if chance.random() < 0.5 else [chance.choice(_SIZES)] * rank
    )
    shape = programs.shape(*sizes)
    shape.unknown_rank = chance.random() < 0.1
    return shape


def _odd_tensor(chance: random.Random) -> Any:
    tensor = pb.TensorProto(dtype=chance.choice(_TYPES[:-2]))
    tensor.tensor_shape.CopyFrom(_odd_shape(chance))
    for name in ("int_val", "int64_val", "float_val", "double_val", "bool_val"):
        if chance.random() < 0.4:
            bound = 2**31 if name == "int_val" else 2**63
            sizes = [size for size in _SIZES if -bound <= size < bound]
            getattr(tensor, name).extend(chance.choices(sizes, k=chance.choice((1, 2, 4, 100))))
    if chance.random() < 0.3:
        tensor.tensor_content = chance.randbytes(chance.choice((0, 1, 4, 8, 16, 64)))
    if chance.random() < 0.1:
        tensor.string_val.append(odd_text(chance).encode())
    return tensor


def _another_input(chance: random.Random, graph: Any) -> None:
    nodes = chance.choice([graph.node, *(one.node_def for one in graph.library.function)])
    if not nodes:
        return
    node, source = chance.choice(nodes), chance.choice(nodes).name
    odd = (
        "{}",
        "{}",
        "{}:1",
        "^{}",
        "{}:9999999999",
        "{}:-1",
        ":{}",
        "^^{}",
        "{}:z:0",
        "{}:x:y",
        "",
    )
    text = chance.choice(odd).format(source)
    kind = chance.randrange(4)
    if node.input and kind == 0:
        node.input[chance.randrange(len(node.input))] = text
    elif node.input and kind == 1:
        del node.input[chance.randrange(len(node.input))]
    else:
        node.input.extend([text] * chance.choice((1, 1, 1, 2, 500)))


def _another_name(chance: random.Random, graph: Any) -> None:
    if nodes := _nodes(graph):
        others = [node.name for node in nodes]
        chance.choice(nodes).name = chance.choice(
            (chance.choice(others), odd_text(chance), "a/" * chance.choice((2, 100, 3000)) + "b",
             f"gradients/{chance.choice(others)}_grad/x", "_TFProfRoot", "")
        )  # fmt: skip


def _another_node(chance: random.Random, graph: Any) -> None:
    """A node of any op, with inputs of which some are constants, as many rules want."""
    names = [node.name for node in graph.node] or [""]
    node = graph.node.add(name=f"new_{len(names)}", op=chance.choice(op_types()))
    for place in range(chance.choice((0, 1, 2, 3, 4, 6))):
        if chance.random() < 0.5:
            value = graph.node.add(name=f"{node.name}/{place}", op="Const")
            value.attr["value"].tensor.CopyFrom(_odd_tensor(chance))
            value.attr["dtype"].type = value.attr["value"].tensor.dtype
            names.append(value.name)
            node.input.append(value.name)
        else:
            node.input.append(chance.choice(names))
    for _ in range(chance.choice((0, 1, 3))):
        node.attr[chance.choice(ATTRIBUTES)].CopyFrom(odd_attribute(chance, graph))


def _another_order(chance: random.Random, graph: Any) -> None:
    nodes = list(graph.node)
    chance.shuffle(nodes)
    del graph.node[:]
    graph.node.extend(nodes)


def _another_function(chance: random.Random, graph: Any) -> None:
    functions = graph.library.function
    if not functions:
        functions.add().signature.name = chance.choice(("body", "MatMul", "f"))
        return
    one = chance.choice(functions)
    kind = chance.randrange(4)
    if kind == 0:
        functions.add().CopyFrom(one)
    elif kind == 1:
        one.signature.name = chance.choice(("MatMul", "body", "cond", odd_text(chance)))
    elif kind == 2:
        one.node_def.add(name="again", op=one.signature.name)
    else:
        one.ret[odd_text(chance)] = chance.choice(("less:z:0", "x", "i:0", odd_text(chance)))


_CHANGES: tuple[Callable[[random.Random, Any], None], ...] = (
    _another_op, _another_op, _another_attribute, _another_attribute, _another_attribute,
    _another_input, _another_input, _another_name, _another_node, _another_node, _another_order,
    _another_function,
)  # fmt: skip


# The other forms of graphs


def as_text(name: str, data: bytes) -> bytes:
    """The text form of a message."""
    message = getattr(pb, name).FromString(data)
    return text_format.MessageToString(message).encode("utf-8", "replace")


def _changed_text(chance: random.Random, data: bytes) -> bytes:
    try:
        graph = text_format.Parse(
            data.decode("utf-8", "replace"), pb.GraphDef(), descriptor_pool=pb.private_pool()
        )
    except (text_format.ParseError, ValueError, RecursionError, RuntimeWarning):
        return data
    try:
        text = as_text("GraphDef", changed_graph(chance, graph.SerializePartialToString()))
    except (DecodeError, RuntimeWarning):
        return data
    odd = chance.randrange(12)
    if odd == 0:
        return text.replace(b"node {", b"node <", 1).replace(b"}", b">", 1)
    if odd == 1:
        return b"# " + odd_text(chance).encode() + b"\n" + text
    return text.replace(b'"', b'"\\\\' if odd == 2 else b'"', 1)


def _meta_graphs() -> Sequence[bytes]:
    return [_meta_graph(data) for data in graph_seeds()[:3]]


def _meta_graph(data: bytes) -> bytes:
    """A MetaGraph of this graph, with the objects of a model."""
    meta = pb.MetaGraphDef(graph_def=pb.GraphDef.FromString(data))
    nodes = meta.object_graph_def.nodes
    nodes.add().children.add(local_name="variables", node_id=1)
    nodes[0].children.add(local_name="layer", node_id=0)
    nodes.add().user_object.identifier = "trackable_list_wrapper"
    nodes[1].children.add(local_name="0", node_id=2)
    variable = nodes.add().variable
    variable.name, variable.dtype, variable.trainable = "dense/kernel", 1, True
    variable.shape.CopyFrom(programs.shape(4, 3))
    nodes[0].slot_variables.add(original_variable_node_id=2, slot_name="m", slot_variable_node_id=2)
    return bytes(meta.SerializeToString(deterministic=True))


def _changed_meta_graph(chance: random.Random, data: bytes) -> bytes:
    try:
        meta = pb.MetaGraphDef.FromString(data)
    except (DecodeError, RuntimeWarning):
        return data
    graph = changed_graph(chance, meta.graph_def.SerializePartialToString())
    meta.ClearField("graph_def")
    return bytes(meta.SerializePartialToString()) + field_of(2, graph)


def _saved_models() -> Sequence[bytes]:
    """Folders of a SavedModel without values, in both forms."""
    made = []
    for data in _meta_graphs():
        model = pb.SavedModel(meta_graphs=[pb.MetaGraphDef.FromString(data)])
        made.append(packed({"saved_model.pb": model.SerializeToString(deterministic=True)}))
    text = text_format.MessageToString(model).encode()
    return [*made, packed({"saved_model.pbtxt": text, "assets/words.txt": b"a\n"})]


def _changed_saved_model(chance: random.Random, data: bytes) -> bytes:
    files = unpacked(data)
    name = "saved_model.pb"
    if name in files:
        try:
            model = pb.SavedModel.FromString(files[name])
        except (DecodeError, RuntimeWarning):
            return data
        if chance.random() < 0.3:
            files[name] = changed_message("SavedModel")(chance, files[name])
        else:
            parts = [
                field_of(2, _changed_meta_graph(chance, meta.SerializePartialToString()))
                for meta in model.meta_graphs
            ]
            files[name] = b"".join(parts)
    return packed(files)


def _objects(count: int, child: Callable[[int], int]) -> bytes:
    meta = pb.MetaGraphDef.FromString(_meta_graphs()[1])
    nodes = meta.object_graph_def.nodes
    for place in range(count):
        node = nodes.add()
        node.children.add(local_name=f"v{place}", node_id=len(nodes) - 1 + child(place) - place)
        node.variable.name, node.variable.dtype = f"v{place}", 1
    return bytes(meta.SerializeToString())


def _collections(n_bytes: int) -> bytes:
    meta = pb.MetaGraphDef.FromString(_meta_graphs()[1])
    for place in range(n_bytes // 30):
        meta.collection_def[f"c{place % 1000}"].node_list.value.append(f"conv/Conv2D_{place}")
    return bytes(meta.SerializeToString())


FORMATS = (
    Format("graph", ".pb", graph_seeds, changed_graph, GROWING, "GraphDef"),
    Format(
        "graph_text", ".pbtxt", lambda: [as_text("GraphDef", one) for one in graph_seeds()],
        _changed_text,
        {
            name: (lambda n, make=make: as_text("GraphDef", make(n // 3)))
            for name, make in GROWING.items()
            if name in ("nodes in a row", "inputs of one node", "one name", "values of a constant")
        } | {
            "nesting": lambda n: b"library {" * (n // 9),
            "comments": lambda n: b"# a comment\n" * (n // 12),
            "an unknown field": lambda n: b"node { name: 'a' } x { " + b"y: 1 " * (n // 5) + b"}",
            "one line": lambda n: b"node { name: 'a' op: 'B' } " * (n // 27),
        },
    ),
    Format("meta_graph", ".meta", _meta_graphs, _changed_meta_graph, {
        "objects": lambda n: _objects(n // 40, lambda place: place),
        "objects in a row": lambda n: _objects(n // 40, lambda place: place + 1),
        "collections": _collections,
    }, "MetaGraphDef"),
    Format("saved_model", ".folder", _saved_models, _changed_saved_model, {
        "meta graphs": lambda n: packed({"saved_model.pb": pb.SavedModel(
            meta_graphs=[pb.MetaGraphDef.FromString(_meta_graphs()[1])] * (n // 1200)
        ).SerializeToString()}),
        "files": lambda n: packed({
            "saved_model.pb": pb.SavedModel().SerializeToString(),
            **{f"assets/{place}": b"x" * (n // 1000) for place in range(1000)},
        }),
    }),
)  # fmt: skip
