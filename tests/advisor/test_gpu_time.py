from tfprof.advisor.gpu_time import check_accelerator_utilization, check_kernel_launch
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, op, op_log, run, run_on, stat, traced

from .checking import found, the_finding

N = 100
NODES = [op(f"op{i}", "Add") for i in range(N)]
LOG = op_log(*(traced(f"op{i}", "train.py:4:main", "net.py:9:cell") for i in range(N)))


def step(prepare, compute, n=N, every=10):
    """The host prepares an op every ``every`` µs; its kernel starts after the preparation."""
    host = {f"op{i}": stat(prepare, start=1000 + i * every) for i in range(n)}
    kernels = {f"op{i}": stat(compute, start=1000 + i * every + prepare) for i in range(n)}
    return run_on({GPU: host, GPU_STREAMS: kernels})


def test_a_gpu_that_waits_for_launches():
    # 8 of 10 µs go to the preparation, 2 to the kernel.
    finding = the_finding(check_kernel_launch, NODES, step(8, 2), op_log=LOG)
    assert (finding.rule, finding.severity) == ("KernelLaunchChecker", "critical")
    assert finding.evidence == {
        "launch_share": 0.8,
        "launch_micros": 800,
        "step_micros": 1000,
        "kernel_count": 100,
        "median_kernel_micros": 2,
        "busy_micros": 200,
    }
    assert finding.message.startswith(
        "GPU:0 idles 80.0 % of the step (800 µs of 1.00 ms) while the host prepares its next "
        "kernels: 100 kernels per step, of which half take 2 µs or less."
    )
    assert finding.place == "net.py:9 in cell"
    assert finding.gain.amount == 800


def test_numbers_are_those_of_one_step():
    steps = [step(8, 2), step(8, 2)]
    finding = the_finding(check_kernel_launch, NODES, *steps)
    assert (finding.evidence["kernel_count"], finding.evidence["launch_micros"]) == (100, 800)


def test_long_kernels_are_not_bound_by_launches():
    assert found(check_kernel_launch, NODES, step(50, 11, every=61)) == []


def test_a_gpu_that_idles_for_another_reason():
    assert found(check_kernel_launch, NODES, step(1, 2)) == []


def test_few_kernels():
    assert found(check_kernel_launch, NODES, step(8, 2, n=49)) == []
    assert found(check_kernel_launch, NODES, step(8, 2, n=50)) != []


def test_launches_count_from_their_limit_on():
    """A last kernel makes the step so long that 400 µs of preparation are 20 % of it, or less."""

    def found_with(last):
        host = {f"op{i}": stat(8, start=1000 + i * 10) for i in range(50)}
        kernels = {f"op{i}": stat(2, start=1008 + i * 10) for i in range(50)}
        return found(
            check_kernel_launch, NODES,
            run_on({GPU: host, GPU_STREAMS: kernels | {"op60": stat(last, start=1500)}}),
        )  # fmt: skip

    assert [len(found_with(last)) for last in (1500, 1501)] == [1, 0]


def test_the_first_op_of_the_graph_has_a_line_too():
    log = op_log(traced("op0", "net.py:9:cell"))
    assert (
        the_finding(check_kernel_launch, NODES, step(8, 2), op_log=log).place == "net.py:9 in cell"
    )


def test_waiting_for_a_tensor_is_no_preparation():
    host = {f"r{i}": stat(8, start=1000 + i * 10, label=f"r{i} = _Recv(x)") for i in range(N)}
    kernels = {f"op{i}": stat(2, start=1008 + i * 10) for i in range(N)}
    assert found(check_kernel_launch, NODES, run_on({GPU: host, GPU_STREAMS: kernels})) == []


def test_preparation_behind_running_kernels_is_free():
    host = {f"op{i}": stat(8, start=1000 + i * 10) for i in range(N)}
    kernels = {f"op{i}": stat(10, start=1000 + i * 10) for i in range(N)}
    assert found(check_kernel_launch, NODES, run_on({GPU: host, GPU_STREAMS: kernels})) == []


def test_a_run_without_a_gpu():
    assert found(check_kernel_launch, NODES, run({"op1": 5})) == []
    assert found(check_accelerator_utilization, NODES, run({"op1": 5})) == []
    assert found(check_accelerator_utilization, NODES) == []


def gpu_step(start, scheduled, computed):
    return run_on(
        {
            GPU: {"op1": stat(scheduled, start=start)},
            GPU_STREAMS: {"op1": stat(computed, start=start)},
        }
    )


def test_utilization_is_over_all_steps():
    # 10 of 10 µs busy in the first step, 2 of 10 in the second: 12 of 20.
    steps = [gpu_step(1000, 10, 10), gpu_step(5000, 10, 2)]
    finding = the_finding(check_accelerator_utilization, NODES, *steps)
    assert finding.message == "GPU:0 computes 60.0 % of the step: 6 µs of 10 µs."
    assert (finding.severity, finding.gain) == ("info", None)
    assert finding.evidence == {
        "busy_share": 0.6, "busy_micros": 6, "step_micros": 10, "idle_micros": 4,
    }  # fmt: skip


def test_kernels_at_the_same_time_count_once():
    kernels = {"op1": stat(10, start=1000), "op2": stat(10, start=1005)}
    run_meta = run_on({CPU: {"op3": stat(60, start=1000)}, GPU_STREAMS: kernels})
    finding = the_finding(check_accelerator_utilization, NODES, run_meta)
    assert (finding.severity, finding.evidence["busy_micros"]) == ("warning", 15)
    assert finding.message.startswith("GPU:0 computes only 25.0 % of the step: 15 µs of 60 µs.")
    assert finding.gain.amount == 45


def test_half_of_the_step_is_not_little():
    finding = the_finding(check_accelerator_utilization, NODES, gpu_step(1000, 10, 5))
    assert (finding.evidence["busy_share"], finding.severity) == (0.5, "info")


def test_a_gpu_without_kernel_times_is_not_judged():
    finding = the_finding(check_accelerator_utilization, NODES, run({"op1": 5}, device=GPU))
    assert (finding.severity, finding.evidence) == ("info", {})
    assert "no kernel times" in finding.message


def test_kernels_without_starts_have_no_share():
    run_meta = run_on({GPU_STREAMS: {"op1": stat(10, start=0)}})
    assert found(check_accelerator_utilization, NODES, run_meta) == []


def test_each_gpu_by_itself():
    blocks = {
        "/device:GPU:1/stream:all": {"op1": stat(10, start=1000)},
        "/device:GPU:0/stream:all": {"op2": stat(6, start=1000)},
    }
    findings = found(check_accelerator_utilization, NODES, run_on(blocks))
    assert [finding.message[:5] for finding in findings] == ["GPU:0", "GPU:1"]
    assert [finding.evidence["busy_share"] for finding in findings] == [0.6, 1]
