import pytest

import tfprof
from tfprof.profiles.accounting.profile_info import (
    DeviceFigures,
    Missing,
    StepFigures,
    profile_info,
)
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    logged,
    op,
    op_log,
    run,
    run_on,
    stat,
    traced,
)


def info_of(profiler):
    profiler._session.complete()
    return profile_info(profiler._session.profile)


def a_graph():
    return graph(
        op("w", "VariableV2", shape=[2, 3], outputs=[[2, 3]]),
        op("b", "VariableV2", shape=[-1, 3], outputs=[[-1, 3]]),
        op("NoOp", "NoOp", outputs=[]),
        op("x", "Placeholder"),
        op("mm", "MatMul", "x", "w", outputs=[[4, 3]]),
    )


def test_ops_of_a_graph_and_of_a_run():
    log = op_log(
        traced("mm", "a.py:1:f", float_ops=48),
        traced("x", "a.py:2:f"),
        logged("w", types=["_trainable_variables"]),
        logged("b", types=["mine", "mine"]),
    )
    profiler = tfprof.Profiler(a_graph(), log)
    profiler.add_step(0, run({"mm": 5, "w": 1, "_Send": 2}))
    ops = info_of(profiler).ops
    assert (ops.ops, ops.run_time_only, ops.ran) == (6, 1, 3)
    assert ops.types == {
        "VariableV2": 2, "MatMul": 1, "NoOp": 1, "Placeholder": 1, "_Send": 1,
    }  # fmt: skip
    assert next(iter(ops.types)) == "VariableV2"
    assert (ops.with_stack, ops.with_float_ops, ops.float_ops) == (2, 1, 48)
    assert ops.with_shapes == 3  # w, NoOp, mm; of b a dimension is unknown, of x everything
    assert ops.added_types == {"_trainable_variables": 1, "mine": 1}
    assert (ops.variables, ops.trainable) == (2, 1)
    assert (ops.parameters, ops.trainable_parameters) == (6, 6)


def test_a_saved_profile_gives_the_same():
    profiler = tfprof.Profiler(a_graph())
    profiler.add_step(7, run({"mm": 5, "_Send": 2}))
    first = info_of(profiler)
    again = info_of(tfprof.Profiler.load(profiler.serialize_to_string()))
    assert again.steps == first.steps
    assert again.devices == first.devices
    assert again.ops.types == first.ops.types
    # Without the graph, a node that is called after its type looks like one that only ran.
    assert (first.ops.run_time_only, again.ops.run_time_only) == (1, 2)


def test_a_graph_alone():
    info = info_of(tfprof.Profiler(a_graph()))
    assert (info.ops.ran, info.steps, info.devices) == (None, (), ())
    assert info.missing == (
        Missing("ran", True, "no step was recorded"),
        Missing("trainable", True, info.missing[1].reason),
    )
    assert (info.ops.variables, info.ops.trainable, info.ops.trainable_parameters) == (
        2,
        None,
        None,
    )


def test_variables_that_a_graph_uses_and_does_not_declare_are_unknown():
    read = graph(op("w", "Placeholder"), op("read", "ReadVariableOp", "w", outputs=[[2, 3]]))
    info = info_of(tfprof.Profiler(read))
    assert (info.ops.variables, info.ops.parameters, info.ops.trainable_parameters) == (None,) * 3
    assert "declares none" in {each.name: each.reason for each in info.missing}["variables"]


def test_a_graph_without_variables_has_none():
    info = info_of(tfprof.Profiler(graph(op("x", "Placeholder"))))
    assert (info.ops.variables, info.ops.parameters, info.ops.trainable_parameters) == (0, 0, 0)


def test_a_run_alone():
    profiler = tfprof.Profiler()
    profiler.add_step(0, run({"mm": 5}))
    info = info_of(profiler)
    assert (info.ops.ops, info.ops.run_time_only) == (1, 1)
    assert (info.ops.variables, info.ops.parameters) == (None, None)
    missing = {missing.name: missing for missing in info.missing}
    assert missing["variables"].is_unknown


def test_steps_in_order():
    profiler = tfprof.Profiler(a_graph())
    twice = [
        ("mm", stat(50, start=1000, memory=(64, 32, 16))),
        ("mm", stat(70, start=1100)),
        ("w", stat(5, start=1200)),
    ]
    profiler.add_step(9, run(twice))
    profiler.add_step(2, run({"w": stat(3, start=10)}))
    info = info_of(profiler)
    assert info.steps == (
        StepFigures(2, 1, 1, 3, 3, None, 3, None, None),
        StepFigures(9, 2, 3, 205, 125, None, 125, 64, None),
    )
    assert info.missing == (
        Missing("accelerator_micros", False, "no accelerator took part"),
        Missing("requested_bytes", True, info.missing[1].reason),
        Missing("peak_bytes", True, info.missing[2].reason),
        Missing("trainable", True, info.missing[3].reason),
    )


def test_devices():
    profiler = tfprof.Profiler(a_graph())
    block = {"mm": stat(10, start=100, memory=(64, 32, 16))}
    streams = {"mm:MatMul": stat(40, start=105)}
    copies = {"MEMCPYHtoD": stat(8, start=90)}
    for step in (0, 1):
        profiler.add_step(
            step,
            run_on({
                CPU: {"x": stat(2, start=99, memory=(8, 8, 8))}, GPU: block, GPU_STREAMS: streams,
                "/device:GPU:0/memcpy": copies,
            }),
        )  # fmt: skip
    info = info_of(profiler)
    assert info.devices == (
        DeviceFigures("/device:gpu:0/memcpy", "other", 0, 2, 16, None, None),
        DeviceFigures("/device:gpu:0/stream:all", "accelerator", 1, 2, 80, None, None),
        DeviceFigures(CPU.lower(), "cpu", 1, 2, 4, 16, None),
        DeviceFigures(GPU.lower(), "cpu", 1, 2, 20, 128, None),
    )
    assert info.steps[0] == StepFigures(0, 2, 4, 55, 52, 40, 12, 72, None)
    assert [missing.name for missing in info.missing] == ["peak_bytes", "trainable"]


def test_accelerator_time_that_was_not_recorded_is_unknown():
    profiler = tfprof.Profiler(a_graph())
    profiler.add_step(0, run_on({GPU: {"mm": 5}}))
    info = info_of(profiler)
    assert info.steps[0].accelerator_micros is None
    assert info.missing[0].name == "accelerator_micros"
    assert info.missing[0].is_unknown


def test_executions_without_a_time():
    profiler = tfprof.Profiler(a_graph())
    profiler.add_step(0, run({"mm": stat(5, start=0)}))
    info = info_of(profiler)
    assert (info.steps[0].wall_micros, info.steps[0].op_micros) == (None, 0)
    assert "wall_micros" in {missing.name for missing in info.missing}


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    return profiler


def test_totals_are_those_of_the_views(demo):
    info = info_of(demo)
    tree = demo.view("scope")
    step = info.steps[0]
    assert step.op_micros == tree.total_exec_micros
    assert step.requested_bytes == tree.total_requested_bytes
    assert info.ops.float_ops >= tree.total_float_ops > 0
    assert sum(device.requested_bytes for device in info.devices) == step.requested_bytes
    assert sum(info.ops.types.values()) == info.ops.ops == len(tree.ops)
    assert info.to_dict()["ops"]["ran"] == info.ops.ran
