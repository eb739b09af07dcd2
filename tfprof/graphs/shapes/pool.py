"""Shapes of pools and their gradients."""

from __future__ import annotations

from fractions import Fraction

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, floor_div
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.dims import same_shape
from tfprof.graphs.shapes.rules import SHAPES, Shapes, with_onednn
from tfprof.graphs.shapes.windows import Layout, Size, layout_named, windows_of

POOLS = with_onednn("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D")
AVERAGE_GRADIENTS = with_onednn("AvgPoolGrad", "AvgPool3DGrad")
MAXIMUM_GRADIENTS = with_onednn("MaxPoolGrad", "MaxPool3DGrad")


def window_sizes(op: OpCall) -> tuple[int, ...]:
    """Size of the window along each dimension, from the attribute or from the input before last."""
    return _steps(op, "ksize", -2)


def _steps(op: OpCall, name: str, index: int) -> tuple[int, ...]:
    by_input = op.type in ("MaxPoolV2", "MaxPoolGradV2", "MaxPoolGradGradV2")
    steps = op.known_ints(index) if by_input else op.ints(name)
    if not steps or min(steps) < 1:
        raise UnknownError(f"the attribute {name} is {steps} instead of positive numbers")
    return steps


def _layout(op: OpCall, n_dims: int) -> Layout:
    return layout_named(op.text("data_format", "NDHWC" if n_dims == 5 else "NHWC"))


def pooled(op: OpCall) -> PartialShape:
    """The shape of input 0 after pooling; windows may slide along any dimension."""
    sizes = window_sizes(op)
    n_dims = len(sizes)
    layout = _layout(op, n_dims)
    if n_dims != len(layout.letters):
        raise UnknownError(f"windows of {n_dims} dimensions do not fit the format {layout.letters}")
    windows = windows_of(op, n_dims, strides=_steps(op, "strides", -1))
    if op.input(0).shape is None:
        return (None,) * layout.rank
    image = op.shape_of_rank(0, layout.rank)
    dims = (windows.along(place, image[place], size) for place, size in enumerate(sizes))
    return (*dims, *image[n_dims:])


@SHAPES.of(*AVERAGE_GRADIENTS)
def _image_as_numbers(op: OpCall) -> Shapes:
    layout = _layout(op, len(window_sizes(op)))
    from_gradient: PartialShape = None
    if op.input(1).shape is not None:
        gradient = op.shape_of_rank(1, layout.rank)
        nothing = (None,) * len(layout.spatial)
        from_gradient = layout.dims(gradient[layout.batch], nothing, layout.channel_count(gradient))
    return [same_shape((op.spelled_shape(0), from_gradient))]


@SHAPES.of("FractionalAvgPool", "FractionalMaxPool")
def _fractional_pool(op: OpCall) -> Shapes:
    """Sizes divided by the ratios and rounded down; then the first rows and columns of windows."""
    ratios = op.attr("pooling_ratio")
    if not isinstance(ratios, tuple) or len(ratios) != 4:
        raise UnknownError("the attribute pooling_ratio is not four numbers")
    image = op.shape_of_rank(0, 4)
    dims = tuple(_shrunk(size, ratio) for size, ratio in zip(image, ratios, strict=True))
    # TensorFlow infers one place too few for the beginnings; nothing depends on them.
    return [dims, (None,), (None,)]


def _shrunk(size: Number, ratio: float) -> Size:
    if not ratio >= 1:
        raise UnknownError(f"pooling by a ratio of {ratio} has no meaning")
    if isinstance(size, int):
        return int(size / ratio)
    return floor_div(size, int(ratio)) if Fraction(ratio).denominator == 1 else None


SHAPES.of(*POOLS, "MaxPoolV2")(lambda op: [pooled(op)])
SHAPES.of("MaxPoolWithArgmax")(lambda op: [pooled(op)] * 2)
SHAPES.of("FractionalAvgPoolGrad")(lambda op: [same_shape((op.spelled_shape(0), (None,) * 4))])
