import numpy as np
import pytest

import tfprof
from tfprof.profiles.model.profile import Profile, label_op
from tfprof.profiles.model.steps import MEASURES
from tfprof.profiles.read.oplog import read_op_log
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

LOWER_CPU = CPU.lower()


def profile_of(*nodes, classic=False):
    """The profile inside a profiler, which feeds it."""
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    profile = profiler._session.profile
    profile.add_step = profiler.add_step
    return profile


def add(profile, run_meta, step=0):
    profile.add_step(step, run_meta)
    return profile


def measured(profile, name, step=0):
    """The measures of one op that are not 0."""
    measures = profile.steps.measures(step, len(profile.ops))
    column = measures.values[:, profile.ops.row(name)].tolist()
    return {key: value for key, value in zip(MEASURES, column, strict=True) if value}


def recorded(profile, name):
    measures = profile.steps.measures(-1, len(profile.ops))
    return bool(measures.recorded[profile.ops.row(name)])


def device(profile, name):
    device_id = int(profile.ops.device_ids.array[profile.ops.row(name)])
    return None if device_id < 0 else profile.ops.strings[device_id]


def codes(profile):
    return {notice.code: notice.count for notice in profile.notices.as_tuple()}


def test_time_of_a_cpu_op():
    profile = add(profile_of(op("a")), run({"a": 7}))
    assert measured(profile, "a") == {"run_count": 1, "cpu_exec_micros": 7}
    assert device(profile, "a") == LOWER_CPU


def test_a_loop_body_adds_up_its_executions():
    profile = add(profile_of(op("a")), run([("a", 7), ("a", 5), ("a", 1)]))
    assert measured(profile, "a") == {"run_count": 3, "cpu_exec_micros": 13}


def test_the_name_ends_at_the_first_colon():
    profile = add(profile_of(op("a")), run({"a:b:c": 7}))
    assert measured(profile, "a") == {"run_count": 1, "cpu_exec_micros": 7}
    assert len(profile.ops) == 1


def test_a_duration_of_0_counts_as_1():
    profile = add(profile_of(op("a")), run({"a": 0}))
    assert measured(profile, "a") == {"run_count": 1, "cpu_exec_micros": 1}


@pytest.mark.parametrize("start", [0, -5])
def test_without_a_start_time_there_is_only_a_record(start):
    stats = {"a": stat(7, start=start, memory=(1, 2, 3))}
    profile = add(profile_of(op("a")), run(stats))
    assert measured(profile, "a") == {}
    assert recorded(profile, "a")
    assert device(profile, "a") == LOWER_CPU


def test_accelerator_streams_give_accelerator_time_only():
    stats = {"a": stat(7, memory=(1, 2, 3))}
    profile = add(profile_of(op("a")), run(stats, device=GPU_STREAMS))
    assert measured(profile, "a") == {"accelerator_exec_micros": 7}
    assert device(profile, "a") is None


def test_scheduling_time_on_a_gpu_is_cpu_time():
    profile = add(profile_of(op("a")), run_on({GPU: {"a": 4}, GPU_STREAMS: {"a": 30}}))
    assert measured(profile, "a") == {
        "run_count": 1, "accelerator_exec_micros": 30, "cpu_exec_micros": 4,
    }  # fmt: skip
    assert device(profile, "a") == GPU.lower()


@pytest.mark.parametrize("name", ["/host:CPU", "/device:GPU:0/stream:16", "cpu:0"])
def test_other_devices_leave_only_a_record(name):
    profile = add(profile_of(op("a")), run({"a": stat(7, memory=(1, 2, 3))}, device=name))
    assert measured(profile, "a") == {}
    assert recorded(profile, "a")
    assert device(profile, "a") is None


def test_a_device_that_is_stream_and_canonical_counts_as_accelerator_with_memory():
    stats = {"a": stat(7, memory=(8, 4, 2))}
    profile = add(profile_of(op("a")), run(stats, device="stream:all/cpu:0"))
    assert measured(profile, "a") == {
        "accelerator_exec_micros": 7, "requested_bytes": 8, "peak_bytes": 4, "residual_bytes": 2,
    }  # fmt: skip


def test_memory_formulas():
    stats = {
        "a": stat(1, memory=(100, 60, 40), temporary=7, persistent=3, outputs=[30, 20]),
    }
    profile = add(profile_of(op("a")), run(stats))
    assert measured(profile, "a") == {
        "run_count": 1,
        "cpu_exec_micros": 1,
        "requested_bytes": 100 + 7 + 3,
        "peak_bytes": 60 + 7 + 3,
        "residual_bytes": 40 + 3,
        "output_bytes": 30 + 20,
    }


def test_memory_without_any_device_name_counts():
    profile = add(profile_of(op("a")), run({"a": stat(5, memory=(8, 4, 2))}, device=""))
    assert measured(profile, "a") == {"requested_bytes": 8, "peak_bytes": 4, "residual_bytes": 2}


def test_memory_without_a_device_name_does_not_count_once_the_op_has_a_device():
    blocks = {CPU: {"a": 5}, "": {"a": stat(5, memory=(8, 4, 2))}}
    profile = add(profile_of(op("a")), run_on(blocks))
    assert measured(profile, "a") == {"run_count": 1, "cpu_exec_micros": 5}


def test_the_first_canonical_device_wins_across_steps_and_drops_are_noted():
    profile = add(profile_of(op("a")), run_on({"/cpu:0": {"a": 5}, "/cpu:1": {"a": 50}}), step=0)
    add(profile, run({"a": 70}, device="/cpu:1"), step=1)
    assert measured(profile, "a", 0) == {"run_count": 1, "cpu_exec_micros": 5}
    assert measured(profile, "a", 1) == {}
    assert device(profile, "a") == "/cpu:0"
    assert codes(profile) == {"other-device": 2}


def test_a_dropped_stat_makes_no_record():
    profile = add(profile_of(op("a")), run({"a": 5}, device="/cpu:0"), step=0)
    add(profile, run({"a": 6}, device="/cpu:1"), step=1)
    # Had step 1 made a record, the average would be 5 / 2.
    assert measured(profile, "a", -1) == {"run_count": 1, "cpu_exec_micros": 5}


@pytest.mark.parametrize("name", ["RecvTensor", "_SOURCE", "MEMCPYHtoD", "x/MEMCPY_1"])
def test_plumbing_without_a_node_is_passed_over(name):
    profile = add(profile_of(op("a")), run({name: 5, "a": 1}))
    assert len(profile.ops) == 1
    assert measured(profile, "a") == {"run_count": 1, "cpu_exec_micros": 1}


@pytest.mark.parametrize("name", ["RecvTensor", "_SOURCE", "MEMCPYHtoD"])
def test_plumbing_with_a_node_counts(name):
    profile = add(profile_of(op(name)), run({name: 5}))
    assert measured(profile, name) == {"run_count": 1, "cpu_exec_micros": 5}


def test_names_without_a_node_become_ops():
    profile = add(profile_of(op("a")), run({"_arg_x_0_0": 5}))
    assert profile.ops.row("_arg_x_0_0") == 1
    assert measured(profile, "_arg_x_0_0") == {"run_count": 1, "cpu_exec_micros": 5}


def test_coverage_counts_run_time_ops_from_their_second_stat():
    profile = profile_of(op("a"), op("b"))
    assert profile.coverage == 0
    add(profile, run({"a": 1, "extra": 1}))
    assert profile.coverage == pytest.approx(1 / 3)
    add(profile, run([("extra", 1)]))
    assert profile.coverage == pytest.approx(2 / 3)


def test_coverage_of_a_run_time_op_within_one_run():
    profile = add(profile_of(op("a")), run([("extra", 1), ("extra", 1)]))
    assert profile.coverage == pytest.approx(1 / 2)


def test_coverage_of_nothing_is_0():
    assert Profile().coverage == 0


def test_missing_accelerator_stream_is_remembered():
    profile = add(profile_of(op("a")), run_on({CPU: {"a": 1}}))
    assert not profile.misses_accelerator_stream
    add(profile, run_on({GPU: {"a": 1}, GPU_STREAMS: {"a": 1}}))
    assert not profile.misses_accelerator_stream
    add(profile, run_on({GPU: {"a": 1}, "stream:all": {"a": 1}}))
    assert profile.misses_accelerator_stream
    add(profile, run_on({GPU: {"a": 1}, GPU_STREAMS: {"a": 1}}))
    assert profile.misses_accelerator_stream


def test_an_empty_run_adds_the_step():
    profile = add(profile_of(op("a")), run(), step=9)
    assert profile.steps.steps == [9]
    assert not recorded(profile, "a")


def test_op_log_adds_types_and_the_last_float_ops_that_are_not_0():
    profile = profile_of(op("a", "Relu"))
    profile.add_op_log(read_op_log(op_log(logged("a", float_ops=5, types=["t", "u"]))))
    profile.add_op_log(read_op_log(op_log(logged("a", types=["v"]))))
    assert profile.ops.float_ops.array.tolist() == [5]
    profile.add_op_log(read_op_log(op_log(logged("a", float_ops=8))))
    assert profile.ops.float_ops.array.tolist() == [8]
    added = [profile.ops.strings[type_id] for type_id in profile.ops.added_types[0]]
    assert added == ["t", "u", "v"]


def test_the_first_call_stack_of_an_op_wins():
    profile = profile_of(op("a"))
    profile.add_op_log(read_op_log(op_log(traced("a", "f.py:1:first"))))
    profile.add_op_log(read_op_log(op_log(traced("a", "f.py:2:second"))))
    frames = profile.stacks.frame_ids(int(profile.ops.stack_ids.array[0]))
    assert [profile.stacks.frames[frame].function for frame in frames] == ["first"]


def test_op_log_entries_of_unknown_ops_change_nothing():
    profile = profile_of(op("a"))
    profile.add_op_log(read_op_log(op_log(traced("x", "f.py:1:main", float_ops=3, types=["t"]))))
    assert not profile.has_traces
    assert profile.ops.added_types == {}
    assert len(profile.ops) == 1


def test_a_call_stack_without_frames_still_says_that_there_are_traces():
    profile = profile_of(op("a"))
    profile.add_op_log(read_op_log(op_log(traced("a"))))
    assert profile.has_traces


def test_negative_durations_count_as_0_and_are_noted():
    profile = add(profile_of(op("a"), op("b")), run([("a", -5), ("a", 8), ("b", -1)]))
    assert measured(profile, "a") == {"run_count": 2, "cpu_exec_micros": 8}
    assert measured(profile, "b") == {"run_count": 1}
    assert codes(profile) == {"negative-duration": 2}


def test_two_profiles_share_nothing():
    first, second = profile_of(op("a")), profile_of(op("a"))
    add(first, run({"a": 5}))
    assert second.steps.steps == []
    assert first.ops.strings is not second.ops.strings


@pytest.mark.parametrize(
    ("label", "type_"),
    [
        ("y = MatMul(x, w)", "MatMul"),
        ("_arg_x_0_0 = _Arg()", "_Arg"),
        ("a/b:0 = Ns>Op.v2(x)", "Ns>Op.v2"),
        ("y = 3x()", None),
        ("MatMul(x)", None),
        ("y == Relu(x)", None),
        ("", None),
        ("[CPU] 4MB", None),
    ],
)
def test_op_type_of_a_timeline_label(label, type_):
    assert label_op(label) == type_


def test_only_what_a_run_holds_is_touched():
    profile = profile_of(*(op(f"n{i}") for i in range(50)))
    add(profile, run({"n3": 1, "n7": 2}))
    assert profile.steps.records[0].rows.tolist() == [3, 7]
    assert profile.steps.records[0].values.dtype == np.int64
