"""Shapes of reductions over devices, of colors, clusters and the like."""

import numpy as np
import pytest

from tests.analysis.calls import call, floats, scalar, shapes
from tests.analysis.shapes.against_tensorflow import check
from tfprof.analysis.shapes import clustering, collective, colors
from tfprof.model.symbolic import Symbolic, floor_div
from tfprof.model.tensors import UNKNOWN

B = Symbolic.named("B")


def test_all_devices_get_the_whole_sum():
    for op_type in ("CollectiveReduce", "CollectiveReduceV2", "NcclAllReduce", "CrossReplicaSum"):
        assert shapes(collective.RULES, call(op_type, floats(B, 3))) == [(B, 3)]
    assert shapes(collective.RULES, call("NcclReduce", UNKNOWN, floats(B, 3))) == [(B, 3)]


def test_each_device_keeps_its_share_of_a_scattered_sum():
    op = call("CollectiveReduceScatterV2", floats(B, 3), scalar(4))
    assert shapes(collective.RULES, op) == [(floor_div(B, 4), 3)]


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
                boxes=boxes, scores=scores, max_output_size_per_class=2, max_total_size=9,
                iou_threshold=0.5, score_threshold=0.0, pad_per_class=pad,
            )

    check(build)


@pytest.mark.tensorflow
def test_clusters_and_sequences_agree_with_tensorflow():
    def build(raw, feed):
        points = feed(np.random.default_rng(0).random((6, 3)).astype(np.float32), 0)
        centers = raw.KmeansPlusPlusInitialization(
            points=points, num_to_sample=np.int64(2), seed=np.int64(1),
            num_retries_per_sample=np.int64(1),
        )
        raw.NearestNeighbors(points=points, centers=centers, k=np.int64(5))
        raw.KMC2ChainInitialization(distances=feed(np.ones((5,), np.float32)), seed=np.int64(1))
        raw.SobolSample(dim=3, num_results=7, skip=0)

    check(build)


def test_no_more_neighbors_than_centers():
    op = call("NearestNeighbors", floats(B, 3), floats(2, 3), scalar(5))
    assert shapes(clustering.RULES, op) == [(B, 2), (B, 2)]


def test_padding_per_class_ends_where_all_classes_are_full():
    inputs = (floats(B, 6, 1, 4), floats(B, 6, 3), scalar(2), scalar(9))
    op = call("CombinedNonMaxSuppression", *inputs, pad_per_class=True)
    assert shapes(colors.RULES, op)[1] == (B, 6)
    op = call("CombinedNonMaxSuppression", *inputs)
    assert shapes(colors.RULES, op)[1] == (B, 9)
