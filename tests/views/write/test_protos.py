import numpy as np
import pytest

import tfprof
from tfprof.core.wire import encode
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.profiles.accounting.accounting import METRICS
from tfprof.testing.builders import (
    CPU,
    graph,
    logged,
    op,
    op_log,
    options,
    run,
    stat,
    traced,
)
from tfprof.views.write import protos
from tfprof.views.write.protos import MAX_PROTO_LEVELS, view_to_proto

pytestmark = pytest.mark.slow

LOWER_CPU = CPU.lower()


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


@pytest.fixture
def profiler(classic):
    nodes = [
        op("s/w", "Var", shape=[3], outputs=[[3]]),
        op("s/y", "Apply", "s/w", "ghost", "scalar"),
        op("scalar", "Const", outputs=[[]]),
    ]
    log = op_log(
        traced("s/w", "f.py:1:main", float_ops=2),
        traced("s/y", "f.py:1:main", "f.py:2:g", types=["mine"]),
        logged("scalar"),
    )
    made = tfprof.Profiler(graph(*nodes), log, classic=classic)
    executions = [
        ("s/w", stat(5, memory=(80, 70, 60), outputs=[50])), ("s/w", stat(6)), ("s/y", 100),
    ]  # fmt: skip
    made.add_step(0, run(executions))
    return made


def test_scope_message_field_by_field(profiler):
    expected = pb.GraphNodeProto(name="_TFProfRoot")
    totals = {
        "total_run_count": 3,
        "total_exec_micros": 111,
        "total_cpu_exec_micros": 111,
        "total_requested_bytes": 80,
        "total_peak_bytes": 70,
        "total_residual_bytes": 60,
        "total_output_bytes": 50,
        "total_parameters": 3,
        "total_float_ops": 4,
    }
    expected = pb.GraphNodeProto(name="_TFProfRoot", total_definition_count=4, **totals)
    scope = expected.children.add(name="s", total_definition_count=3, **totals)
    w = {
        "run_count": 2,
        "exec_micros": 11,
        "cpu_exec_micros": 11,
        "requested_bytes": 80,
        "peak_bytes": 70,
        "residual_bytes": 60,
        "output_bytes": 50,
        "parameters": 3,
        "float_ops": 4,
    }
    scope.children.add(
        name="s/w", devices=[LOWER_CPU], total_definition_count=1, **w,
        **{f"total_{key}": value for key, value in w.items()},
    )  # fmt: skip
    y = {"run_count": 1, "exec_micros": 100, "cpu_exec_micros": 100}
    y |= {f"total_{key}": value for key, value in y.items()}
    node = scope.children.add(name="s/y", devices=[LOWER_CPU], total_definition_count=1, **y)
    node.input_shapes[0].dim.add(size=3)
    node.input_shapes[1].unknown_rank = True
    node.input_shapes[2].dim.add(size=1)
    expected.children.add(name="scalar", total_definition_count=1)
    assert profiler.profile_name_scope(options()) == expected


def test_op_message_is_a_nested_chain_with_members(profiler):
    root = profiler.profile_operations(options())
    assert (root.name, len(root.graph_nodes), root.exec_micros) == ("_TFProfRoot", 0, 0)
    (apply,) = root.children
    (const,) = apply.children
    (var,) = const.children
    assert [message.name for message in (apply, const, var)] == ["Apply", "Const", "Var"]
    assert [message.total_exec_micros for message in (root, apply, const, var)] == [
        111,
        111,
        11,
        11,
    ]
    (member,) = var.graph_nodes
    assert (member.name, member.run_count, member.exec_micros) == ("s/w", 2, 11)
    assert (member.total_exec_micros, member.total_definition_count) == (11, 1)
    assert len(member.children) == 0
    (member,) = apply.graph_nodes
    assert member.input_shapes[1].unknown_rank


def test_code_message(profiler):
    root = profiler.profile_python(options())
    (main,) = root.children
    (inner,) = main.children
    assert (main.name, main.exec_micros, main.total_exec_micros) == ("f.py:1:main", 11, 111)
    assert (inner.name, inner.exec_micros, inner.total_exec_micros) == ("f.py:2:g", 100, 100)
    assert [node.name for node in main.graph_nodes] == ["s/w"]
    assert (main.requested_bytes, main.parameters, main.float_ops) == (80, 3, 4)


def test_select_changes_nothing(profiler):
    for method in (profiler.profile_name_scope, profiler.profile_operations):
        assert method(options(select=[])) == method(options(select=["bytes", "device"]))


def test_members_are_in_byte_order(classic):
    nodes = [op(name, "T") for name in ("b", "a", "B")]
    root = tfprof.Profiler(graph(*nodes), classic=classic).profile_operations(options())
    assert [node.name for node in root.children[0].graph_nodes] == ["B", "a", "b"]


def test_shown_nodes_only_in_display_order(profiler):
    root = profiler.profile_name_scope(options(hide_name_regexes=["s"], order_by="micros"))
    assert [child.name for child in root.children] == ["s/y", "s/w", "scalar"]
    assert root.total_exec_micros == 111


def test_the_result_does_not_depend_on_the_output(profiler, tmp_path, capsys):
    results = [
        profiler.profile_name_scope(options(output=output))
        for output in ("none", "stdout", f"file:outfile={tmp_path / 'out'}")
    ]
    assert results[0] == results[1] == results[2]
    assert capsys.readouterr().out


def test_messages_survive_serialization(profiler):
    for message in (profiler.profile_graph(options()), profiler.profile_python(options())):
        assert type(message).FromString(message.SerializeToString()) == message


def test_exactly_the_deepest_level_is_not_cut():
    nodes = [op("n00000")]
    nodes += [op(f"n{i:05d}", "C", f"n{i - 1:05d}") for i in range(1, MAX_PROTO_LEVELS - 1)]
    profiler = tfprof.Profiler(graph(*nodes))
    view_to_proto(profiler.view("graph", options(max_depth=10**6)))
    assert "proto-too-deep" not in {notice.code for notice in profiler.notices}


@pytest.fixture(params=["native", "pure"])
def _engine(request, monkeypatch):
    monkeypatch.setenv("TFPROF_PURE", "1" if request.param == "pure" else "")


def message_by_message(tree, levels=MAX_PROTO_LEVELS):
    """The same field by field, from the accessors of the view."""
    is_group = tree.kind in ("op", "code")
    messages = [pb.MultiGraphNodeProto() if is_group else pb.GraphNodeProto()]
    for row in range(len(tree)):
        if tree.depth[row] == levels:
            messages.append(type(messages[0])())  # without a parent
        elif row:
            messages.append(messages[int(tree.parent[row])].children.add())
        message = messages[row]
        message.name = tree.names[row]
        for name, values in tree.columns.items():
            if name in message.DESCRIPTOR.fields_by_name:
                setattr(message, name, int(values[row]))
        if is_group:
            for op_row in tree.members_of(row).tolist():
                member = message.graph_nodes.add(name=tree.ops.name(op_row))
                member.total_definition_count = 1
                for metric, values in zip(METRICS, np.asarray(tree.op_metrics), strict=True):
                    setattr(member, metric, int(values[op_row]))
                    setattr(member, f"total_{metric}", int(values[op_row]))
                describe(member, tree, op_row)
        elif tree.op_rows[row] >= 0:
            describe(message, tree, int(tree.op_rows[row]))
    return messages[0]


def describe(message, tree, op_row):
    if tree.device(op_row):
        message.devices.append(tree.device(op_row))
    for index, shape_id in enumerate(tree.input_shapes.of(op_row)):
        if shape_id >= 0:
            sizes = tree.input_shapes.dims[shape_id]
            shape = message.input_shapes[index]
            shape.unknown_rank = not sizes
            shape.dim.extend(pb.TensorShapeProto.Dim(size=size) for size in sizes)


def chain_with_branches(length):
    """Each op reads the one before, and a leaf on either side of it in the order of names."""
    nodes = []
    for i in range(length):
        inputs = [f"m{i - 1:03d}", f"a{i:03d}", f"z{i:03d}:1", "^a000"] if i else []
        nodes += [op(f"a{i:03d}", "A", outputs=[[2, i]]), op(f"z{i:03d}", "Z", outputs=[[], "?"])]
        nodes.append(op(f"m{i:03d}", f"M{i}", *inputs, outputs=[[-1, 300]]))
    traces = [traced(f"m{i:03d}", *(f"f.py:{j}:f{j}" for j in range(i))) for i in range(1, length)]
    return nodes, traces


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("kind", ["scope", "graph", "op", "code"])
@pytest.mark.parametrize("length", [40, 88, 89, 90, 91, 92, 250])
def test_any_view_of_any_depth_says_what_the_view_says(kind, length):
    nodes, traces = chain_with_branches(length)
    made = tfprof.Profiler(graph(*nodes), op_log(*traces))
    made.add_step(0, run([(f"m{i:03d}", 1 + i * i) for i in range(length)]))
    tree = made.view(kind, options(max_depth=10**6, order_by="name"))
    assert kind == "scope" or int(tree.depth.max()) >= length - 1
    assert view_to_proto(tree) == message_by_message(tree)


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("levels", [2, 60, 91, 120])
def test_what_is_cut_stands_between_what_is_not(levels, monkeypatch):
    monkeypatch.setattr(protos, "MAX_PROTO_LEVELS", levels)
    nodes, _ = chain_with_branches(150)
    made = tfprof.Profiler(graph(*nodes))
    tree = made.view("graph", options(max_depth=10**6, order_by="name"))
    assert view_to_proto(tree) == message_by_message(tree, levels)
    counts = {notice.code: notice.count for notice in made.notices}
    assert counts["proto-too-deep"] == (tree.depth >= levels).sum()


@pytest.mark.usefixtures("_engine")
def test_a_profile_without_ops_has_a_root():
    tree = tfprof.Profiler(graph()).view("scope", options())
    assert view_to_proto(tree) == pb.GraphNodeProto(name="_TFProfRoot")


@pytest.mark.usefixtures("_engine")
def test_a_message_over_the_limit_of_protobuf_is_refused(profiler, monkeypatch):
    tree = profiler.view("op", options())
    monkeypatch.setattr(encode, "MAX_MESSAGE_BYTES", 100)
    with pytest.raises(UsageError, match=r"op view would be .* 2 GiB.*; show fewer"):
        view_to_proto(tree)
