"""Shapes of ops that cut images into blocks and patches, and of diagonals of matrices."""

from __future__ import annotations

import math

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div, floor_div, maximum, minimum
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.arguments import scalar, size, sound, whole
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("SpaceToBatch", "SpaceToBatchND")
def _space_to_batch(op: OpCall) -> Shapes:
    """Pads, and moves blocks of space into the batch."""
    dims = op.shape(0)
    block, pads = _block(op), op.numbers(2 if op.type == "SpaceToBatchND" else 1)
    _check_block(dims, block, pads)
    space = [
        floor_div(dim + before + after, by)
        for dim, by, before, after in zip(dims[1:], block, pads[::2], pads[1::2], strict=False)
    ]
    return [sound((dims[0] * math.prod(block), *space, *dims[1 + len(block) :]))]


@RULES.of("BatchToSpace", "BatchToSpaceND")
def _batch_to_space(op: OpCall) -> Shapes:
    """Moves blocks out of the batch, and crops."""
    dims = op.shape(0)
    block, crops = _block(op), op.numbers(2 if op.type == "BatchToSpaceND" else 1)
    _check_block(dims, block, crops)
    space = [
        dim * by - before - after
        for dim, by, before, after in zip(dims[1:], block, crops[::2], crops[1::2], strict=False)
    ]
    return [sound((floor_div(dims[0], math.prod(block)), *space, *dims[1 + len(block) :]))]


def _block(op: OpCall) -> tuple[int, ...]:
    if op.type.endswith("ND"):
        return op.known_ints(1)
    return (op.integer("block_size"),) * 2


def _check_block(dims: Dims, block: tuple[int, ...], pads: Dims) -> None:
    if len(dims) <= len(block) or len(pads) != 2 * len(block) or min(block, default=1) < 1:
        raise UnknownError(f"blocks {block} with {len(pads)} paddings in {len(dims)} dimensions")


@RULES.of("SpaceToDepth", "DepthToSpace")
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
        raise UnknownError(f"{dim} is no multiple of {by}")
    return floor_div(dim, by)


def _patches(op: OpCall, rank: int, rates: tuple[int, ...]) -> PartialShape:
    dims = op.shape_of_rank(0, rank)
    windows, strides, padding = op.ints("ksizes"), op.ints("strides"), op.text("padding")
    if {len(windows), len(strides), len(rates)} != {rank} or min(*windows, *strides, *rates) < 1:
        raise UnknownError(f"windows {windows} with strides {strides} in {rank} dimensions")
    if padding not in ("SAME", "VALID"):
        raise UnknownError(f"the padding {padding!r}")
    places: list[Number] = []
    for axis in range(1, rank - 1):
        reach = 0 if padding == "SAME" else (windows[axis] - 1) * rates[axis]
        places.append(maximum(ceil_div(dims[axis] - reach, strides[axis]), 0))
    return (dims[0], *places, dims[-1] * math.prod(windows[1:-1]))


@RULES.of("DiagPart")
def _diagonal_of_tensor(op: OpCall) -> Shapes:
    dims = op.shape(0)
    if len(dims) % 2:
        raise UnknownError(f"a tensor of {len(dims)} dimensions has no diagonal")
    return [dims[: len(dims) // 2]]


@RULES.of("MatrixDiag", "BatchMatrixDiag")
def _matrix_from_diagonal(op: OpCall) -> Shapes:
    dims = op.shape(0)
    return [(*dims, dims[-1])]


@RULES.of("MatrixDiagPart", "BatchMatrixDiagPart")
def _diagonal_of_matrix(op: OpCall) -> Shapes:
    *batch, rows, columns = op.shape(0)
    return [(*batch, minimum(rows, columns))]


@RULES.of("MatrixDiagV2", "MatrixDiagV3")
def _matrix_from_diagonals(op: OpCall) -> Shapes:
    """The matrix is the smallest that has the diagonals, unless its sizes are given."""
    dims = op.shape(0)
    lowest, highest = _band(op)
    longest = dims[-1]
    batch = dims[:-1] if lowest == highest else dims[:-2]
    rows, columns = whole(scalar(op, 2)), whole(scalar(op, 3))
    if rows is None or columns is None:
        return [(*batch, None, None)]
    least_rows, least_columns = longest - min(highest, 0), longest + max(lowest, 0)
    if rows == -1 and columns == -1:
        rows = columns = maximum(least_rows, least_columns)
    return [
        (*batch, least_rows if rows == -1 else rows, least_columns if columns == -1 else columns)
    ]


@RULES.of("MatrixDiagPartV2", "MatrixDiagPartV3")
def _diagonals_of_matrix(op: OpCall) -> Shapes:
    *batch, rows, columns = op.shape(0)
    lowest, highest = _band(op)
    longest = minimum(rows + min(highest, 0), columns - max(lowest, 0))
    count = () if lowest == highest else (highest - lowest + 1,)
    return [(*batch, *count, longest)]


def _band(op: OpCall) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    numbers = op.known_ints(1)
    if len(numbers) not in (1, 2) or numbers[0] > numbers[-1]:
        raise UnknownError(f"the diagonals {numbers}")
    return numbers[0], numbers[-1]


@RULES.of("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")
@RULES.of("ResizeNearestNeighborGrad", "ScaleAndTranslate", "QuantizedResizeBilinear")
@RULES.of("ExtractGlimpse", "ExtractGlimpseV2")
def _resized(op: OpCall) -> Shapes:
    images = op.shape_of_rank(0, 4)
    shape = (images[0], *_height_and_width(op, 1), images[3])
    return [shape, (), ()] if op.type == "QuantizedResizeBilinear" else [shape]


@RULES.of("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def _transformed(op: OpCall) -> Shapes:
    images = op.shape_of_rank(0, 4)
    return [(images[0], *_height_and_width(op, 2), images[3])]


def _height_and_width(op: OpCall, index: int) -> tuple[Number | None, Number | None]:
    values = op.input(index).values
    if values is None:
        return None, None
    if len(values) != 2:
        raise UnknownError(f"{len(values)} sizes instead of height and width")
    return whole(values[0]), whole(values[1])


@RULES.of("CropAndResize")
def _crop_and_resize(op: OpCall) -> Shapes:
    images, boxes = op.shape_of_rank(0, 4), op.shape_of_rank(1, 2)
    return [(boxes[0], *_height_and_width(op, 3), images[3])]


@RULES.of("CropAndResizeGradImage")
def _crop_gradient(op: OpCall) -> Shapes:
    batch, height, width, channels = op.numbers(3)
    return [(batch, height, width, channels)]


@RULES.of("NonMaxSuppressionV5")
def _scored_boxes_left(op: OpCall) -> Shapes:
    n = size(op, 2) if op.flag("pad_to_max_output_size") else None
    return [(n,), (n,), ()]


# Each place of the window gives one row of channels.
RULES.of("ExtractImagePatches")(lambda op: [_patches(op, 4, op.ints("rates") or (1,) * 4)])
RULES.of("ExtractVolumePatches")(lambda op: [_patches(op, 5, (1,) * 5)])
RULES.of("Diag")(lambda op: [op.shape(0) * 2])
RULES.of("ResizeBicubicGrad ResizeBilinearGrad ScaleAndTranslateGrad")(
    lambda op: [op.shape_of_rank(1, 4)]
)
RULES.of("CropAndResizeGradBoxes")(lambda op: [op.shape_of_rank(2, 2)])
RULES.of("NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3")(lambda op: [(None,)])
# Padding fills the output up to the largest number of boxes that was asked for.
RULES.of("NonMaxSuppressionV4")(
    lambda op: [(size(op, 2) if op.flag("pad_to_max_output_size") else None,), ()]
)
