"""Images, by hand."""

import pytest

from tests.graphs.calls import call, cost, floats, ints
from tfprof.graphs.flops.registry import FREE
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_INT32, Tensor

B = Symbolic.named("B")
PICTURE = floats(2, 4, 5, 3)


def flops(op_type, *inputs, out=None, **attrs):
    outputs = (floats(*out),) if out is not None else ()
    return cost(None, call(op_type, *inputs, outputs=outputs, **attrs)).flops


def test_resizing():
    size = ints(8, 10)
    # between two values: a difference, a product, a sum; three times
    assert flops("ResizeBilinear", PICTURE, size, out=(B, 8, 10, 3)) == 9 * 240 * B
    # 5 sums of 4 products: 4 + 3 each
    out = (2, 8, 10, 3)
    assert flops("ResizeBicubic", PICTURE, size, out=out) == 5 * 7 * 480
    assert flops("ResizeArea", PICTURE, ints(2, 2), out=(2, 2, 2, 3)) == 264
    grad = floats(2, 8, 10, 3)
    # 4 pixels, or 16, get the gradient times two weights
    assert flops("ResizeBilinearGrad", grad, PICTURE) == 480 * 4 * 3
    assert flops("ResizeBicubicGrad", grad, PICTURE) == 480 * 16 * 3
    assert flops("ResizeNearestNeighborGrad", grad, size) == 480
    assert "ResizeNearestNeighbor" in FREE


def test_crops():
    out = (7, 2, 2, 3)
    inputs = (PICTURE, floats(7, 4), Tensor((7,), DT_INT32), ints(2, 2))
    assert flops("CropAndResize", *inputs, out=out) == 9 * 84
    assert flops("CropAndResize", *inputs, out=out, method="nearest") == 0
    grads = floats(*out)
    assert flops("CropAndResizeGradImage", grads) == 12 * 84
    assert flops("CropAndResizeGradImage", grads, method="nearest") == 84


def test_colors():
    assert flops("AdjustContrastv2", PICTURE) == 4 * 120
    assert flops("RGBToHSV", PICTURE) == 17 * 40
    assert flops("HSVToRGB", PICTURE) == 26 * 40
    assert flops("AdjustHue", PICTURE) == (17 + 2 + 26) * 40
    assert flops("AdjustSaturation", PICTURE) == (17 + 3 + 26) * 40
    with pytest.raises(UnknownError):
        flops("RGBToHSV", floats())


def test_projections_move_pixels_and_interpolate_channels():
    out = (2, 4, 5, 3)
    op = ("ImageProjectiveTransformV3", PICTURE)
    assert flops(*op, out=out, interpolation="BILINEAR") == 14 * 40 + 9 * 120
    assert flops(*op, out=out, interpolation="NEAREST") == 16 * 40


def test_resampling_stretches_the_kernel_where_the_image_shrinks():
    out = (2, 2, 10, 3)
    # 4 to 2 rows: a triangle of 2 pixels spans 4; 5 to 10 columns: 2
    macs = 2 * 3 * (2 * 5 * 4 + 2 * 10 * 2)
    op = ("ScaleAndTranslate", PICTURE)
    assert flops(*op, out=out, kernel_type="triangle") == 2 * macs
    macs = 2 * 3 * (2 * 5 * 2 + 2 * 10 * 2)
    attrs = {"kernel_type": "triangle", "antialias": False}
    assert flops(*op, out=out, **attrs) == 2 * macs
    with pytest.raises(UnknownError, match="sinc"):
        flops(*op, out=out, kernel_type="sinc")


def test_suppression_depends_on_the_scores():
    with pytest.raises(UnknownError, match="scores"):
        flops("NonMaxSuppressionV5", floats(100, 4), floats(100))
