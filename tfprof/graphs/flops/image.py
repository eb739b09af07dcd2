"""Images: resizing, crops, colors. Places of pixels are computed once a row and column: left out.

To interpolate between two values takes 3 operations, ``a + (b - a)·w``; bilinear interpolation is
three of those. Colors take for each pixel: RGB to HSV 17 (extremes 4, range 1, saturation 2, hue
10), HSV to RGB 26 (three ramps 16, ``(1 - s + s·ramp)·v`` 10).
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import (
    RAW_OPS,
    Cost,
    Counted,
    declare_free,
    enter_counts,
    formula,
    multiply_adds,
    operations,
)
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, floor_div, maximum
from tfprof.graphs.model.tensors import Dims


@formula("ResizeArea", "2·max(n, m) + m")
def _resize_area(op: OpCall) -> Cost:
    """Pixels are weighted and summed, each of n at least once; m results are scaled."""
    n, m = op.n_in(), op.n_out()
    return operations(2 * maximum(n, m) + m, n=n, m=m)


def _is_nearest(op: OpCall) -> bool:
    return op.text("method", "bilinear") == "nearest"


@formula("CropAndResize", "9·n; nearest: 0")
def _crop(op: OpCall) -> Cost:
    """Three interpolations of 3 operations for each of n elements of the crops."""
    n = op.n_out()
    return operations(0 if _is_nearest(op) else 9 * n, n=n)


@formula("CropAndResizeGradImage", "12·n; nearest: n")
def _crop_grad(op: OpCall) -> Cost:
    """Each of n gradients is added to 4 pixels times two weights, or to the nearest one."""
    n = op.n_in()
    return operations(n if _is_nearest(op) else 12 * n, n=n)


_PER_PIXEL = {
    "RGBToHSV": (17, "Extremes 4, range 1, saturation 2, and hue 10 for each of p pixels."),
    "HSVToRGB": (
        26,
        "Three ramps of 5 and their argument, 1 - s, and three times (1 - s + s·ramp)·v.",
    ),
    "AdjustHue": (
        45,
        "To HSV 17, the hue is turned and wrapped 2, back to RGB 26, for each of p pixels.",
    ),
    "AdjustSaturation": (
        46,
        "To HSV 17, the saturation is scaled and bounded 3, back to RGB 26, for each of p pixels.",
    ),
}


def _pixels(op: OpCall) -> Cost:
    dims = op.shape()
    if not dims:
        raise UnknownError("a scalar is not an image")
    p = math.prod(dims[:-1])
    return operations(_PER_PIXEL[op.type][0] * p, p=p)


for _op_type, (_count, _why) in _PER_PIXEL.items():
    formula(_op_type, f"{_count}·p", why=_why)(_pixels)


@formula(
    "ImageProjectiveTransformV2 ImageProjectiveTransformV3",
    "14·p + 9·n; nearest: 16·p",
    RAW_OPS + "ImageProjectiveTransformV3",
)
def _projective(op: OpCall) -> Cost:
    """The projection 4, and two places 5 each, for each of p pixels; then an interpolation."""
    dims = op.out()
    n, p = math.prod(dims), math.prod(dims[:-1])
    bilinear = op.text("interpolation") == "BILINEAR"
    return operations(14 * p + 9 * n if bilinear else 16 * p, n=n, p=p)


_KERNEL_HALF_RADII = {
    "box": 1,
    "triangle": 2,
    "lanczos1": 2,
    "lanczos3": 6,
    "lanczos5": 10,
    "gaussian": 3,
    "keyscubic": 4,
    "mitchellcubic": 4,
}
"""Twice the radius of a kernel, which is how many pixels it spans."""


@formula("ScaleAndTranslate", "2·b·c·(h·w·y + h·v·x)")
def _scale(op: OpCall) -> Cost:
    """A kernel of y rows makes h of w columns, then one of x columns makes h of v of them."""
    return _resampled(op, op.shape_of_rank(0, 4), op.out())


@formula("ScaleAndTranslateGrad", "2·b·c·(h·w·y + h·v·x)")
def _scale_grad(op: OpCall) -> Cost:
    """Each multiply-add of the forward pass has one for the gradient of the pixel."""
    return _resampled(op, op.shape_of_rank(1, 4), op.shape_of_rank(0, 4))


def _resampled(op: OpCall, image: Dims, scaled: Dims) -> Cost:
    b, h, w, c = image
    _, h_out, w_out, _ = scaled
    y, x = _span(op, h, h_out), _span(op, w, w_out)
    macs = b * c * (h_out * w * y + h_out * w_out * x)
    return multiply_adds(macs, b=b, c=c, h=h_out, v=w_out, w=w, y=y, x=x)


def _span(op: OpCall, size: Number, size_out: Number) -> Number:
    """Pixels under a kernel; antialiasing stretches it where the image shrinks."""
    kernel = op.text("kernel_type", "lanczos3")
    if kernel not in _KERNEL_HALF_RADII:
        raise UnknownError(f"no count is stated for the kernel {kernel}")
    width = _KERNEL_HALF_RADII[kernel]
    if not op.flag("antialias", True):
        return width
    return maximum(width, floor_div(width * size, size_out))


@formula(
    """
    NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4
    NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps CombinedNonMaxSuppression
    GenerateBoundingBoxProposals
    """,
    "unknown",
    RAW_OPS + "NonMaxSuppressionV5",
)
def _suppression(op: OpCall) -> Cost:
    """A box is compared with those chosen before it, until one overlaps too much."""
    raise UnknownError("how many pairs of boxes are compared depends on the scores")


declare_free("ResizeNearestNeighbor", because="copies pixels")

enter_counts(
    Counted("ResizeBilinear QuantizedResizeBilinear", 9, of_input=None,
            why="Three interpolations of 3 operations for each of n elements of the result."),
    Counted("ResizeBicubic", 35, of_input=None,
            why="Four rows and their results: five sums of 4 weighted values for each of n "
            "elements."),
    Counted("ResizeBilinearGrad", 12,
            why="Each of n gradients is added to 4 pixels, times two weights for each."),
    Counted("ResizeBicubicGrad", 48,
            why="Each of n gradients is added to 16 pixels, times two weights for each."),
    Counted("ResizeNearestNeighborGrad", 1,
            why="Each of n gradients is added to the pixel that it came from."),
    Counted("CropAndResizeGradBoxes", 20,
            why="For each of n gradients the slopes in both directions, 5 each, times it, into "
            "4 edges."),
    Counted("AdjustContrastv2", 4,
            why="The mean of each channel, n, and (x - mean)·factor + mean."),
    Counted("AdjustContrast", 6,
            why="The mean of each channel, n, (x - mean)·factor + mean, and two bounds."),
)  # fmt: skip
