"""Shapes of normalization kernels, forward and backward."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.rules import SHAPES, Shapes, with_onednn

_CHANNELS_FIRST = ("NCHW", "NCDHW")


def _image(op: OpCall, *indices: int) -> Dims:
    """Dimensions of the first input of known rank, of several that have the same shape."""
    for index in indices:
        if op.input(index).shape is not None:
            return op.shape(index)
    raise UnknownError(f"the shape of input {indices[0]} is unknown")


def _channels(op: OpCall, image: Dims, scale: int) -> Number:
    """Number of channels, from the scale if the image does not give it."""
    if len(image) < 2:
        raise UnknownError(f"a batch normalization of {len(image)} dimensions")
    channels = image[1 if op.text("data_format") in _CHANNELS_FIRST else -1]
    scales = op.input(scale).shape
    if not isinstance(channels, int) and scales is not None and len(scales) == 1:
        return scales[0]
    return channels


def _with_layouts(op: OpCall, shapes: list[PartialShape]) -> Shapes:
    """Where oneDNN's kernels have own layouts, a further output describes that of each."""
    has_layouts = op.type.startswith("_Mkl") and not op.type.startswith("_MklNative")
    return shapes + [(None,)] * (len(shapes) if has_layouts else 0)


@SHAPES.of(*with_onednn("FusedBatchNorm", "FusedBatchNormV2"))
@SHAPES.of(*with_onednn("FusedBatchNormV3", "_FusedBatchNormEx"))
def _batch_norm(op: OpCall) -> Shapes:
    """The result and statistics; later versions have room for scratch."""
    image = op.shape(0)
    statistics = [(_channels(op, image, 1),)] * 4
    has_scratch = op.type.endswith(("V3", "Ex"))
    return _with_layouts(op, [image, *statistics, *[(None,)] * has_scratch])


@SHAPES.of(*with_onednn("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"))
@SHAPES.of("_FusedBatchNormGradEx")
def _batch_norm_grad(op: OpCall) -> Shapes:
    """Two outputs are there to match older versions; TensorFlow calls them empty."""
    image = _image(op, 1, 0)
    channels = (_channels(op, image, 2),)
    sides = op.count_attr("num_side_inputs") if "num_side_inputs" in op.attrs else 0
    return _with_layouts(op, [image, channels, channels, (0,), (0,), *[image] * sides])


@SHAPES.of("BatchNormWithGlobalNormalizationGrad")
def _global_batch_norm_grad(op: OpCall) -> Shapes:
    image = _image(op, 0, 4)
    if not image:
        raise UnknownError("a batch normalization of a scalar")
    return [image, *[(image[-1],)] * 4]


SHAPES.of("LRNGrad")(lambda op: [_image(op, 0, 1, 2)])
