import pytest

from tfprof.advisor.copies import check_device_copies
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, op, op_log, run, run_on, stat, traced

from .checking import found, the_finding

MEMCPY = "/device:GPU:0/memcpy"
NODES = [op("mm", "MatMul", "x"), op("x", "Placeholder"), op("table", "Placeholder")]
LOG = op_log(traced("x", "train.py:4:main"), traced("table", "train.py:5:main"))


def received(name, size):
    return stat(5, start=1000, label=f"{name} = _Recv(x @cpu)", outputs=(size,))


def step(copies, kernels, receives=()):
    return run_on({GPU: dict(receives), GPU_STREAMS: kernels, MEMCPY: copies})


def test_copies_that_the_gpu_waits_for():
    # 100 of the 300 µs of copies overlap with the kernel.
    copies = [("MEMCPYHtoD", stat(200, start=1000)), ("MEMCPYDtoH", stat(100, start=1300))]
    kernels = {"mm": stat(800, start=1200)}
    receives = [("x/_3", received("x/_3", 1000)), ("edge_7_table", received("edge_7_table", 5000))]
    finding = the_finding(check_device_copies, NODES, step(copies, kernels, receives), op_log=LOG)
    assert (finding.rule, finding.severity) == ("DeviceCopyChecker", "critical")
    assert finding.evidence == {
        "copy_count": 2, "copy_micros": 300, "exposed_micros": 200, "exposed_share": 0.2,
        "step_micros": 1000, "received_bytes": 6000,
    }  # fmt: skip
    assert finding.message.startswith(
        "Copies between host and GPU (2) take 300 µs per step, and during 200 µs of them "
        "(20.0 % of the step) the GPU computes nothing. The largest tensors received (6.00 kB in "
        "all): 'table' and 'x'."
    )
    assert finding.place == "train.py:5 in main"
    assert finding.gain.amount == 200


@pytest.mark.parametrize(("micros", "severity"), [(49, None), (50, "warning"), (200, "critical")])
def test_limits(micros, severity):
    copies = {"MEMCPYHtoD": stat(micros, start=1000)}
    kernels = {"mm": stat(1000 - micros, start=1000 + micros)}
    findings = found(check_device_copies, NODES, step(copies, kernels))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_copies_behind_kernels_are_free():
    run_meta = step({"MEMCPYHtoD": stat(500, start=1100)}, {"mm": stat(1000, start=1000)})
    assert found(check_device_copies, NODES, run_meta) == []


def test_copies_within_gpus_do_not_cross_to_the_host():
    copies = {"MEMCPYDtoD": stat(500, start=1000), "mm:MEMCPYPtoP": stat(100, start=1000)}
    assert found(check_device_copies, NODES, step(copies, {"x": stat(9, start=1600)})) == []


def test_without_times_sizes_decide():
    # 12 MB at 12 GB per second are 1 ms of 10 ms.
    run_meta = run_on(
        {GPU: {"x/_3": received("x/_3", 12_000_000)}, GPU_STREAMS: {"mm": stat(10_000, start=1000)}}
    )
    finding = the_finding(check_device_copies, NODES, run_meta, op_log=LOG)
    assert (finding.severity, finding.gain.amount) == ("warning", 1000)
    assert finding.evidence["estimated_micros"] == 1000
    assert "12.0 GB per second" in finding.message
    assert finding.place == "train.py:4 in main"
    small = run_on(
        {GPU: {"x/_3": received("x/_3", 5_000_000)}, GPU_STREAMS: {"mm": stat(10_000, start=1000)}}
    )
    assert found(check_device_copies, NODES, small) == []


def test_a_run_without_a_gpu():
    assert found(check_device_copies, NODES, run({"mm": 5}, device=CPU)) == []
    assert found(check_device_copies, NODES) == []
