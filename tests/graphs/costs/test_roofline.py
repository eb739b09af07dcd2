import pytest

from tests.graphs.calls import floats, variable
from tests.graphs.interpreter.programs import (
    FLOAT,
    Ref,
    Type,
    analyse,
    function,
    graph,
    node,
    placeholder,
)
from tests.graphs.reports.programs import two_layers
from tfprof.core.hardware import DEVICES, Device, device_of
from tfprof.graphs.costs.roofline import bound_of, moved_bytes, roofline, time_text
from tfprof.graphs.flops.formulas import multiply_adds, operations
from tfprof.graphs.interpreter.tally import op_rows
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor

ROUND = device_of((1e12, 1e9))  # one operation takes a picosecond, one byte a nanosecond
BATCH = Symbolic.named("B")


def test_bytes_are_those_of_inputs_and_outputs():
    # [8, 4] · [4, 3] = [8, 3], four bytes each
    assert moved_bytes("MatMul", [floats(8, 4), floats(4, 3)], [floats(8, 3)]) == 4 * 68
    assert moved_bytes("Relu", [floats(BATCH, 4)], [floats(BATCH, 4)]) == 32 * BATCH
    assert moved_bytes("Relu", [floats(4)], [Tensor(None, 1)]) is None
    assert moved_bytes("Relu", [Tensor((4,), 0)], []) is None


def test_an_update_reads_and_writes_the_variable():
    weights, gradient = variable(10, 10), floats(10, 10)
    assert moved_bytes("ResourceApplyGradientDescent", [weights, floats(), gradient], []) == 1204
    assert moved_bytes("ResourceSparseApplyAdagrad", [weights, gradient], []) is None


def test_compute_or_memory_limits():
    inputs, outputs = [floats(8, 4), floats(4, 3)], [floats(8, 3)]
    bound = bound_of("MatMul", multiply_adds(96), inputs, outputs, ROUND)
    assert bound == (272_000, "memory", 272)
    fast_memory = device_of((1e12, 1e15))
    assert bound_of("MatMul", multiply_adds(96), inputs, outputs, fast_memory).picos == 192
    assert bound_of("MatMul", multiply_adds(96), inputs, outputs, fast_memory).by == "compute"


def test_matrix_units_and_others_work_side_by_side():
    device = Device("d", "d", {"fp32": 1e12, "tf32": 10e12})
    from tfprof.graphs.flops.formulas import Cost

    assert bound_of("_FusedMatMul", Cost(500, 300), [floats(1)], [], device).picos == 300
    assert bound_of("_FusedMatMul", Cost(5000, 300), [floats(1)], [], device).picos == 1000


def test_one_known_limit_is_a_bound_too():
    open_size = [Tensor(None, 1)]
    assert bound_of("MatMul", multiply_adds(96), open_size, [], ROUND) == (192, "compute", None)
    cost = operations(BATCH)
    assert bound_of("Relu", cost, [floats(BATCH)], [], ROUND) == (None, "", 4 * BATCH)
    tpu = DEVICES["tpu-v4"]  # the rate of its vector units is not published
    assert bound_of("Relu", operations(10), [floats(307)], [], tpu) == (1000, "memory", 1228)


def test_a_program():
    analysis, _ = analyse(two_layers(8))
    result = roofline(op_rows(analysis), ROUND)
    # MatMul 272, Relu 192, MatMul (24 + 6 + 16) · 4 = 184, AddV2 3 · 64 = 192 bytes
    assert [(row["name"], row["bytes"], row["bound_by"]) for row in result.to_rows()] == [
        ("dense1/MatMul", 272, "memory"),
        ("dense1/Relu", 192, "memory"),
        ("dense2/MatMul", 184, "memory"),
        ("add", 192, "memory"),
    ]
    assert result.micros == result.micros_by("memory") == 0.84
    assert result.micros_by("compute") == 0
    assert result.rows[0].intensity == 192 / 272
    assert result.unknown == 0
    assert str(result).splitlines()[:3] == [
        "1e+12 operations and 1e+09 bytes per second (given by the caller)",
        "At least 840 ns per step: 840 ns limited by memory",
        "At most 390 MFLOP/s",
    ]
    assert "lower bound" in str(result)


def test_open_sizes_have_no_time():
    analysis, _ = analyse(two_layers())
    result = roofline(op_rows(analysis), ROUND)
    assert result.unknown == 4
    assert "give batch or input_shapes" in str(result)
    assert result.to_rows()[0]["micros"] is None


def test_runs_are_multiplied():
    body = function(
        "twice", {"a": FLOAT}, {"b": ("second:y:0", FLOAT)},
        node("first", "Relu", "a", T=Type(FLOAT)), node("second", "Relu", "first:activations:0",
                                                        T=Type(FLOAT)),
    )  # fmt: skip
    call = {"f": Ref("twice"), "Tin": [FLOAT], "Tout": [FLOAT]}
    message = graph(
        placeholder("x", 100), node("one", "PartitionedCall", "x", **call),
        node("two", "PartitionedCall", "one", **call), body,
    )  # fmt: skip
    rows = roofline(op_rows(analyse(message)[0]), ROUND).rows
    assert [(row.op.node.name, row.op.times, row.picos) for row in rows] == [
        ("first", 2, 1_600_000),
        ("second", 2, 1_600_000),
    ]


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0.0004, "0.40 ns"), (0.012, "12.0 ns"), (0.9994, "999 ns"), (0.9996, "1.00 µs"),
     (999.4, "999 µs"), (999.6, "1.00 ms"), (1_780_000, "1.78 s"), (5e9, "5,000 s")],
)  # fmt: skip
def test_times_of_any_size(micros, text):
    assert time_text(micros) == text
