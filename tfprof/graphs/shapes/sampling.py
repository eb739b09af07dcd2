"""Shapes of random numbers, samples, and nearest neighbors."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("RandomGamma", "RandomPoisson", "RandomPoissonV2")
def _for_each_parameter(op: OpCall) -> Shapes:
    """A number of samples for each element of the parameter."""
    samples = op.spelled_shape(0)
    return [None if samples is None else (*samples, *op.shape(1))]


@SHAPES.of("AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler")
@SHAPES.of("LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler")
def _candidates(op: OpCall) -> Shapes:
    """Sampled classes, how often the true ones are expected, and how often the sampled ones."""
    n = op.count_attr("num_sampled")
    return [(n,), op.shape_of_rank(0, 2), (n,)]


@SHAPES.of("NearestNeighbors")
def _neighbors(op: OpCall) -> Shapes:
    """No more neighbors than there are centers."""
    points, centers, k = op.shape_of_rank(0, 2)[0], op.shape_of_rank(1, 2)[0], op.size(2)
    if isinstance(k, int) and isinstance(centers, int):
        k = min(k, centers)
    return [(points, k), (points, k)]


SHAPES.of("KmeansPlusPlusInitialization")(lambda op: [(op.size(1), op.shape_of_rank(0, 2)[1])])
SHAPES.of("SobolSample")(lambda op: [(op.size(1), op.size(0))])
SHAPES.of("Multinomial StatelessMultinomial")(lambda op: [(op.shape_of_rank(0, 2)[0], op.size(1))])
