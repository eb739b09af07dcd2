"""Shapes of ops on images: blocks and patches of them, other sizes, and boxes in them."""

from __future__ import annotations

import math

from tfprof.graphs.model.op_call import OpCall, UnknownError, sound
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div, maximum, minimum
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("SpaceToBatch SpaceToBatchND BatchToSpace BatchToSpaceND")
def _space_to_batch(op: OpCall) -> Shapes:
    """Pads and moves blocks of space into the batch, or moves them out of it and crops."""
    many = op.type.endswith("ND")
    dims, pads = op.shape(0), op.numbers(2 if many else 1)
    block = op.known_ints(1) if many else (op.integer("block_size"),) * 2
    if len(dims) <= len(block) or len(pads) != 2 * len(block) or min(block, default=1) < 1:
        raise UnknownError(f"blocks {block} with {len(pads)} paddings in {len(dims)} dimensions")
    along = zip(dims[1:], block, pads[::2], pads[1::2], strict=False)
    batch, rest = dims[0], dims[1 + len(block) :]
    if op.type.startswith("Space"):
        space = [floor_div(dim + before + after, by) for dim, by, before, after in along]
        return [sound((batch * math.prod(block), *space, *rest))]
    space = [dim * by - before - after for dim, by, before, after in along]
    return [sound((floor_div(batch, math.prod(block)), *space, *rest))]


@SHAPES.of("SpaceToDepth DepthToSpace")
def _space_to_depth(op: OpCall) -> Shapes:
    """Moves squares of pixels into the channels, or back out of them."""
    block = op.integer("block_size")
    if block < 1:
        raise UnknownError(f"blocks of {block} pixels")
    layout = op.text("data_format", "NHWC")
    if layout not in ("NHWC", "NCHW", "NCHW_VECT_C"):
        raise UnknownError(f"the layout {layout}")
    dims = list(op.shape_of_rank(0, 5 if layout == "NCHW_VECT_C" else 4))
    channels, height = (3, 1) if layout == "NHWC" else (1, 2)
    to_depth = op.type == "SpaceToDepth"
    for axis in (height, height + 1):
        dims[axis] = _divided(dims[axis], block) if to_depth else dims[axis] * block
    area = block * block
    dims[channels] = dims[channels] * area if to_depth else _divided(dims[channels], area)
    return [tuple(dims)]


def _divided(dim: Number, by: int) -> Number:
    if isinstance(dim, int) and dim % by:
        raise UnknownError(f"{dim} is not a multiple of {by}")
    return floor_div(dim, by)


@SHAPES.of("ExtractImagePatches ExtractVolumePatches")
def _patches(op: OpCall) -> Shapes:
    """Each place of the window gives one row of channels."""
    rank = 4 if op.type == "ExtractImagePatches" else 5
    rates = op.ints("rates") if rank == 4 else ()
    dims, rates = op.shape_of_rank(0, rank), rates or (1,) * rank
    windows, strides, padding = op.ints("ksizes"), op.ints("strides"), op.text("padding")
    if {len(windows), len(strides), len(rates)} != {rank} or min(*windows, *strides, *rates) < 1:
        raise UnknownError(f"windows {windows} with strides {strides} in {rank} dimensions")
    if padding not in ("SAME", "VALID"):
        raise UnknownError(f"the padding {padding!r}")
    places: list[Number] = []
    for axis in range(1, rank - 1):
        reach = 0 if padding == "SAME" else (windows[axis] - 1) * rates[axis]
        places.append(maximum(ceil_div(dims[axis] - reach, strides[axis]), 0))
    return [(dims[0], *places, dims[-1] * math.prod(windows[1:-1]))]


def resized(op: OpCall, index: int = 1) -> tuple[Number | None, ...]:
    """The shape of images that are resized to the height and width in an input."""
    batch, _, _, channels = op.shape_of_rank(0, 4)
    sizes = op.spelled_numbers(index)
    if sizes is None:
        return batch, None, None, channels
    if len(sizes) != 2:
        raise UnknownError(f"input {index} has {len(sizes)} sizes instead of height and width")
    return batch, *sizes, channels


@SHAPES.of("CombinedNonMaxSuppression")
def _combined(op: OpCall) -> Shapes:
    """Boxes, scores, classes, and how many of them are valid, for each image.

    Results are padded to the number that all classes may keep, if that is less.
    """
    batch, _, _, _ = op.shape_of_rank(0, 4)
    kept = op.size(3)
    if op.flag("pad_per_class"):
        per_class, classes = op.size(2), op.shape_of_rank(1, 3)[2]
        if kept is not None:
            kept = None if per_class is None else minimum(kept, per_class * classes)
    return [(batch, kept, 4), (batch, kept), (batch, kept), (batch,)]


@SHAPES.of("GenerateBoundingBoxProposals")
def _proposals(op: OpCall) -> Shapes:
    batch, kept = op.shape_of_rank(0, 4)[0], op.integer("post_nms_topn", 300)
    return [(batch, kept, 4), (batch, kept)]


@SHAPES.of("CropAndResizeGradImage")
def _crop_gradient(op: OpCall) -> Shapes:
    batch, height, width, channels = op.numbers(3)
    return [(batch, height, width, channels)]


def _boxes_left(op: OpCall) -> tuple[Number | None]:
    """Padding fills the output up to the largest number of boxes that is wanted."""
    return (op.size(2) if op.flag("pad_to_max_output_size") else None,)


SHAPES.of("NonMaxSuppressionV4")(lambda op: [_boxes_left(op), ()])
SHAPES.of("NonMaxSuppressionV5")(lambda op: [_boxes_left(op), _boxes_left(op), ()])
SHAPES.of("ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor")(lambda op: [resized(op)])
SHAPES.of("ResizeNearestNeighborGrad ScaleAndTranslate")(lambda op: [resized(op)])
SHAPES.of("ExtractGlimpse ExtractGlimpseV2")(lambda op: [resized(op)])
SHAPES.of("QuantizedResizeBilinear")(lambda op: [resized(op), (), ()])
SHAPES.of("ImageProjectiveTransformV2 ImageProjectiveTransformV3")(lambda op: [resized(op, 2)])
SHAPES.of("CropAndResize")(lambda op: [(op.shape_of_rank(1, 2)[0], *resized(op, 3)[1:])])
SHAPES.of("CropAndResizeGradBoxes")(lambda op: [op.shape_of_rank(2, 2)])
SHAPES.of("ResizeBicubicGrad ResizeBilinearGrad ScaleAndTranslateGrad")(
    lambda op: [op.shape_of_rank(1, 4)]
)
