import pytest

from tfprof.advisor.stragglers import check_stragglers
from tfprof.testing.builders import GPU, op, run, run_on, stat

from .checking import found, the_finding

NODES = [op(f"op{i}", "Add") for i in range(8)]


def gpus(*micros, starts=(1000, 1000, 1000)):
    return run_on(
        {
            f"/device:GPU:{i}/stream:all": {f"op{i}": stat(time, start=start)}
            for i, (time, start) in enumerate(zip(micros, starts, strict=False))
        }
    )


def workers(*micros, job="worker", start=1000):
    return run_on(
        {
            f"/job:{job}/replica:0/task:{i}/device:CPU:0": {
                f"op{i}": stat(time, start=start + 50_000 * i)
            }
            for i, time in enumerate(micros)
        }
    )


def test_a_device_that_works_longer_than_the_others():
    finding = the_finding(check_stragglers, NODES, gpus(1000, 1500, 1000), gpus(1000, 1400, 1000))
    assert (finding.rule, finding.severity) == ("StragglerChecker", "warning")
    assert finding.evidence == {
        "own_micros": 1450, "typical_micros": 1000, "excess_micros": 450,
        "late_step_count": 2, "step_count": 2, "excess_share": 0.45,
    }  # fmt: skip
    assert finding.message.startswith(
        "GPU:1 works 1.45 ms per step, a typical device of its kind 1.00 ms (45.0 % more); it "
        "is late in 2 of 2 steps."
    )
    assert finding.gain.amount == 450


@pytest.mark.parametrize(
    ("micros", "severity"), [(1199, None), (1200, "warning"), (2000, "critical")]
)
def test_limits(micros, severity):
    findings = found(check_stragglers, NODES, gpus(1000, 1000, micros))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_short_differences_are_noise():
    assert found(check_stragglers, NODES, gpus(100, 100, 199)) == []


def test_a_straggler_is_one_in_most_steps():
    steps = [gpus(1000, 2000), gpus(1000, 1000), gpus(1000, 1000)]
    assert found(check_stragglers, NODES, *steps[:2]) == []
    assert len(found(check_stragglers, NODES, steps[0], *steps[:2])) == 1
    # Each is slow once, which does not make it a straggler.
    assert found(check_stragglers, NODES, gpus(1000, 2000), gpus(2000, 1000)) == []


def test_a_device_that_is_late_in_most_steps_may_lose_little_of_them():
    steps = [gpus(1000, 1200), gpus(1000, 1200), gpus(1000, 1000)]
    assert found(check_stragglers, NODES, *steps) == []


def test_beside_devices_that_take_no_time_there_is_no_share():
    finding = the_finding(check_stragglers, NODES, gpus(1000, 0))
    assert "a typical device of its kind 0 µs; it is late" in finding.message
    assert "excess_share" not in finding.evidence


def test_processes_are_compared_by_their_work_not_by_their_clocks():
    assert found(check_stragglers, NODES, workers(1000, 1000, 1000)) == []
    finding = the_finding(check_stragglers, NODES, workers(1000, 1000, 3000))
    assert finding.message.startswith("worker:2/CPU:0 works 3.00 ms")


def test_devices_of_one_process_should_end_together():
    finding = the_finding(check_stragglers, NODES, gpus(1000, 1000, starts=(1000, 2000)))
    assert finding.message.startswith("GPU:1 ends after 2.00 ms per step")
    assert finding.evidence["excess_micros"] == 1000


def test_unlike_devices_are_not_compared():
    blocks = {"/job:ps/task:0/device:CPU:0": {"op0": stat(9000)},
              "/job:worker/task:0/device:CPU:0": {"op1": stat(100)},
              "/job:worker/task:0/device:GPU:0": {"op2": stat(100)}}  # fmt: skip
    assert found(check_stragglers, NODES, run_on(blocks)) == []


def test_one_device_waits_for_no_other():
    assert found(check_stragglers, NODES, run({"op0": 9000})) == []
    assert found(check_stragglers, NODES, run({"op0": 9000}, device=GPU)) == []
    assert found(check_stragglers, NODES) == []
