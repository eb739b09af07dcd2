"""Shapes of convolutions and their gradients, and of convolutions that other ops are fused to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arrays import padded
from tfprof.graphs.shapes.dims import replaced, same_dim
from tfprof.graphs.shapes.images import resized
from tfprof.graphs.shapes.rules import SHAPES, Shapes, onednn_kernels, with_onednn
from tfprof.graphs.shapes.windows import Layout, Size, Windows, layout_of, windows_of

CONV_2D = with_onednn("Conv2D")
CONV_3D = with_onednn("Conv3D")
DEPTHWISE = with_onednn("DepthwiseConv2dNative")
"""One filter for each channel of the image."""

INPUT_GRADIENTS_BY_SIZE = with_onednn("Conv2DBackpropInput", "Conv3DBackpropInputV2")
"""Gradients in terms of the image, whose shape is given as numbers."""

INPUT_GRADIENTS_BY_TENSOR = ("Conv2DBackpropInputV2", "Conv3DBackpropInput")
"""The same, with the image itself given."""

FILTER_GRADIENTS_BY_SIZE = with_onednn("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
FILTER_GRADIENTS_BY_TENSOR = ("Conv2DBackpropFilterV2", "Conv3DBackpropFilter")
DEPTHWISE_INPUT_GRADIENTS = with_onednn("DepthwiseConv2dNativeBackpropInput")
DEPTHWISE_FILTER_GRADIENTS = with_onednn("DepthwiseConv2dNativeBackpropFilter")

CONV_WITH_BIAS = onednn_kernels("Conv2DWithBias")
FILTER_AND_BIAS_GRADIENTS = onednn_kernels("Conv2DBackpropFilterWithBias")
PADDED_CONV = onednn_kernels("PadWithConv2D")
PADDED_FUSED_CONV = onednn_kernels("PadWithFusedConv2D")


class Kernel(NamedTuple):
    """The sizes of a filter.

    Attributes:
        spatial: Its extent.
        inputs: Channels of the image for each channel of the result.
        outputs: Channels of the result.
    """

    spatial: tuple[Size, ...]
    inputs: Size
    outputs: Size


def _kernel_of(op: OpCall, index: int, n_spatial: int, *, depthwise: bool = False) -> Kernel:
    """The filter that is an input; sizes are None if nothing is known of it."""
    dims = op.input(index).shape
    if dims is None:
        return Kernel((None,) * n_spatial, None, None)
    letters = op.text("filter_format", "HWIO")
    if letters not in ("HWIO", "OIHW", "OIHW_VECT_I"):
        raise UnknownError(f"the filter format {letters!r} is unknown")
    packed = letters == "OIHW_VECT_I"
    op.shape_of_rank(index, n_spatial + 2 + packed)
    if letters != "HWIO":
        inputs = dims[1] * 4 if packed else dims[1]
        return Kernel(dims[2 : 2 + n_spatial], inputs, dims[0])
    *spatial, inputs, outputs = dims
    if depthwise:
        return Kernel(tuple(spatial), 1, inputs * outputs)
    return Kernel(tuple(spatial), inputs, outputs)


def convolved(op: OpCall, n_spatial: int, *, depthwise: bool = False) -> PartialShape:
    """The shape of input 0 convolved with input 1 by the attributes of an op."""
    layout = layout_of(op, n_spatial)
    image: Sequence[Size] | None = op.input(0).shape
    if image is not None:
        image = op.shape_of_rank(0, layout.rank)
    kernel = _kernel_of(op, 1, n_spatial, depthwise=depthwise)
    if depthwise and image is not None and op.input(1).shape is not None:
        same_dim(layout.channel_count(image), op.shape(1)[-2])
    windows = windows_of(op, len(layout.letters))
    return _convolved_dims(layout, windows, image, kernel)


def _convolved_dims(
    layout: Layout, windows: Windows, image: Sequence[Size] | None, kernel: Kernel
) -> PartialShape:
    """The shape of a convolution; ``image`` is None if nothing is known of it."""
    image = image if image is not None else (None,) * layout.rank
    channels, seen = layout.channel_count(image), kernel.inputs
    if isinstance(channels, int) and isinstance(seen, int) and (seen < 1 or channels % seen):
        raise UnknownError(f"a filter for {seen} channels does not fit an image of {channels}")
    spatial = [
        windows.along(place, image[place], window)
        for place, window in zip(layout.spatial, kernel.spatial, strict=True)
    ]
    return layout.dims(image[layout.batch], spatial, kernel.outputs)


@SHAPES.of("Conv")
def _conv(op: OpCall) -> Shapes:
    """A convolution of any number of spatial dimensions, behind any number of batch dimensions."""
    n_spatial = len(op.shape(1)) - 2
    n_batch = op.integer("batch_dims", 1)
    if n_spatial < 1 or n_batch < 0:
        raise UnknownError(f"a filter of {n_spatial + 2} dimensions has no meaning")
    image = op.shape_of_rank(0, n_batch + n_spatial + 1)
    place = "XYZ"[:n_spatial]
    last = op.text("data_format", "CHANNELS_LAST") == "CHANNELS_LAST"
    layout = Layout(f"N{place}C" if last else f"NC{place}")
    windows = windows_of(op, n_spatial + 2)
    folded: tuple[Size, ...] = (None, *image[n_batch:])
    result = _convolved_dims(layout, windows, folded, _kernel_of(op, 1, n_spatial))
    return [None if result is None else (*image[:n_batch], *result[1:])]


@SHAPES.of(*INPUT_GRADIENTS_BY_SIZE, *DEPTHWISE_INPUT_GRADIENTS)
def _input_gradient(op: OpCall) -> Shapes:
    """The shape that input 0 spells out, all of it or the extent only, if need be in parts."""
    layout = layout_of(op, 3 if "3D" in op.type else 2)
    spelled, filter_dims = op.spelled_shape(0), op.input(1).shape
    batch: Size = None
    if op.input(2).shape is not None:
        batch = op.shape_of_rank(2, layout.rank)[layout.batch]
    if spelled is None:
        shape = layout.dims(batch, (None,) * len(layout.spatial), None)
    elif len(spelled) == len(layout.spatial):
        # The documentation of tf.raw_ops.Conv2DBackpropInput allows height and width alone.
        shape = layout.dims(batch, spelled, None if filter_dims is None else filter_dims[-2])
    elif len(spelled) != layout.rank:
        raise UnknownError(f"input 0 spells {len(spelled)} sizes instead of {layout.rank}")
    else:
        shape = replaced(spelled, layout.batch, same_dim(spelled[layout.batch], batch))
    if op.type in DEPTHWISE_INPUT_GRADIENTS and filter_dims is not None:
        channels = same_dim(shape[layout.channels], op.shape_of_rank(1, 4)[2])
        shape = replaced(shape, layout.channels, channels)
    return [shape]


def _filter_shape(op: OpCall, n_spatial: int, gradient: PartialShape) -> tuple[Size, ...]:
    """The shape that input 1 spells out; the channels of the gradient are its last dimension."""
    spelled = op.spelled_shape(1)
    if spelled is None:
        spelled = (None,) * (n_spatial + 2)
    if len(spelled) != n_spatial + 2:
        raise UnknownError(f"input 1 spells {len(spelled)} sizes instead of {n_spatial + 2}")
    if gradient is None:
        return spelled
    layout = layout_of(op, n_spatial)
    op.shape_of_rank(2, layout.rank)
    return (*spelled[:-1], same_dim(spelled[-1], layout.channel_count(gradient)))


@SHAPES.of(*FILTER_GRADIENTS_BY_SIZE, *FILTER_AND_BIAS_GRADIENTS)
def _filter_gradient(op: OpCall) -> Shapes:
    shape = _filter_shape(op, 3 if "3D" in op.type else 2, op.input(2).shape)
    return [shape, shape[-1:]] if op.type in FILTER_AND_BIAS_GRADIENTS else [shape]


@SHAPES.of("Dilation2D")
def _dilation(op: OpCall) -> Shapes:
    image = op.shape_of_rank(0, 4)
    height, width, channels = op.shape_of_rank(1, 3)
    kernel = Kernel((height, width), 1, same_dim(image[3], channels))
    return [_convolved_dims(Layout("NHWC"), windows_of(op, 4, "rates"), image, kernel)]


@SHAPES.of(*PADDED_CONV, *PADDED_FUSED_CONV)
def _onednn_padded_conv(op: OpCall) -> Shapes:
    """Paddings come after the filter and the arguments of fused ops."""
    index = 2 + (op.integer("num_args") if op.type in PADDED_FUSED_CONV else 0)
    return [_prepared(op, padded(op, op.shape_of_rank(0, 4), index), 1)]


def _prepared(op: OpCall, image: PartialShape, filter_index: int) -> PartialShape:
    """The shape of a convolution of an image that was padded or resized before."""
    kernel = _kernel_of(op, filter_index, 2)
    return _convolved_dims(layout_of(op, 2), windows_of(op, 4), image, kernel)


SHAPES.of(*CONV_2D, *CONV_WITH_BIAS, *with_onednn("_FusedConv2D"), "FusedConv2DBiasActivation")(
    lambda op: [convolved(op, 2)]
)
SHAPES.of(*CONV_3D, *with_onednn("_FusedConv3D"))(lambda op: [convolved(op, 3)])
SHAPES.of(*DEPTHWISE, *with_onednn("_FusedDepthwiseConv2dNative"))(
    lambda op: [convolved(op, 2, depthwise=True)]
)
SHAPES.of(*DEPTHWISE_FILTER_GRADIENTS)(lambda op: [_filter_shape(op, 2, None)])
# Paddings come before the filter.
SHAPES.of("FusedPadConv2D")(lambda op: [_prepared(op, padded(op, op.shape_of_rank(0, 4), 1), 2)])
SHAPES.of("FusedResizeAndPadConv2D")(lambda op: [_prepared(op, padded(op, resized(op), 2), 3)])
