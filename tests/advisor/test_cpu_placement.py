import pytest

from tfprof.advisor.cpu_placement import check_cpu_placement
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, op, op_log, run, run_on, stat, traced

from .checking import FLOAT32, INT32, found, the_finding, typed

MATMUL = typed(op("mm", "MatMul", "x", "w", transpose_a=False), FLOAT32)
CONV = typed(op("conv", "Conv2D", "x", "w", data_format="NHWC"), FLOAT32)
NODES = [MATMUL, CONV, op("gpu", "Relu"), op("decode", "DecodeJpeg")]
LOG = op_log(traced("mm", "train.py:4:main"), traced("conv", "train.py:5:main"))


def step(cpu, gpu_micros=1000):
    kernels = {"gpu": stat(gpu_micros, start=1000)}
    return run_on({CPU: cpu, GPU: {"gpu": stat(1, start=1000)}, GPU_STREAMS: kernels})


def test_heavy_ops_on_the_cpu_beside_a_gpu():
    cpu = {"mm": stat(100, start=1000), "conv": stat(150, start=1100)}
    finding = the_finding(check_cpu_placement, NODES, step(cpu), op_log=LOG)
    assert (finding.rule, finding.severity) == ("CpuPlacementChecker", "critical")
    assert finding.evidence == {
        "op_count": 2, "cpu_micros": 250, "step_micros": 1000, "cpu_share": 0.25,
        "Conv2D:time_micros": 150, "MatMul:time_micros": 100,
    }  # fmt: skip
    assert "most of all 'Conv2D' and 'MatMul'" in finding.message
    assert finding.place == "train.py:5 in main"
    assert finding.gain.amount == 250


@pytest.mark.parametrize(("micros", "severity"), [(49, None), (50, "warning"), (200, "critical")])
def test_limits(micros, severity):
    findings = found(check_cpu_placement, NODES, step({"mm": stat(micros, start=1000)}))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_without_starts_the_step_has_no_length():
    blocks = {CPU: {"mm": stat(5, start=0)}, GPU_STREAMS: {"gpu": stat(5, start=0)}}
    assert found(check_cpu_placement, NODES, run_on(blocks)) == []


def test_three_types_are_named():
    types = ("MatMul", "Conv2D", "MaxPool", "BiasAdd")
    nodes = [typed(op(name, name), FLOAT32) for name in types]
    cpu = {name: stat(90 - at, start=1000) for at, name in enumerate(types)}
    finding = the_finding(check_cpu_placement, [*nodes, NODES[2]], step(cpu))
    assert "'MatMul', 'Conv2D' and 'MaxPool'." in finding.message


def test_without_a_gpu_the_cpu_is_the_right_place():
    assert found(check_cpu_placement, NODES, run({"mm": 1000})) == []
    assert found(check_cpu_placement, NODES) == []


def test_ops_without_a_gpu_kernel_are_in_their_place():
    assert found(check_cpu_placement, NODES, step({"decode": stat(900, start=1000)})) == []


def test_tensorflow_keeps_integers_on_the_cpu():
    nodes = [typed(op("mm", "MatMul", transpose_a=False), INT32), *NODES[1:]]
    assert found(check_cpu_placement, nodes, step({"mm": stat(900, start=1000)})) == []


def test_the_gain_is_not_more_than_the_step():
    cpu = {"mm": stat(900, start=1000), "conv": stat(900, start=1000)}
    assert the_finding(check_cpu_placement, NODES, step(cpu)).gain.amount == 1000
