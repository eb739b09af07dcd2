"""Shapes of k-means, nearest neighbors, and of samples that are no random ops."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import size
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()


@RULES.of("NearestNeighbors")
def _neighbors(op: OpCall) -> list[PartialShape]:
    """No more neighbors than there are centers."""
    points, centers, k = op.shape_of_rank(0, 2)[0], op.shape_of_rank(1, 2)[0], size(op, 2)
    if isinstance(k, int) and isinstance(centers, int):
        k = min(k, centers)
    return [(points, k), (points, k)]


RULES.of("KmeansPlusPlusInitialization")(lambda op: [(size(op, 1), op.shape_of_rank(0, 2)[1])])
RULES.of("KMC2ChainInitialization")(lambda op: [()])
RULES.of("SobolSample")(lambda op: [(size(op, 1), size(op, 0))])
RULES.of("StochasticCastToInt")(lambda op: [op.shape()])
