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


def test_numbers_are_those_of_one_step():
    copies, kernels = {"MEMCPYHtoD": stat(100, start=1000)}, {"mm": stat(400, start=1100)}
    finding = the_finding(check_device_copies, NODES, *[step(copies, kernels)] * 2)
    assert finding.evidence == {
        "copy_count": 1, "copy_micros": 100, "exposed_micros": 100, "exposed_share": 0.2,
        "step_micros": 500,
    }  # fmt: skip
    assert "the GPU computes nothing. Keep tensors on the device" in finding.message


def test_the_first_op_of_a_graph_may_send_and_a_strange_name_stands_for_itself():
    copies, kernels = {"MEMCPYHtoD": stat(200, start=1000)}, {"mm": stat(800, start=1200)}
    nodes = [op("first", "Placeholder"), *NODES]
    receives = {"first/_3": received("first/_3", 2000), "strange": received("strange", 3000)}
    log = op_log(traced("first", "train.py:9:main"))
    run_meta = step(copies, kernels, receives)
    finding = the_finding(check_device_copies, nodes, run_meta, op_log=log)
    assert "'strange' and 'first'." in finding.message
    assert finding.place == "train.py:9 in main"


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
    for size, n in ((5_999_999, 0), (6_000_000, 1)):  # 5 % of the step
        least = run_on(
            {GPU: {"x/_3": received("x/_3", size)}, GPU_STREAMS: {"mm": stat(10_000, start=1000)}}
        )
        assert len(found(check_device_copies, NODES, least)) == n


def test_a_run_without_a_gpu():
    assert found(check_device_copies, NODES, run({"mm": 5}, device=CPU)) == []
    assert found(check_device_copies, NODES) == []
