from tfprof.advisor.peak_memory import check_peak_memory
from tfprof.testing.builders import CPU, op, op_log, run, run_on, stat, traced

from .checking import found, the_finding

MB = 1_000_000
NODES = [op("a"), op("b", "X", "a"), op("gradients/b_grad/mul", "Mul", "b", "a")]
LOG = op_log(
    traced("a", "train.py:4:main"),
    traced("b", "train.py:5:main"),
    traced("gradients/b_grad/mul", "train.py:9:minimize"),
)


def step(*sizes):
    return run(
        {
            node.name: stat(10, start=1000 + 10 * i, outputs=(size * MB,))
            for i, (node, size) in enumerate(zip(NODES, sizes, strict=True))
        }
    )


def test_the_lines_that_hold_most_at_the_peak():
    finding = the_finding(check_peak_memory, NODES, step(60, 30, 50), op_log=LOG)
    assert (finding.rule, finding.severity) == ("PeakMemoryChecker", "info")
    # The gradient's output counts for the line of its forward op.
    assert finding.evidence == {
        "train.py:5:main:held_bytes": 80 * MB, "train.py:4:main:held_bytes": 60 * MB,
        "train.py:5:main:held_share": 80 / 140, "train.py:4:main:held_share": 60 / 140,
        "peak_bytes": 140 * MB,
    }  # fmt: skip
    assert finding.message.startswith(
        "At the peak, outputs of 140 MB are alive on CPU:0. The largest holders: "
        "'train.py:5:main' (80.0 MB, 57.1 %) and 'train.py:4:main' (60.0 MB, 42.9 %)."
    )
    assert finding.place == "train.py:5 in main"
    assert (finding.gain.amount, finding.gain.unit) == (80 * MB, "bytes")


def test_ops_are_named_where_no_line_is_known():
    finding = the_finding(check_peak_memory, NODES, step(60, 30, 50))
    assert "'a' (60.0 MB, 42.9 %), 'gradients/b_grad/mul' (50.0 MB" in finding.message
    assert finding.location is None


def test_small_programs_are_left_alone():
    assert found(check_peak_memory, NODES, step(40, 30, 29)) == []
    assert found(check_peak_memory, NODES, step(40, 30, 30)) != []
    assert found(check_peak_memory, NODES, run({"a": 5})) == []
    assert found(check_peak_memory, NODES) == []


def test_the_step_that_needs_most_counts():
    finding = the_finding(check_peak_memory, NODES, step(60, 30, 50), step(60, 30, 90))
    assert finding.evidence["peak_bytes"] == 180 * MB


def test_each_device_by_itself():
    second = "/job:localhost/replica:0/task:0/device:GPU:0"
    blocks = {CPU: {"a": stat(5, outputs=(200 * MB,))}, second: {"b": stat(5, outputs=(300 * MB,))}}
    findings = found(check_peak_memory, NODES, run_on(blocks))
    assert [finding.evidence["peak_bytes"] for finding in findings] == [200 * MB, 300 * MB]
    assert ["CPU:0" in findings[0].message, "GPU:0" in findings[1].message] == [True, True]
