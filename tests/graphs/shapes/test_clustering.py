"""Shapes of k-means, nearest neighbors and Sobol sequences."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


@pytest.mark.tensorflow
def test_clusters_and_sequences_agree_with_tensorflow():
    def build(raw, feed):
        points = feed(np.random.default_rng(0).random((6, 3)).astype(np.float32), 0)
        centers = raw.KmeansPlusPlusInitialization(
            points=points,
            num_to_sample=np.int64(2),
            seed=np.int64(1),
            num_retries_per_sample=np.int64(1),
        )
        raw.NearestNeighbors(points=points, centers=centers, k=np.int64(5))
        raw.KMC2ChainInitialization(distances=feed(np.ones((5,), np.float32)), seed=np.int64(1))
        raw.SobolSample(dim=3, num_results=7, skip=0)

    check(build)


def test_no_more_neighbors_than_centers():
    op = call("NearestNeighbors", floats(B, 3), floats(2, 3), scalar(5))
    assert shapes(SHAPES, op) == [(B, 2), (B, 2)]
