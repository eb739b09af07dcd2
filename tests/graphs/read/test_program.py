import pytest

import tfprof
from tests.graphs.interpreter.programs import (
    FLOAT,
    INT,
    RESOURCE,
    Ref,
    Type,
    function,
    graph,
    node,
    placeholder,
    shape,
)
from tfprof.core.wire import messages as pb
from tfprof.graphs.model.program import FunctionRef
from tfprof.graphs.model.tensors import Handle, Tensor
from tfprof.graphs.read.op_outputs import first_slots, is_stateful, output_types, outputs_of
from tfprof.graphs.read.program import open_program, read_program

T = {"T": Type(FLOAT)}


def names(program, edges):
    return [(program.nodes[place].name if place >= 0 else None, slot) for place, slot in edges]


def test_inputs_of_a_graph():
    message = graph(
        placeholder("x", 2), node("s", "Split", "x", "x", num_split=2, **T),
        node("y", "AddV2", "s:1", "missing", "^x", **T), node("z", "Neg", "a:b", **T),
    )  # fmt: skip
    body = read_program(message).body
    assert names(body, body.nodes[2].inputs) == [("s", 1), (None, 0)]
    assert body.nodes[2].controls == (0,)
    assert names(body, body.nodes[3].inputs) == [(None, 0)]
    assert read_program(message).inputs == {"x": 0}


def test_inputs_and_results_of_a_function():
    f = function(
        "f", {"x": FLOAT, "n": INT}, {"y": ("t:indices:0", INT), "z": ("s:output:1", FLOAT)},
        node("t", "TopKV2", "x", "n", **T),
        node("s", "Split", "n", "t:values:0", "^t", num_split=2, **T),
    )  # fmt: skip
    f.control_ret["later"] = "s"
    body = read_program(graph(f)).function("f")
    assert body.n_args == 2
    assert [each.name for each in body.nodes] == ["x", "n", "t", "s"]
    assert names(body, body.nodes[2].inputs) == [("x", 0), ("n", 0)]
    assert names(body, body.nodes[3].inputs) == [("n", 0), ("t", 0)]
    assert body.nodes[3].controls == (2,)
    assert names(body, body.results) == [("t", 1), ("s", 1)]
    assert body.control_results == (3,)
    assert read_program(graph(f)).function("g") is None


def test_outputs_of_a_call_by_name():
    callee = function("two", {"x": FLOAT}, {"a": ("x", FLOAT), "b": ("x", FLOAT)})
    caller = function(
        "f", {"x": FLOAT}, {"y": ("c:b:0", FLOAT)}, node("c", "two", "x"),
    )  # fmt: skip
    body = read_program(graph(callee, caller)).function("f")
    assert body.results == ((1, 1),)
    assert body.nodes[1].kind.output_types == (FLOAT, FLOAT)


def test_what_a_function_says_of_its_arguments():
    f = function("f", {"v": RESOURCE, "x": FLOAT}, {})
    data = f.signature.input_arg[0].handle_data.add(dtype=FLOAT)
    data.shape.CopyFrom(shape(3, None))
    attr = f.arg_attr[1].attr["_output_shapes"]
    attr.list.shape.append(shape(5))
    variable, x = read_program(graph(f)).function("f").nodes
    assert variable.kind.attrs["handle"] == Handle((3, None), FLOAT)
    assert x.declared == ((5,),)


def test_attributes_are_plain_values():
    message = node("n", "Conv2D", transpose=True, padding="SAME", f=Ref("g"), **T)
    message.attr["strides"].list.i.extend([1, 2, 2, 1])
    message.attr["f32"].f = 0.5
    message.attr["raw"].s = b"\xff\xfe"
    message.attr["dims"].shape.CopyFrom(shape(None, 3))
    message.attr["rankless"].shape.unknown_rank = True
    message.attr["ref"].type = 101
    message.attr["none"].placeholder = "T"
    message.attr["_private"].i = 3
    attrs = read_program(graph(message)).body.nodes[0].kind.attrs
    assert attrs == {
        "transpose": True, "padding": "SAME", "f": FunctionRef("g"), "T": 1, "f32": 0.5,
        "strides": (1, 2, 2, 1), "raw": b"\xff\xfe", "dims": (None, 3), "rankless": None,
        "ref": 1, "none": None,
    }  # fmt: skip


def test_constants():
    content = pb.TensorProto(dtype=9, tensor_shape=shape(2))
    content.tensor_content = (3).to_bytes(8, "little") + (-1).to_bytes(8, "little", signed=True)
    wrong = pb.TensorProto(dtype=9, tensor_shape=shape(2), tensor_content=b"123")
    large = pb.TensorProto(dtype=1, tensor_shape=shape(100, 100), tensor_content=bytes(40000))
    repeated = pb.TensorProto(dtype=3, tensor_shape=shape(4), int_val=[5, 6])
    text = pb.TensorProto(dtype=7, tensor_shape=shape(), string_val=[b"a"])
    nodes = [
        node(f"c{i}", "Const", value=t)
        for i, t in enumerate((content, wrong, large, repeated, text))
    ]
    values = [each.kind.attrs["value"] for each in read_program(graph(*nodes)).body.nodes]
    assert values == [
        Tensor((2,), 9, (3, -1)),
        Tensor((2,), 9),
        Tensor((100, 100), 1),
        Tensor((4,), 3, (5, 6, 6, 6)),
        Tensor((), 7),
    ]


def test_equal_nodes_are_of_one_kind():
    body = read_program(
        graph(node("a", "Relu", **T), node("b", "Relu", **T), node("c", "Relu"))
    ).body
    assert body.nodes[0].kind is body.nodes[1].kind
    assert body.nodes[0].kind is not body.nodes[2].kind


def test_the_table_of_outputs():
    assert output_types("MatMul", {"T": 2}) == (2,)
    assert output_types("Shape", {}) == (3,)
    assert output_types("IdentityN", {"T": (1, 3)}) == (1, 3)
    assert output_types("Split", {"T": 1, "num_split": 3}) == (1, 1, 1)
    assert output_types("Split", {"T": 1, "num_split": 2**60}) == ()
    assert output_types("IdentityN", {"T": 7}) == ()
    assert output_types("NoOp", {}) == ()
    assert outputs_of("Nonsense") is None
    assert dict(first_slots("FusedBatchNormV3", {}))["batch_variance"] == 2
    assert is_stateful("ResourceApplyAdam")
    assert is_stateful("Nonsense")
    assert not is_stateful("MatMul")


@pytest.mark.tensorflow
def test_the_table_of_outputs_is_tensorflows():
    import importlib.util
    from pathlib import Path

    path = Path(__file__).parents[3] / "protos" / "generate_op_outputs.py"
    spec = importlib.util.spec_from_file_location("generate_op_outputs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shipped = set(module.TABLE.read_text("utf-8").splitlines())
    # Ops that other packages or tests have loaded are not in it.
    current = set(module.table().splitlines())
    assert shipped <= current


def saved_model(*signatures):
    message = pb.SavedModel()
    meta = message.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.CopyFrom(
        graph(placeholder("in", None, 4), node("a", "Relu", "in", **T),
              node("b", "MatMul", "in", "in", transpose_b=True, **T))
    )  # fmt: skip
    for name, output in signatures:
        signature = meta.signature_def[name]
        signature.inputs["images"].name = "in:0"
        signature.outputs["y"].name = f"{output}:0"
    return message


def test_a_signature_counts_what_it_needs():
    message = saved_model(("serving_default", "a"), ("other", "b"), ("__saved_model_init_op", "b"))
    assert tfprof.flops(message, batch=2).flops == 8
    assert tfprof.flops(message, batch=2, signature="other").flops == 2 * 2 * 2 * 4
    assert tfprof.flops(message, input_shapes={"images": (3, 4)}).flops == 12
    assert str(tfprof.flops(saved_model(("z", "a"), ("other", "b"))).flops) == "8·B^2"
    assert tfprof.flops(saved_model(), batch=2).flops == 8 + 32


def test_a_signature_that_is_not_there():
    with pytest.raises(tfprof.UsageError, match="no such signature; it has other, serving_default"):
        open_program(saved_model(("serving_default", "a"), ("other", "b")), "nope")
    with pytest.raises(tfprof.UsageError, match="it has none"):
        open_program(saved_model(), "nope")
    with pytest.raises(tfprof.UsageError, match="a GraphDef has no signatures"):
        open_program(graph(), "nope")


def test_saved_models_with_nothing_to_count():
    with pytest.raises(tfprof.EmptyProfileError, match="holds no graph"):
        open_program(pb.SavedModel())
    message = pb.SavedModel()
    message.meta_graphs.add().object_graph_def.nodes.add()
    with pytest.raises(tfprof.EmptyProfileError, match="has no signature to call"):
        open_program(message)
