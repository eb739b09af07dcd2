from tfprof.advisor.expensive import check_expensive_operations
from tfprof.advisor.registry import check_job
from tfprof.testing.builders import GPU, GPU_STREAMS, op, op_log, run, run_on, stat, traced

from .checking import found, the_finding

MATH = "/env/lib/python3.11/site-packages/tensorflow/python/ops/math_ops.py:7:matmul"
NODES = [
    op("net/a", "MatMul"), op("net/b", "Relu"), op("gradients/net/a_grad/MatMul", "MatMul"),
    op("loss", "Sum"), op("never", "Neg"),
]  # fmt: skip
RUN = run({"net/a": 300, "net/b": 100, "gradients/net/a_grad/MatMul": 500, "loss": 100})
LOG = op_log(
    traced("net/a", "train.py:3:main", "net.py:5:dense", MATH),
    traced("net/b", "train.py:3:main", "net.py:6:dense"),
    traced("gradients/net/a_grad/MatMul", "train.py:9:main", MATH),
    traced("loss", "train.py:4:main"),
)


def test_op_types_scopes_and_lines():
    types, scopes, lines = found(check_expensive_operations, NODES, RUN, op_log=LOG)
    assert types.message == (
        "Most time goes to the op types 'MatMul' (800 µs, 80.0 %), 'Relu' (100 µs, 10.0 %) and "
        "'Sum' (100 µs, 10.0 %). Look there first."
    )
    assert types.evidence == {
        "MatMul:time_micros": 800, "Relu:time_micros": 100, "Sum:time_micros": 100,
        "MatMul:time_share": 0.8, "Relu:time_share": 0.1, "Sum:time_share": 0.1,
        "total_micros": 1000,
    }  # fmt: skip
    assert scopes.message.startswith(
        "Most time goes to the scopes and ops 'gradients' (500 µs, 50.0 %), 'net' (400 µs, 40.0 %)"
        " and 'loss' (100 µs"
    )
    # The gradient counts for the line of its forward op; TensorFlow's own lines are folded.
    assert lines.message.startswith(
        "Most time goes to ops made by the lines 'net.py:5:dense' (800 µs, 80.0 %), "
    )
    assert {finding.place for finding in (types, lines)} == {"net.py:5 in dense"}
    assert scopes.location is None


def test_library_frames_on_request():
    *_, lines = found(
        check_expensive_operations, NODES, RUN, op_log=LOG, show_library_frames=True
    )  # fmt: skip
    assert lines.place == MATH.rpartition(":")[0] + " in matmul"


def test_equal_labels_of_different_files_stay_apart():
    log = op_log(traced("net/a", "a/net.py:5:f"), traced("net/b", "b/net.py:5:f"))
    run_meta = run({"net/a": 300, "net/b": 100})
    lines = found(check_expensive_operations, NODES, run_meta, op_log=log)[-1]
    assert "'a/net.py:5:f' (300 µs" in lines.message
    assert "'b/net.py:5:f' (100 µs" in lines.message


def test_times_are_means_over_steps_and_count_all_devices():
    steps = [
        run_on({GPU: {"net/a": stat(10)}, GPU_STREAMS: {"net/a": stat(90)}}),
        run_on({GPU: {"net/a": stat(20)}, GPU_STREAMS: {"net/a": stat(80)}}),
    ]
    types, scopes = found(check_expensive_operations, NODES, *steps)
    assert types.evidence == {
        "MatMul:time_micros": 100, "MatMul:time_share": 1, "total_micros": 100,
    }  # fmt: skip
    assert "'net/a' (100 µs, 100.0 %)" in scopes.message


def test_an_op_seen_only_at_run_time_has_the_type_of_its_label():
    run_meta = run({"_arg_x_0_0": stat(5, label="_arg_x_0_0 = _Arg()")})
    assert "'_Arg' (5 µs" in found(check_expensive_operations, NODES, run_meta)[0].message


def test_without_times_there_is_nothing_to_say():
    assert found(check_expensive_operations, NODES) == []
    assert found(check_expensive_operations, [], run({})) == []


def test_the_job_checker_gives_the_reason_for_an_empty_result():
    finding = the_finding(check_job, NODES, RUN)
    assert (finding.rule, finding.severity, finding.evidence) == ("JobChecker", "info", {})
    assert "no job to check" in finding.message


def test_a_scope_with_all_the_time_is_left_for_what_is_inside():
    nodes = [op("step/model/a/x", "MatMul"), op("step/model/b/y", "Relu"), op("step/loss", "Sum")]
    run_meta = run({"step/model/a/x": 600, "step/model/b/y": 370, "step/loss": 30})
    scopes = found(check_expensive_operations, nodes, run_meta)[1]
    assert scopes.message.startswith(
        "Most time goes to the scopes and ops 'step/model/a' (600 µs, 60.0 %) and "
        "'step/model/b' (370 µs"
    )


def test_a_line_with_all_the_time_is_nothing_to_look_at():
    nodes = [op("a", "MatMul"), op("b", "Relu")]
    log = op_log(traced("a", "train.py:9:main"), traced("b", "train.py:9:main"))
    findings = found(check_expensive_operations, nodes, run({"a": 600, "b": 400}), op_log=log)
    assert [finding.message.partition("'")[0] for finding in findings] == [
        "Most time goes to the op types ", "Most time goes to the scopes and ops ",
    ]  # fmt: skip
    assert findings[0].location is None


def test_the_line_of_the_only_op_is_named_and_lines_of_idle_ops_are_not():
    nodes = [op("a", "MatMul"), op("b", "Relu")]
    log = op_log(traced("a", "train.py:9:main"), traced("b", "train.py:9:main"))
    lines = found(check_expensive_operations, nodes, run({"a": 600}), op_log=log)[-1]
    assert lines.evidence == {
        "train.py:9:main:time_micros": 600, "train.py:9:main:time_share": 1, "total_micros": 600,
    }  # fmt: skip


def test_lines_with_little_of_the_time_are_not_named():
    log = op_log(traced("net/a", "train.py:3:main"))
    nodes = [op("net/a", "MatMul"), *(op(f"other{i}", "Relu") for i in range(9))]
    others = {f"other{i}": 100 for i in range(9)}
    few = found(check_expensive_operations, nodes, run({"net/a": 20, **others}), op_log=log)
    assert not any("train.py" in finding.message for finding in few)
    more = found(check_expensive_operations, nodes, run({"net/a": 80, **others}), op_log=log)[-1]
    assert more.message.startswith(
        "The largest part of the time goes to ops made by the lines 'train.py:3:main' (80 µs"
    )
