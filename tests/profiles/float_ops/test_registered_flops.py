"""TensorFlow's registered formulas, each on a case computed by hand."""

import pytest

import tfprof
from tfprof.profiles.float_ops.registered_flops import FORMULAS, count_registered_flops
from tfprof.testing.builders import graph, op

NHWC = {"strides": [1, 2, 2, 1], "ksize": [1, 2, 2, 1]}

# Op type, shapes of the inputs, shape of the output, attributes, float operations of one run.
CASES = [
    *[(t, [[2, 3]], [2, 3], {}, 6) for t in ("Reciprocal", "Square", "Log", "Neg", "BiasAdd")],
    *[(t, [[2, 3]], [2, 3], {}, 6) for t in ("AssignSub", "AssignAdd")],
    ("Rsqrt", [[2, 3]], [2, 3], {}, 12),
    ("Softmax", [[2, 5]], [2, 5], {}, 50),
    ("L2Loss", [[4, 5]], [], {}, 3 * 20 - 1),
    *[
        (t, [[2, 1], [3]], [2, 3], {}, 6)
        for t in (
            *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow"),
            *("GreaterEqual", "Greater", "LessEqual", "Less", "Equal", "NotEqual"),
        )
    ],
    ("SquaredDifference", [[2, 3], [2, 3]], [2, 3], {}, 12),
    ("RsqrtGrad", [[2, 3], [2, 3]], [2, 3], {}, 24),
    ("Mean", [[4, 3], [1]], [3], {}, 12),
    *[(t, [[4, 3], [1]], [3], {}, 12 - 3) for t in ("Sum", "ArgMax", "ArgMin", "BiasAddGrad")],
    *[(t, [[2, 8, 8, 3]], [2, 4, 4, 3], NHWC, 4 * 96) for t in ("AvgPool", "MaxPool")],
    ("AvgPoolGrad", [[4], [2, 4, 4, 3]], [2, 8, 8, 3], NHWC, 2 * 4 * 96),
    ("MaxPoolGrad", [[2, 8, 8, 3], [2, 4, 4, 3], [2, 4, 4, 3]], [2, 8, 8, 3], NHWC, 4 * 96 + 96),
    # 2 x elements of the image x elements of the filter / (image channels x strides)
    (
        "Conv2DBackpropInput", [[4], [3, 3, 3, 5], [2, 4, 4, 5]], [2, 8, 8, 3], NHWC,
        2 * 384 * 135 // (3 * 4),
    ),
    (
        "Conv2DBackpropFilter", [[2, 8, 8, 3], [4], [2, 4, 4, 5]], [3, 3, 3, 5], NHWC,
        2 * 384 * 135 // (3 * 4),
    ),
    ("AddN", [[2, 3]] * 4, [2, 3], {}, 18),
    ("MatMul", [[2, 3], [3, 5]], [2, 5], {}, 2 * 3 * 10),
    ("MatMul", [[3, 2], [3, 5]], [2, 5], {"transpose_a": True}, 60),
    *[
        (t, [[7, 2, 3], [7, 3, 5]], [7, 2, 5], {}, 2 * 3 * 70)
        for t in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
    ],
    ("Conv2D", [[2, 8, 8, 3], [3, 3, 3, 4]], [2, 8, 8, 4], NHWC, 27648),
    ("Conv3D", [[1, 4, 4, 4, 2], [2, 2, 2, 2, 3]], [1, 4, 4, 4, 3], {}, 2 * 192 * 16),
    ("DepthwiseConv2dNative", [[1, 4, 4, 2], [3, 3, 2, 1]], [1, 4, 4, 2], {}, 2 * 32 * 9),
    ("Dilation2D", [[1, 4, 4, 2], [3, 3, 2]], [1, 4, 4, 2], {}, 2 * 32 * 9),
]  # fmt: skip


def flops(kind, inputs, output, attrs):
    sources = [op(f"in{i}", "Source", outputs=[shape]) for i, shape in enumerate(inputs)]
    node = op("op", kind, *(f"in{i}" for i in range(len(inputs))), outputs=[output], **attrs)
    ops = tfprof.Profiler(graph(*sources, node))._session.profile.ops
    counts, incomplete = count_registered_flops(ops, ops.output_shapes_ids.array, [len(sources)])
    return None if incomplete else counts.get(len(sources), 0)


@pytest.mark.parametrize(("kind", "inputs", "output", "attrs", "expected"), CASES)
def test_formula(kind, inputs, output, attrs, expected):
    assert flops(kind, inputs, output, attrs) == expected


def test_every_formula_has_a_case():
    assert {case[0] for case in CASES} == set(FORMULAS)


@pytest.mark.parametrize(
    ("kind", "inputs", "output"),
    [
        ("Conv2DBackpropInput", [[4], [3, 5, 3, 3]], [2, 3, 8, 8]),
        ("Conv2DBackpropFilter", [[2, 3, 8, 8]], [3, 5, 3, 3]),
        ("MaxPool", [[2, 3, 8, 8]], [2, 3, 4, 4]),
    ],
)
def test_channels_first_counts_as_an_incomplete_shape(kind, inputs, output):
    attrs = {"data_format": "NCHW", "strides": [1, 1, 2, 2], "ksize": [1, 1, 2, 2]}
    assert flops(kind, inputs, output, attrs) is None


@pytest.mark.parametrize("kind", sorted(FORMULAS))
def test_absurd_shapes_do_not_crash(kind):
    huge = [2**62] * 20
    attrs = {"strides": [1, 1, 1, 1], "ksize": [1, 2, 2, 1]}
    assert isinstance(flops(kind, [huge, huge], huge, attrs), int)
