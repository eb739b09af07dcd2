import pytest

from tfprof.advisor.tensor_cores import check_tensor_cores
from tfprof.testing.builders import GPU, GPU_STREAMS, op, op_log, run, run_on, stat, traced

from .checking import FLOAT16, FLOAT32, found, the_finding, typed

LOG = op_log(traced("mm", "train.py:4:main"))


def source(name, shape):
    return op(name, "Placeholder", outputs=[shape])


def matmul(m, k, n, dtype=FLOAT32):
    return [
        source("a", [m, k]), source("b", [k, n]),
        typed(op("mm", "MatMul", "a", "b", transpose_a=False), dtype),
    ]  # fmt: skip


def step(micros, others=0):
    kernels = {"mm": stat(micros, start=1000), "other": stat(others, start=9000)}
    return run_on({GPU: {"mm": stat(1, start=1000)}, GPU_STREAMS: kernels})


def test_a_float32_product_whose_sizes_fit():
    finding = the_finding(check_tensor_cores, matmul(64, 16, 8), step(300, 700), op_log=LOG)
    assert (finding.rule, finding.severity) == ("TensorCoreChecker", "warning")
    assert finding.evidence == {
        "op_count": 1, "op_micros": 300, "op_share": 0.3, "kernel_micros": 1000,
        "multiple_count": 8,
    }  # fmt: skip
    assert finding.message.startswith(
        "30.0 % of the GPU's time (300 µs of 1.00 ms) goes to 1 matrix product or convolution in "
    )
    assert finding.place == "train.py:4 in main"
    assert finding.gain.amount == pytest.approx(200)


def test_an_input_without_channels_has_unknown_sizes():
    gradient = op("mm", "Conv2DBackpropFilter", "a", "s", "g", data_format="NCHW")
    nodes = [
        source("a", [8]),
        source("s", [4]),
        source("g", [8, 8, 4, 4]),
        typed(gradient, FLOAT32),
    ]
    assert found(check_tensor_cores, nodes, step(300, 700)) == []


def test_products_without_a_kernel_do_not_count():
    idle = typed(op("idle", "MatMul", "a", "b", transpose_a=False), FLOAT32)
    finding = the_finding(check_tensor_cores, [*matmul(64, 16, 8), idle], step(300, 700))
    assert finding.evidence["op_count"] == 1


@pytest.mark.parametrize(
    "nodes",
    [matmul(60, 16, 8), matmul(64, 3, 8), matmul(64, 16, 10), matmul(-1, 16, 8),
     matmul(64, 16, 8, dtype=2), matmul(64, 16, 8, dtype=FLOAT16)],
    ids=["rows", "inner", "columns", "unknown", "float64", "float16 already"],
)  # fmt: skip
def test_products_that_tensor_cores_do_not_wait_for(nodes):
    assert found(check_tensor_cores, nodes, step(300, 700)) == []


def test_a_16_bit_product_whose_sizes_do_not_fit():
    finding = the_finding(check_tensor_cores, matmul(64, 15, 8, FLOAT16), step(300, 700))
    assert finding.severity == "info"
    assert "not multiples of 8" in finding.message


def test_what_takes_little_time_is_left_alone():
    assert found(check_tensor_cores, matmul(64, 16, 8), step(99, 901)) == []
    assert found(check_tensor_cores, matmul(64, 16, 8), step(100, 900)) != []


def test_without_kernel_times_there_is_no_finding():
    assert found(check_tensor_cores, matmul(64, 16, 8), run({"mm": 300}, device=GPU)) == []
    assert found(check_tensor_cores, matmul(64, 16, 8)) == []


def convolution(type_, *inputs, **attrs):
    shapes = [source(f"in{i}", shape) for i, shape in enumerate(inputs)]
    names = [f"in{i}" for i in range(len(inputs))]
    attrs = {"strides": [1, 1, 1, 1], "data_format": "NHWC", **attrs}
    return [*shapes, typed(op("mm", type_, *names, **attrs), FLOAT32)]


@pytest.mark.parametrize(
    ("nodes", "fits"),
    [
        (convolution("Conv2D", [2, 9, 9, 16], [3, 3, 16, 24]), True),
        (convolution("Conv2D", [2, 9, 9, 3], [7, 7, 3, 64]), False),
        (convolution("Conv2DBackpropInput", [4], [3, 3, 16, 24], [2, 9, 9, 24]), True),
        (convolution("Conv2DBackpropInput", [4], [3, 3, 16, 20], [2, 9, 9, 20]), False),
        (convolution("Conv2DBackpropFilter", [2, 9, 9, 16], [4], [2, 9, 9, 24]), True),
        (convolution("Conv2DBackpropFilter", [2, 9, 9, 3], [4], [2, 9, 9, 24]), False),
        (convolution("Conv2DBackpropFilter", [2, 16, 9, 9], [4], [2, 24, 9, 9],
                     data_format="NCHW"), True),
        (convolution("Conv2D", "?", "?"), False),
        (convolution("Conv2D", [2, 9, 9, 16]), False),
    ],
)  # fmt: skip
def test_of_convolutions_the_channels_must_fit(nodes, fits):
    assert bool(found(check_tensor_cores, nodes, step(300))) == fits


def test_batches_of_matrices_may_have_any_number():
    nodes = [source("a", [5, 3, 16, 8]), source("b", [5, 3, 8, 24]),
             typed(op("mm", "BatchMatMulV2", "a", "b", adj_x=False), FLOAT32)]  # fmt: skip
    assert found(check_tensor_cores, nodes, step(300)) != []
