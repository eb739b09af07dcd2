"""Shapes of ops on colors and boxes."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


@pytest.mark.tensorflow
def test_colors_agree_with_tensorflow():
    def build(raw, feed):
        image = feed(np.full((2, 4, 5, 3), 0.5, np.float32), 0)
        raw.AdjustContrastv2(images=image, contrast_factor=2.0)
        raw.AdjustHue(images=image, delta=0.5)
        raw.AdjustSaturation(images=image, scale=0.5)
        raw.RGBToHSV(images=image)
        raw.HSVToRGB(images=image)
        raw.DrawBoundingBoxes(images=image, boxes=feed(np.ones((2, 1, 4), np.float32)))
        boxes = feed(np.random.default_rng(0).random((2, 6, 1, 4)).astype(np.float32), 0)
        scores = feed(np.ones((2, 6, 3), np.float32))
        for pad in (True, False):
            raw.CombinedNonMaxSuppression(
                boxes=boxes,
                scores=scores,
                max_output_size_per_class=2,
                max_total_size=9,
                iou_threshold=0.5,
                score_threshold=0.0,
                pad_per_class=pad,
            )

    check(build)


def test_padding_per_class_ends_where_all_classes_are_full():
    inputs = (floats(B, 6, 1, 4), floats(B, 6, 3), scalar(2), scalar(9))
    op = call("CombinedNonMaxSuppression", *inputs, pad_per_class=True)
    assert shapes(SHAPES, op)[1] == (B, 6)
    op = call("CombinedNonMaxSuppression", *inputs)
    assert shapes(SHAPES, op)[1] == (B, 9)
