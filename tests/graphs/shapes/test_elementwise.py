"""Shapes of element-wise ops: what TensorFlow says, and unknown dimensions."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.flops.registry import FORMULAS
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")

FLOAT_UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf"),
    *("Erfc", "Erfinv", "Exp", "Expm1", "Floor", "Inv", "IsFinite", "IsInf", "IsNan", "Lgamma"),
    *("Log", "Log1p", "Neg", "Ndtri", "Reciprocal", "Rint", "Round", "Rsqrt", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh", "Digamma", "Dawsn", "Expint", "Spence"),
    *("FresnelCos", "FresnelSin", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0"),
    *("BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1"),
)
ACTIVATIONS = ("Elu", "Relu", "Relu6", "Selu", "Softplus", "Softsign", "LeakyRelu")
FLOAT_BINARY = (
    *("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "FloorDiv"),
    *("FloorMod", "Mod", "Maximum", "Minimum", "Pow", "Atan2", "SquaredDifference", "Xdivy"),
    *("Xlogy", "Xlog1py", "NextAfter", "Equal", "NotEqual", "Less", "LessEqual", "Greater"),
    "GreaterEqual",
)
Y_GRADIENTS = ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
GRADIENTS = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad")
OUTPUT_GRADIENTS = ("EluGrad", "SeluGrad")


def of(raw, name):
    return getattr(raw, name)


@pytest.mark.tensorflow
def test_unary_ops_keep_the_shape():
    def build(raw, feed):
        x = feed(np.full((2, 3), 0.5, np.float32), 0)
        for name in FLOAT_UNARY:
            of(raw, name)(x=x)
        for name in ACTIVATIONS:
            of(raw, name)(features=x)
        z = feed(np.ones((2, 3), np.complex64), 1)
        for name in ("Conj", "Real", "Imag", "Angle"):
            of(raw, name)(input=z)
        raw.ComplexAbs(x=z)
        raw.PopulationCount(x=feed(np.ones((4,), np.int32)))
        raw.Invert(x=feed(np.ones((4,), np.int32)))
        raw.LogicalNot(x=feed(np.ones((4,), bool), 0))
        raw.Cross(a=feed(np.ones((2, 3), np.float32)), b=feed(np.ones((2, 3), np.float32)))

    check(build)


@pytest.mark.tensorflow
def test_binary_ops_broadcast():
    def build(raw, feed):
        x = feed(np.full((4, 1, 3), 0.5, np.float32), 0)
        y = feed(np.full((2, 1), 0.25, np.float32))
        for name in FLOAT_BINARY:
            if name == "Atan2":
                raw.Atan2(y=x, x=y)
            elif name == "NextAfter":
                raw.NextAfter(x1=x, x2=y)
            else:
                of(raw, name)(x=x, y=y)
        raw.Igamma(a=x, x=y)
        raw.Igammac(a=x, x=y)
        raw.IgammaGradA(a=x, x=y)
        raw.RandomGammaGrad(alpha=x, sample=y)
        raw.Zeta(x=x, q=y)
        raw.Polygamma(a=x, x=y)
        raw.Betainc(a=x, b=x, x=x)
        raw.Complex(real=x, imag=y)
        condition = feed(np.ones((2, 1), bool))
        raw.SelectV2(condition=condition, t=x, e=y)
        raw.LogicalAnd(x=condition, y=feed(np.ones((1, 5), bool), 1))
        i = feed(np.ones((3, 1), np.int32))
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "TruncateDiv"):
            of(raw, name)(x=i, y=feed(np.ones((1, 2), np.int32)))

    check(build)


@pytest.mark.tensorflow
def test_gradients_have_the_shape_of_their_inputs():
    def build(raw, feed):
        x, y = (feed(np.full((2, 3), 0.5, np.float32), 1) for _ in range(2))
        for name in Y_GRADIENTS:
            of(raw, name)(y=y, dy=x)
        for name in GRADIENTS:
            of(raw, name)(gradients=x, features=y)
        for name in OUTPUT_GRADIENTS:
            of(raw, name)(gradients=x, outputs=y)
        raw.ApproximateEqual(x=x, y=x)
        raw.AddN(inputs=[x, x, x])
        raw.AccumulateNV2(inputs=[feed(np.ones((2, 3), np.float32))] * 2, shape=[2, 3])
        raw.ClipByValue(t=x, clip_value_min=0.0, clip_value_max=1.0)

    check(build, run=False)


@pytest.mark.tensorflow
def test_biases_and_choices():
    def build(raw, feed):
        image = feed(np.ones((2, 4, 5, 3), np.float32), 0)
        raw.BiasAdd(value=image, bias=feed(np.ones((3,), np.float32)))
        raw.BiasAddV1(value=image, bias=feed(np.ones((3,), np.float32)))
        raw.BiasAddGrad(out_backprop=image)
        raw.BiasAddGrad(out_backprop=feed(np.ones((6, 7), np.float32), 0))
        raw.L2Loss(t=image)
        rows = feed(np.ones((6, 7), np.float32), 0)
        raw.Select(condition=feed(np.ones((6,), bool)), x=rows, y=rows)

    check(build)


@pytest.mark.tensorflow
def test_channels_may_come_first():
    def build(raw, feed):
        image = feed(np.ones((2, 3, 4, 5), np.float32), 0)
        raw.BiasAdd(value=image, bias=feed(np.ones((3,), np.float32)), data_format="NCHW")
        raw.BiasAddGrad(out_backprop=image, data_format="NCHW")

    check(build, run=False)


def test_sums_take_dimensions_from_whichever_input_tells():
    assert shapes(SHAPES, call("AddN", UNKNOWN, floats(B, 3), floats(2, 3))) == [(2, 3)]
    assert shapes(SHAPES, call("AddN", floats(), floats())) == [()]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("AddN", UNKNOWN, UNKNOWN))


def test_a_choice_has_the_shape_of_the_alternative_that_is_known():
    assert shapes(SHAPES, call("Select", UNKNOWN, UNKNOWN, floats(B, 3))) == [(B, 3)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("Select", floats(2), UNKNOWN, UNKNOWN))


def test_onednn_ops_have_a_layout_besides():
    assert shapes(SHAPES, call("_MklRelu", floats(B, 3), UNKNOWN)) == [(B, 3), (None,)]
    inputs = (floats(B, 3), floats(B, 3), UNKNOWN, UNKNOWN)
    assert shapes(SHAPES, call("_MklReluGrad", *inputs)) == [(B, 3), (None,)]


def test_a_bias_gradient_needs_two_dimensions():
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("BiasAddGrad", floats(3)))


def test_every_counted_op_has_a_shape_rule():
    without = ("DTensor", "RecvTPU", "SendTPU", "XlaRecvTPU", "XlaSendTPU")
    assert {name for name in FORMULAS if not name.startswith(without)} <= SHAPES.keys()
