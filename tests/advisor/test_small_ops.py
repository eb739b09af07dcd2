import pytest

from tfprof.advisor.small_ops import check_small_operations
from tfprof.testing.builders import CPU, GPU, op, op_log, run, run_on, stat, traced

from .checking import found, the_finding

N = 300
NODES = [op("large", "MatMul"), op("recv", "_Recv"), *(op(f"op{i}", "Add") for i in range(N))]
LOG = op_log(*(traced(f"op{i}", "train.py:4:main", "net.py:9:cell") for i in range(N)))


def step(large, small=1, n=N):
    """Small ops every 5 µs, then a large one."""
    executions = {f"op{i}": stat(small, start=1000 + 5 * i) for i in range(n)}
    return run(executions | {"large": stat(large, start=1000 + 5 * n)})


def test_a_step_of_small_ops():
    # 300 ops fill 1500 µs, the large one takes 500 µs.
    finding = the_finding(check_small_operations, NODES, step(500), op_log=LOG)
    assert (finding.rule, finding.severity) == ("SmallOperationChecker", "critical")
    assert finding.evidence == {
        "small_execution_count": 300, "limit_micros": 10, "small_op_share": 0.75,
        "small_op_micros": 1500, "step_micros": 2000,
    }  # fmt: skip
    assert "Most of them: 'Add'." in finding.message
    assert finding.place == "net.py:9 in cell"
    assert finding.gain.amount == 1500


def test_small_ops_are_named_by_their_number():
    nodes = [*NODES, *(op(f"big{i}", "Tanh") for i in range(50))]
    executions = {f"op{i}": stat(1, start=1000 + 10 * i) for i in range(N)}
    executions |= {f"big{i}": stat(9, start=1000 + 10 * N + 10 * i) for i in range(50)}
    finding = the_finding(check_small_operations, nodes, run(executions))
    assert "Most of them: 'Add' and 'Tanh'." in finding.message


@pytest.mark.parametrize(
    ("large", "severity"), [(2251, None), (2250, "warning"), (643, "warning"), (642, "critical")]
)
def test_limits(large, severity):
    findings = found(check_small_operations, NODES, step(large))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_three_types_are_named_those_that_run_most_often_first():
    types = ["Add"] * 40 + ["Mul"] * 90 + ["Sub"] * 70 + ["Neg"] * 20
    nodes = [op(f"op{i}", type_) for i, type_ in enumerate(types)]
    finding = the_finding(check_small_operations, [*nodes, NODES[0]], step(500, n=len(types)))
    assert "Most of them: 'Mul', 'Sub' and 'Add'." in finding.message


def test_numbers_are_those_of_one_step():
    finding = the_finding(check_small_operations, NODES, *[step(500)] * 2)
    assert finding.evidence["small_execution_count"] == 300
    assert finding.evidence["small_op_micros"] == 1500


def test_few_small_ops():
    assert found(check_small_operations, NODES, step(20, n=199)) == []
    assert found(check_small_operations, NODES, step(20, n=200)) != []


def test_ops_of_10_micros_are_not_small():
    assert found(check_small_operations, NODES, step(1, small=10)) == []


def test_small_ops_beside_a_large_one_are_free():
    executions = {f"op{i}": stat(1, start=1000 + 5 * i) for i in range(N)}
    assert found(check_small_operations, NODES, run(executions | {"large": 1500})) == []


def test_waiting_for_another_device_is_not_a_small_op():
    executions = {f"op{i}": stat(1, start=1000 + 5 * i) for i in range(N)}
    waiting = {"recv": stat(4000, start=2500)}
    assert found(check_small_operations, NODES, run(executions | waiting)) == []


def test_nanoseconds_count_where_the_run_has_them():
    executions = {f"op{i}": stat(1, start=1000 + 5 * i) for i in range(N)}
    for execution in executions.values():
        execution.op_end_rel_nanos = 12_000
    assert found(check_small_operations, NODES, run(executions)) == []


def test_a_run_with_a_gpu_is_left_to_the_kernel_launch_checker():
    executions = {f"op{i}": stat(1, start=1000 + 5 * i) for i in range(N)}
    blocks = {CPU: executions, GPU: {"large": 5}}
    assert found(check_small_operations, NODES, run_on(blocks)) == []
    assert found(check_small_operations, NODES) == []
