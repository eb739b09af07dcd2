from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.graphs.calls import call, cost, floats, ints
from tests.graphs.flops.brute_force import window_starts
from tests.graphs.shapes.static_shapes import call_of, live_op
from tfprof.core.wire import messages as pb
from tfprof.graphs.flops.registry import FREE
from tfprof.graphs.interpreter.analysis import Status
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def flops(op: OpCall) -> Any:
    result = cost(SHAPES, op)
    assert result.macs == 0
    return result.flops


@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["SAME", "VALID"]),
    st.sampled_from(["NHWC", "NCHW"]),
)
def test_pools_take_an_operation_for_each_tap_that_a_walk_meets(
    window: int, stride: int, padding: str, layout: str
) -> None:
    sizes = {"N": 2, "H": 7, "W": 5, "C": 3}
    starts = [window_starts(sizes[x], window, stride, 1, padding) for x in "HW"]
    taps = sum(1 for _ in range(2 * 3) for _ in starts[0] for _ in starts[1] for _ in range(window))
    attrs = {
        "ksize": tuple(window if x in "HW" else 1 for x in layout),
        "strides": tuple(stride if x in "HW" else 1 for x in layout),
        "padding": padding,
        "data_format": layout,
    }
    image = floats(*(sizes[x] for x in layout))

    for name in ("AvgPool", "MaxPool", "_MklNativeAvgPool", "_MklMaxPool"):
        assert flops(call(name, image, **attrs)) == taps * window


def test_pools_of_three_dimensions() -> None:
    attrs = {"ksize": (1, 2, 2, 3, 1), "strides": (1, 2, 2, 3, 1), "padding": "VALID"}
    image = floats(2, 8, 8, 9, 5)

    for name in ("AvgPool3D", "MaxPool3D"):
        assert flops(call(name, image, **attrs)) == 2 * 4 * 4 * 3 * 5 * 12


def test_average_gradient_scales_and_adds_for_each_tap() -> None:
    attrs = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
    op = call("AvgPoolGrad", ints(1, 8, 8, 3), floats(1, 4, 4, 3), **attrs)

    assert flops(op) == 2 * 4 * 4 * 4 * 3


@pytest.mark.parametrize("by_input", [False, True])
def test_maximum_gradient_looks_the_largest_up_again_and_adds(by_input: bool) -> None:
    image, result = floats(B, 8, 8, 3), floats(B, 4, 4, 3)
    if by_input:
        sizes = (ints(1, 2, 2, 1), ints(1, 2, 2, 1))
        op = call("MaxPoolGradV2", image, result, result, *sizes, padding="VALID")
    else:
        attrs = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
        op = call("MaxPoolGrad", image, result, result, **attrs)

    assert flops(op) == 4 * 4 * 3 * (4 + 1) * B


def test_second_gradient_of_a_maximum_looks_it_up_and_adds_nothing() -> None:
    attrs = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
    image, result = floats(1, 8, 8, 3), floats(1, 4, 4, 3)
    op = call("MaxPoolGradGrad", image, result, image, **attrs)

    assert flops(op) == 4 * 4 * 3 * 4


def test_places_of_maxima_save_the_search() -> None:
    op = call("MaxPoolGradWithArgmax", floats(1, 8, 8, 3), floats(1, 4, 4, 3), Tensor((1, 4, 4, 3)))

    assert flops(op) == 4 * 4 * 3
    assert "MaxPoolGradGradWithArgmax" in FREE


def test_windows_of_fractional_pools_cover_the_image_once_or_share_borders() -> None:
    image = floats(1, 9, 10, 3)
    ratios = (1.0, 1.5, 2.0, 1.0)  # to 6 rows and 5 columns
    apart = call("FractionalMaxPool", image, pooling_ratio=ratios)
    shared = call("FractionalAvgPool", image, pooling_ratio=ratios, overlapping=True)

    assert flops(apart) == 9 * 10 * 3
    assert flops(shared) == (9 + 5) * (10 + 4) * 3


def test_gradients_of_fractional_pools() -> None:
    image, result = floats(1, 9, 10, 3), floats(1, 6, 5, 3)
    places = (Tensor((7,), 9), Tensor((6,), 9))
    maximum = call("FractionalMaxPoolGrad", image, result, result, *places)
    average = call("FractionalAvgPoolGrad", ints(1, 9, 10, 3, dtype=9), result, *places)

    assert flops(maximum) == 9 * 10 * 3 + 6 * 5 * 3
    assert flops(average) == 2 * 9 * 10 * 3


def test_pools_of_integers_are_not_float_work() -> None:
    attrs = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}

    assert flops(call("MaxPool", Tensor((1, 8, 8, 3), 3), **attrs)) == 0


@pytest.mark.parametrize(
    "attrs",
    [
        {"strides": (1, 1, 1, 1), "padding": "SAME"},
        {"ksize": (1, 2, 2, 1), "padding": "SAME"},
        {"ksize": (1, 2, 2, 1), "strides": (1, 1, 1, 1)},
        {"ksize": (1, 0, 2, 1), "strides": (1, 1, 1, 1), "padding": "SAME"},
        {"ksize": (2, 2), "strides": (1, 1, 1, 1), "padding": "SAME"},
        {"ksize": "large", "strides": (1, 1, 1, 1), "padding": "SAME"},
        {"ksize": (1, 20, 2, 1), "strides": (1, 1, 1, 1), "padding": "VALID"},
    ],
    ids=str,
)
def test_attributes_without_a_meaning_give_no_count(attrs: dict[str, Any]) -> None:
    with pytest.raises(UnknownError):
        flops(call("MaxPool", floats(1, 8, 8, 3), **attrs))


@pytest.mark.parametrize("ratios", [None, (1.0, 2.0), (1.0, 0.5, 2.0, 1.0)], ids=str)
def test_fractional_pools_need_four_ratios_of_at_least_1(ratios: Any) -> None:
    with pytest.raises(UnknownError):
        flops(call("FractionalMaxPool", floats(1, 9, 10, 3), pooling_ratio=ratios))


@pytest.mark.tensorflow
@pytest.mark.parametrize("window", [2, 3])
def test_counts_are_those_that_tensorflow_has_registered(window: int) -> None:
    from tensorflow.python.framework import ops

    import_module("tensorflow.python.profiler.internal.flops_registry")
    image, result = (2, 9, 9, 3), (2, 5, 5, 3)
    attrs = {"ksize": [1, window, window, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    for name, arguments in (
        ("AvgPool", {"value": image}),
        ("MaxPool", {"input": image}),
        ("AvgPoolGrad", {"orig_input_shape": list(image), "grad": result}),
        ("MaxPoolGrad", {"orig_input": image, "orig_output": result, "grad": result}),
    ):
        live = live_op(name, {**arguments, **attrs})
        registered = ops.get_stats_for_node_def(live.graph, live.node_def, "flops").value
        assert flops(call_of(live)) == registered


def test_a_long_chain_of_pools_has_unknown_sizes_that_it_gives_a_reason_for() -> None:
    """Each size has the text of those before it in its own: 3,500 pools printed 12 MB."""
    graph = pb.GraphDef()
    image = graph.node.add(name="x", op="Placeholder")
    image.attr["dtype"].type = 1
    for size in (1, -1, 8, 3):
        image.attr["shape"].shape.dim.add(size=size)
    for number in range(300):
        pool = graph.node.add(name=f"pool{number}", op="MaxPool")
        pool.input.append(f"pool{number - 1}" if number else "x")
        pool.attr["T"].type = 1
        pool.attr["padding"].s = b"VALID"
        pool.attr["ksize"].list.i.extend((1, 3, 1, 1))
        pool.attr["strides"].list.i.extend((1, 2, 1, 1))
    report = tfprof.flops(graph)
    reasons = {op.verdict.reason for op in report.ops if op.verdict.status is Status.UNCOUNTED}
    assert reasons == {"a number that depends on unknown sizes is nested too deep"}
    assert len(str(report.flops)) < 300 * 1100
    assert not tfprof.flops(graph, input_shapes={"x": (1, 2**302, 8, 3)}).uncounted
