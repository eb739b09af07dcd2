import pytest

import tfprof
from tests.doctor.conftest import by_name
from tfprof.core.wire import messages as pb
from tfprof.doctor import contents
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
    shape_proto,
    stat,
    traced,
)

MEMORY = stat(5, memory=(64, 64, 0))


def check_run(message):
    return by_name(contents.check_run(message.SerializeToString()))


def placeholder(name, shape, dtype=1):
    node = op(name, "Placeholder")
    node.attr["dtype"].type = dtype
    if shape is not None:
        node.attr["shape"].shape.CopyFrom(shape_proto(shape))
    return node


def test_a_sound_graph():
    message = graph(placeholder("x", [2, 3]), op("y", "Relu", "x"))
    (check,) = contents.check_graph(message.SerializeToString())
    assert (check.status, check.message) == ("ok", "GraphDef: 2 ops")


def test_open_shapes():
    message = graph(
        placeholder("a", [-1, 3]),
        placeholder("b", "?"),
        placeholder("c", None),
        placeholder("d", None),
        placeholder("file", "?", dtype=7),
        placeholder("scalar", []),
    )
    check = by_name(contents.check_graph(message.SerializeToString()))["open shapes"]
    assert check.status == "note"
    assert check.message.startswith("4 inputs of unknown shape (a, b, c and 1 more)")
    assert "--batch" in check.remedy


def test_a_graph_without_ops():
    (check,) = contents.check_graph(
        pb.GraphDef(versions=pb.VersionDef(producer=1)).SerializeToString()
    )
    assert (check.status, check.message) == ("error", "GraphDef without ops")


def test_a_saved_model_counts_the_ops_of_its_functions():
    model = pb.SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.node.add(name="x", op="NoOp")
    function = meta.graph_def.library.function.add()
    function.node_def.add(name="y", op="NoOp")
    (check,) = contents.check_graph(model.SerializeToString())
    assert (check.status, check.message) == ("ok", "SavedModel: 1 op, 1 more in 1 function")


def test_a_sound_run():
    found = check_run(run({"a": MEMORY, "b": 3}))
    assert [check.status for check in found.values()] == ["ok"]
    assert found["run"].message == "RunMetadata: 2 executions on 1 device"


def test_a_run_that_was_not_traced():
    found = check_run(pb.RunMetadata(partition_graphs=[graph(op("a"))]))
    assert found["run"].status == "error"
    assert found["run"].message == (
        "RunMetadata without step_stats, so the run was not traced (there is only partition_graphs)"
    )
    assert "RunOptions.FULL_TRACE" in found["run"].command


def test_runs_in_which_nothing_ran():
    stats = pb.StepStats()
    message = pb.RunMetadata(step_stats=stats)
    assert check_run(message)["run"].message == "RunMetadata with step_stats that name no device"
    message.step_stats.dev_stats.add(device=CPU)
    assert "no op ran on any device" in check_run(message)["run"].message


def test_a_device_on_which_nothing_ran():
    found = check_run(run_on({CPU: {"a": MEMORY}, GPU_STREAMS: {}}))
    assert found["idle devices"].message == f"nothing ran on {GPU_STREAMS}"


def test_launches_without_kernels():
    found = check_run(run_on({GPU: {"a": MEMORY}}))
    assert found["accelerator stream"].status == "warning"
    assert "tfprof doctor" in found["accelerator stream"].remedy
    assert "accelerator stream" not in check_run(
        run_on({GPU: {"a": MEMORY}, GPU_STREAMS: {"a": 2}})
    )
    # The device of the streams is there, but CUPTI gave it nothing.
    assert "accelerator stream" in check_run(run_on({GPU: {"a": MEMORY}, GPU_STREAMS: {}}))


def test_the_rule_for_missing_streams_is_the_models():
    for blocks in ({GPU: {"a": 1}}, {GPU: {"a": 1}, GPU_STREAMS: {"a": 1}}, {CPU: {"a": 1}}):
        message = run_on(blocks)
        profiler = tfprof.Profiler(graph(op("a")))
        profiler.add_step(0, message)
        loaded = pb.ProfileProto.FromString(profiler.serialize_to_string())
        assert ("accelerator stream" in check_run(message)) == loaded.miss_accelerator_stream


def test_no_memory_and_no_times():
    found = check_run(run({"a": stat(3, start=0)}))
    assert found["memory"].status == "note"
    assert found["times"].status == "warning"


def test_a_clock_that_is_wrong():
    start = 1_700_000_000_000_000
    message = run_on({CPU: {"a": stat(1, start=start)}, GPU_STREAMS: {"a": stat(1, start=1000)}})
    assert "19,676 days apart" in check_run(message)["times"].message  # 1.7e15 µs / 8.64e10


def test_op_logs():
    def check(*entries):
        return by_name(contents.check_op_log(op_log(*entries).SerializeToString()))

    assert [c.status for c in check(traced("a", "x.py:1:f")).values()] == ["ok"]
    found = check(logged("a", float_ops=3))
    assert found["call stacks"].status == "warning"
    assert "write_op_log" in found["call stacks"].command
    assert check()["op log"].status == "warning"


def saved(*, steps=1, log=None, device=CPU):
    profiler = tfprof.Profiler(graph(op("a")), log)
    for step in range(steps):
        profiler.add_step(step, run({"a": 3}, device))
    return profiler.serialize_to_string()


def test_a_sound_profile():
    found = by_name(contents.check_profile(saved(log=op_log(traced("a", "x.py:1:f")))))
    assert [check.status for check in found.values()] == ["ok"]
    assert found["profile"].message == "ProfileProto: 1 op, 1 step"


def test_profiles_that_lack_something():
    found = by_name(contents.check_profile(saved(steps=0)))
    assert found["steps"].status == "warning"
    assert found["call stacks"].status == "note"
    found = by_name(contents.check_profile(saved(device=GPU)))
    assert found["accelerator stream"].status == "warning"
    found = by_name(contents.check_profile(tfprof.Profiler(pb.GraphDef()).serialize_to_string()))
    assert found["profile"].message == "ProfileProto without ops"


def test_a_damaged_profile_says_what_can_be_had():
    profiler = tfprof.Profiler(graph(op("a"), op("b")))
    data = profiler.serialize_to_string()
    (check,) = contents.check_profile(data[:-3])
    assert check.status == "error"
    assert ". 1 op can be recovered: the profile is cut off or broken" in check.message
    assert "recover=True" in check.command
    (check,) = contents.check_profile(saved()[:-3])
    assert check.message.endswith("Nothing of it can be recovered.")


@pytest.fixture
def files(tmp_path):
    def write(**messages):
        paths = []
        for name, message in messages.items():
            (tmp_path / name).write_bytes(message.SerializeToString())
            paths.append(str(tmp_path / name))
        return paths

    return write


def test_files_that_belong_together(files):
    log = op_log(traced("a", "x.py:1:f"))
    paths = files(graph=graph(op("a"), op("b")), run=run({"a": 1, "other": 2}), log=log)
    found = by_name(contents.check_together(paths[0], [paths[1]], paths[2]))
    assert [check.status for check in found.values()] == ["ok"]
    assert found["coverage"].message == ("1 of the graph's 2 ops ran, and 1 that it does not have")


def test_a_run_of_another_graph(files):
    paths = files(graph=graph(op("a"), op("b")), run=run({"x": 1, "y": 2}))
    found = by_name(contents.check_together(paths[0], [paths[1]], None))
    assert found["coverage"].status == "error"
    assert found["coverage"].message == (
        "none of the graph's 2 ops ran: the run metadata name 2 other ops"
    )


def test_a_run_mostly_of_another_graph(files):
    paths = files(graph=graph(op("a")), run=run({"a": 1, "x": 1, "y": 2}))
    found = by_name(contents.check_together(paths[0], [paths[1]], None))
    assert found["coverage"].status == "warning"


def test_an_op_log_of_another_graph(files):
    paths = files(graph=graph(op("a")), log=op_log(logged("z", float_ops=1)))
    found = by_name(contents.check_together(paths[0], [], paths[1]))
    assert found["op log names"].status == "error"
    assert "(z is not in it)" in found["op log names"].message


def test_no_graph_nothing_to_compare(files):
    paths = files(run=run({"x": 1}), log=op_log(logged("z", float_ops=1)))
    assert not list(contents.check_together(None, [paths[0]], paths[1]))
