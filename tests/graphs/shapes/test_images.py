"""Shapes of blocks, patches, diagonals, and resized images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, floats, ints, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic, bind
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
H = Symbolic.named("H")


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    return shapes(SHAPES, call(op_type, *inputs, **attrs))[0]


def matrix(*rows: tuple[int, ...]) -> Tensor:
    return Tensor((len(rows), 2), 3, tuple(n for row in rows for n in row))


def test_an_atrous_convolution_comes_back_to_its_batch() -> None:
    image = floats(B, 10, 12, 3)
    blocks = shape("SpaceToBatchND", image, ints(2, 3), matrix((0, 0), (1, 2)))
    assert blocks == (B * 6, 5, 5, 3)
    back = shape("BatchToSpaceND", floats(*blocks), ints(2, 3), matrix((0, 0), (1, 2)))
    assert back == (B, 10, 12, 3)


@pytest.mark.parametrize(
    ("layout", "deep", "flat"),
    [
        ("NHWC", (B, 2, 3, 16), (B, 4, 6, 4)),
        ("NCHW", (B, 16, 2, 3), (B, 4, 4, 6)),
        ("NCHW_VECT_C", (B, 16, 2, 3, 4), (B, 4, 4, 6, 4)),
    ],
)
def test_pixels_move_into_channels_and_back(layout: str, deep: Any, flat: Any) -> None:
    attrs = {"block_size": 2, "data_format": layout}
    assert shape("DepthToSpace", floats(*deep), **attrs) == flat
    assert shape("SpaceToDepth", floats(*flat), **attrs) == deep


def test_patches_of_an_image_of_unknown_height() -> None:
    attrs = {"ksizes": (1, 3, 3, 1), "strides": (1, 2, 2, 1), "rates": (1, 2, 2, 1)}
    got = shape("ExtractImagePatches", floats(B, H, 11, 3), padding="VALID", **attrs)
    assert got[0] == B and got[2:] == (4, 27)
    assert bind(got[1], {"H": 9}) == 3
    got = shape("ExtractImagePatches", floats(B, H, 11, 3), padding="SAME", **attrs)
    assert bind(got[1], {"H": 9}) == 5


def test_diagonals() -> None:
    assert shape("Diag", floats(2, B)) == (2, B, 2, B)
    assert shape("DiagPart", floats(2, B, 2, B)) == (2, B)
    assert shape("MatrixDiag", floats(B, 3)) == (B, 3, 3)
    assert shape("MatrixDiagPart", floats(B, 3, 5)) == (B, 3)
    assert shape("MatrixDiagPartV3", floats(B, 3, 5), ints(-1, 1), scalar(0.0)) == (B, 3, 3)
    assert shape("MatrixDiagPartV3", floats(B, 3, 5), scalar(1), scalar(0.0)) == (B, 3)


def test_resized_images_keep_batch_and_channels() -> None:
    assert shape("ResizeBilinear", floats(B, 4, 4, 3), ints(8, H)) == (B, 8, H, 3)
    assert shape("ResizeBilinear", floats(B, 4, 4, 3), Tensor((2,), 3)) == (B, None, None, 3)
    crops = shape("CropAndResize", floats(2, 9, 9, 3), floats(B, 4), ints(B), ints(7, 7))
    assert crops == (B, 7, 7, 3)


@pytest.mark.parametrize(
    "op",
    [
        call("SpaceToBatchND", floats(2, 2), ints(2, 2), matrix((0, 0), (0, 0))),
        call("SpaceToBatchND", floats(2, 2, 2), ints(0, 2), matrix((0, 0), (0, 0))),
        call("SpaceToBatchND", floats(2, 2, 2), ints(2), matrix((0, 0), (0, 0))),
        call("BatchToSpace", floats(4, 2, 2, 1), matrix((0, 0), (0, 0)), block_size=0),
        call("BatchToSpace", floats(4, 2, 2, 1), Tensor((2, 2), 3), block_size=2),
        call("SpaceToDepth", floats(1, 3, 4, 1), block_size=2),
        call("SpaceToDepth", floats(1, 4, 4, 1), block_size=0),
        call("SpaceToDepth", floats(1, 4, 4, 1), block_size=2, data_format="WHCN"),
        call("SpaceToDepth", floats(1, 4, 4), block_size=2),
        call("DepthToSpace", floats(1, 4, 4, 3), block_size=2),
        call("ExtractImagePatches", floats(1, 4, 4, 3)),
        call("ExtractImagePatches", floats(1, 4, 4, 3), ksizes=(1, 2), strides=(1, 1, 1, 1)),
        call("ExtractVolumePatches", floats(1, 4, 4, 4, 3), ksizes=(1,) * 5, strides=(1,) * 5),
        call(
            "ExtractVolumePatches",
            floats(1, 4, 4, 4, 3),
            ksizes=(1,) * 5,
            strides=(0,) * 5,
            padding="SAME",
        ),
        call("DiagPart", floats(2, 2, 2)),
        call("MatrixDiagPartV3", floats(2, 2), ints(2, 1)),
        call("MatrixDiagPartV3", floats(2, 2), ints()),
        call("ResizeArea", floats(1, 2, 2, 1), ints(1, 2, 3)),
        call("ResizeArea", floats(2, 2, 1), ints(1, 2)),
    ],
    ids=lambda op: op.type,
)
def test_contradictions_are_unknown(op: OpCall) -> None:
    with pytest.raises((UnknownError, ValueError)):
        SHAPES[op.type](op)


X = np.arange(2 * 4 * 6 * 8, dtype=np.float32).reshape((2, 4, 6, 8))
V = X.reshape((2, 4, 3, 2, 8))
PADS = [[0, 0], [1, 1]]
BOXES = np.array([[0, 0, 1, 1], [0, 0, 0.5, 0.5], [0.2, 0, 1, 1]], np.float32)
SCORES = np.array([0.9, 0.8, 0.7], np.float32)

CASES = {
    "SpaceToBatchND": lambda r, f: r.SpaceToBatchND(
        input=f(X, 0, 1), block_shape=[2, 4], paddings=PADS
    ),
    "BatchToSpaceND": lambda r, f: r.BatchToSpaceND(
        input=f(X, 0, 1), block_shape=[2, 1], crops=PADS
    ),
    "SpaceToBatch": lambda r, f: r.SpaceToBatch(input=f(X, 0), paddings=PADS, block_size=2),
    "BatchToSpace": lambda r, f: r.BatchToSpace(
        input=f(np.concatenate([X, X]), 0), crops=PADS, block_size=2
    ),
    "SpaceToDepth": lambda r, f: r.SpaceToDepth(input=f(X, 0, 1), block_size=2),
    "DepthToSpace": lambda r, f: r.DepthToSpace(input=f(X, 0, 1), block_size=2),
    "ExtractImagePatches": lambda r, f: [
        r.ExtractImagePatches(
            images=f(X, 0, 1),
            ksizes=[1, 2, 3, 1],
            strides=[1, 2, 1, 1],
            rates=[1, 1, 2, 1],
            padding=p,
        )
        for p in ("SAME", "VALID")
    ],
    # Of unknown sizes TensorFlow says that one dimension is missing.
    "ExtractVolumePatches": lambda r, f: [
        r.ExtractVolumePatches(
            input=f(V), ksizes=[1, 2, 3, 1, 1], strides=[1, 2, 1, 1, 1], padding=p
        )
        for p in ("SAME", "VALID")
    ],
    "Diag": lambda r, f: [
        r.Diag(diagonal=f(X[0, 0])),
        r.DiagPart(input=f(X[0, :4, :4, 0])),
    ],
    "MatrixDiag": lambda r, f: [
        r.MatrixDiag(diagonal=f(X, 0)),
        r.MatrixDiagPart(input=f(X, 0)),
        r.MatrixDiagV3(diagonal=f(X[:, :, 0], 0), k=1, num_rows=-1, num_cols=-1, padding_value=0.0),
        r.MatrixDiagV3(
            diagonal=f(X[0, 0, :3, :4]), k=[-1, 1], num_rows=-1, num_cols=5, padding_value=0.0
        ),
        r.MatrixDiagV2(
            diagonal=f(X[0, 0, :2, :4]), k=[-2, -1], num_rows=-1, num_cols=-1, padding_value=0.0
        ),
        r.MatrixDiagPartV3(input=f(X, 0), k=[-1, 2], padding_value=0.0),
        r.MatrixDiagPartV2(input=f(X, 0), k=-2, padding_value=0.0),
    ],
    "Resize": lambda r, f: [
        op(images=f(X, 0, 1), size=[5, 7])
        for op in (r.ResizeArea, r.ResizeBicubic, r.ResizeBilinear, r.ResizeNearestNeighbor)
    ],
    "Resize gradients": lambda r, f: [
        r.ResizeBilinearGrad(grads=f(X, 0), original_image=f(X[:, :2], 0)),
        r.ResizeBicubicGrad(grads=f(X, 0), original_image=f(X[:, :2], 0)),
        r.ResizeNearestNeighborGrad(grads=f(X, 0), size=[3, 3]),
    ],
    "ScaleAndTranslate": lambda r, f: r.ScaleAndTranslate(
        images=f(X, 0), size=[3, 5], scale=[1.0, 1.0], translation=[0.0, 0.0]
    ),
    "ScaleAndTranslateGrad": lambda r, f: r.ScaleAndTranslateGrad(
        grads=f(X, 0),
        original_image=f(X[:, :2], 0),
        scale=[1.0, 1.0],
        translation=[0.0, 0.0],
    ),
    "CropAndResize": lambda r, f: r.CropAndResize(
        image=f(X, 0), boxes=f(BOXES, 0), box_ind=[0, 1, 0], crop_size=[3, 3]
    ),
    "CropAndResize gradients": lambda r, f: [
        r.CropAndResizeGradImage(
            grads=f(X[:, :3, :3], 0),
            boxes=BOXES[:2],
            box_ind=[0, 1],
            image_size=[2, 4, 6, 8],
            T=np.float32,
        ),
        r.CropAndResizeGradBoxes(
            grads=f(X[:, :3, :3], 0), image=f(X, 0), boxes=f(BOXES[:2], 0), box_ind=[0, 1]
        ),
    ],
    "ExtractGlimpse": lambda r, f: r.ExtractGlimpse(
        input=f(X, 0), size=[2, 3], offsets=np.zeros((2, 2), np.float32)
    ),
    "ImageProjectiveTransform": lambda r, f: [
        r.ImageProjectiveTransformV2(
            images=f(X, 0),
            transforms=np.ones((2, 8), np.float32),
            output_shape=[3, 5],
            interpolation="NEAREST",
        ),
        r.ImageProjectiveTransformV3(
            images=f(X, 0),
            transforms=np.ones((2, 8), np.float32),
            output_shape=[3, 5],
            fill_value=0.0,
            interpolation="NEAREST",
        ),
    ],
    "NonMaxSuppression": lambda r, f: [
        r.NonMaxSuppression(boxes=BOXES, scores=SCORES, max_output_size=2),
        r.NonMaxSuppressionV2(boxes=BOXES, scores=SCORES, max_output_size=2, iou_threshold=0.5),
        r.NonMaxSuppressionV3(
            boxes=BOXES, scores=SCORES, max_output_size=2, iou_threshold=0.5, score_threshold=0.1
        ),
        r.NonMaxSuppressionV4(
            boxes=BOXES,
            scores=SCORES,
            max_output_size=4,
            iou_threshold=0.5,
            score_threshold=0.1,
            pad_to_max_output_size=True,
        ),
        r.NonMaxSuppressionV5(
            boxes=BOXES,
            scores=SCORES,
            max_output_size=4,
            iou_threshold=0.5,
            score_threshold=0.1,
            soft_nms_sigma=0.0,
        ),
    ],
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case: str) -> None:
    check(CASES[case])


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["NCHW", "NCHW_VECT_C"])
def test_other_layouts_are_those_of_tensorflow(layout: str) -> None:
    """No kernel for a CPU, so the graph is not run."""
    dims = (2, 4, 4, 6) if layout == "NCHW" else (2, 4, 4, 6, 4)
    array = np.zeros(dims, np.int8)

    def build(raw: Any, feed: Any) -> None:
        tensor = raw.Bitcast(input=feed(array, 0), type="qint8")
        raw.SpaceToDepth(input=tensor, block_size=2, data_format=layout)
        raw.DepthToSpace(input=tensor, block_size=2, data_format=layout)

    check(build, run=False)
