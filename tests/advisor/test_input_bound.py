import pytest

from tfprof.advisor.input_bound import check_input
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, op, op_log, run, run_on, stat, traced

from .checking import found, the_finding

NODES = [op("next", "IteratorGetNext"), op("mm", "MatMul", "next"), op("other", "MatMul")]
LOG = op_log(traced("next", "train.py:4:main", "input.py:9:batches", "tensorflow/python/x.py:1:f"))


def step(wait, compute, start=1000):
    return run({"next": stat(wait, start=start), "mm": stat(compute, start=start + wait)})


def test_a_step_that_waits_for_its_input():
    finding = the_finding(check_input, NODES, step(300, 700), op_log=LOG)
    assert (finding.rule, finding.severity) == ("InputBoundChecker", "critical")
    assert finding.evidence == {"wait_share": 0.3, "wait_micros": 300, "step_micros": 1000}
    assert finding.message.startswith(
        "30.0 % of the step (300 µs of 1.00 ms) is spent waiting for input: nothing runs but "
        "'IteratorGetNext'. Prepare batches ahead"
    )
    assert finding.place == "input.py:9 in batches"
    assert finding.gain.amount == 300


@pytest.mark.parametrize(
    ("wait", "severity"), [(499, None), (500, "warning"), (1999, "warning"), (2000, "critical")]
)
def test_the_limits_are_those_of_tensorflows_input_analysis(wait, severity):
    findings = found(check_input, NODES, step(wait, 10_000 - wait))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_input_ops_that_ran_are_named():
    nodes = [*NODES, op("csv", "DecodeCSV"), op("png", "DecodePng")]
    short = run(
        {"next": stat(300, start=1000), "csv": stat(1, start=1300), "mm": stat(699, start=1301)}
    )
    message = the_finding(check_input, nodes, short).message
    assert "nothing runs but 'DecodeCSV' and 'IteratorGetNext'. Prepare" in message


def test_short_waits_do_not_count():
    assert found(check_input, NODES, step(99, 1)) == []


def test_input_that_is_read_while_others_compute_is_free():
    busy = run({"next": stat(900, start=1000), "other": stat(900, start=1000)})
    assert found(check_input, NODES, busy) == []
    partly = run({"next": stat(900, start=1000), "other": stat(500, start=1000)})
    assert the_finding(check_input, NODES, partly).evidence["wait_micros"] == 400


def test_an_op_that_waits_for_the_input_on_another_device_is_not_work():
    blocks = {
        CPU: {"next": stat(400, start=1000)},
        GPU: {"recv": stat(400, start=1000, label="recv = _Recv(x)"), "mm": stat(9, start=1400)},
        GPU_STREAMS: {"mm": stat(600, start=1400)},
    }
    finding = the_finding(check_input, NODES, run_on(blocks))
    assert finding.evidence == {"wait_share": 0.4, "wait_micros": 400, "step_micros": 1000}


def test_a_call_of_the_function_that_reads_input_is_not_work():
    nodes = [*NODES, op("call", "StatefulPartitionedCall")]
    inside = {"next": stat(400, start=1000), "mm": stat(600, start=1400)}
    call = run({"call": stat(1000, start=1000), **inside})
    assert the_finding(check_input, nodes, call).evidence["wait_micros"] == 400


def test_kernels_of_the_gpu_are_work():
    blocks = {CPU: {"next": stat(400, start=1000)}, GPU_STREAMS: {"mm": stat(1000, start=1000)}}
    assert found(check_input, NODES, run_on(blocks)) == []


def test_numbers_are_means_over_steps():
    finding = the_finding(check_input, NODES, step(300, 700), step(100, 900, start=9000))
    assert finding.evidence == {"wait_share": 0.2, "wait_micros": 200, "step_micros": 1000}


def test_queues_are_input_too_and_without_a_run_there_is_no_finding():
    nodes = [op("next", "QueueDequeueManyV2"), NODES[1]]
    assert "'QueueDequeueManyV2'" in the_finding(check_input, nodes, step(300, 700)).message
    assert found(check_input, NODES) == []
