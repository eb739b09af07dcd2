import pytest

import tfprof
from tfprof._wire import messages as pb
from tfprof.exporters.protos import MAX_PROTO_LEVELS, view_to_proto
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
