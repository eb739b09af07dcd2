"""Shapes of normalization kernels, forward and backward."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.arguments import count_attr
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

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


def _forward(op: OpCall, n_outputs: int) -> list[PartialShape]:
    image = op.shape(0)
    channels = _channels(op, image, 1)
    statistics: list[PartialShape] = [(channels,)] * 4
    return [image, *statistics, (None,)][:n_outputs]


def _backward(op: OpCall) -> list[PartialShape]:
    """The last two outputs are there to match older versions; TensorFlow calls them empty."""
    image = _image(op, 1, 0)
    channels = _channels(op, image, 2)
    return [image, (channels,), (channels,), (0,), (0,)]


_LAYOUT: list[PartialShape] = [(None,)]
"""An output that describes oneDNN's memory layout."""


@RULES.of("_FusedBatchNormGradEx")
def _fused_batch_norm_grad(op: OpCall) -> list[PartialShape]:
    image: PartialShape = _image(op, 1, 0)
    sides = count_attr(op, "num_side_inputs") if "num_side_inputs" in op.attrs else 0
    return _backward(op) + [image] * sides


@RULES.of("BatchNormWithGlobalNormalizationGrad")
def _global_batch_norm_grad(op: OpCall) -> list[PartialShape]:
    image = _image(op, 0, 4)
    if not image:
        raise UnknownError("a batch normalization of a scalar")
    return [image, *[(image[-1],)] * 4]


RULES.of("FusedBatchNorm FusedBatchNormV2 _MklNativeFusedBatchNorm _MklNativeFusedBatchNormV2")(
    lambda op: _forward(op, 5)
)
RULES.of(
    """
    FusedBatchNormV3 _MklNativeFusedBatchNormV3 _FusedBatchNormEx _MklNativeFusedBatchNormEx
    """
)(lambda op: _forward(op, 6))
RULES.of("_MklFusedBatchNorm _MklFusedBatchNormV2")(lambda op: _forward(op, 5) + _LAYOUT * 5)
RULES.of("_MklFusedBatchNormV3 _MklFusedBatchNormEx")(lambda op: _forward(op, 6) + _LAYOUT * 6)
RULES.of(
    """
    FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 _MklNativeFusedBatchNormGrad
    _MklNativeFusedBatchNormGradV2 _MklNativeFusedBatchNormGradV3
    """
)(_backward)
RULES.of("_MklFusedBatchNormGrad _MklFusedBatchNormGradV2 _MklFusedBatchNormGradV3")(
    lambda op: _backward(op) + _LAYOUT * 5
)
RULES.of("BatchNormWithGlobalNormalization _MklLayerNorm _MklFusedInstanceNorm LRN")(
    lambda op: [op.shape()]
)
RULES.of("LRNGrad")(lambda op: [_image(op, 0, 1, 2)])
