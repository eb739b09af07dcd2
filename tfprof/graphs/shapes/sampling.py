"""Shapes of random numbers and samples."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import count_attr, size, spelled_shape
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("RandomGamma", "RandomPoisson", "RandomPoissonV2")
def _for_each_parameter(op: OpCall) -> Shapes:
    """So many samples for each element of the parameter."""
    samples = spelled_shape(op, 0)
    return [None if samples is None else (*samples, *op.shape(1))]


@RULES.of(
    *("AllCandidateSampler", "FixedUnigramCandidateSampler", "LearnedUnigramCandidateSampler"),
    *("LogUniformCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"),
    *("UniformCandidateSampler",),
)
def _candidates(op: OpCall) -> Shapes:
    """Sampled classes, how often the true ones are expected, and how often the sampled ones."""
    n = count_attr(op, "num_sampled")
    return [(n,), op.shape_of_rank(0, 2), (n,)]


RULES.of(
    """
    RandomStandardNormal RandomUniform RandomUniformInt TruncatedNormal ParameterizedTruncatedNormal
    NonDeterministicInts StatelessRandomBinomial StatelessRandomGammaV2 StatelessRandomGammaV3
    StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniform
    StatelessRandomUniformV2 StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
    StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessTruncatedNormal
    StatelessTruncatedNormalV2 StatelessParameterizedTruncatedNormal
    """
)(lambda op: [spelled_shape(op, 0)])
RULES.of("StatefulStandardNormal")(lambda op: [spelled_shape(op, 1)])
RULES.of(
    """
    StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformInt
    StatefulUniformFullInt StatefulRandomBinomial
    """
)(lambda op: [spelled_shape(op, 2)])
RULES.of("Multinomial StatelessMultinomial")(lambda op: [(op.shape_of_rank(0, 2)[0], size(op, 1))])
RULES.of("StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg")(
    lambda op: [(1,), (2,), ()][: 3 if op.type.endswith("Alg") else 2]
)
RULES.of("StatelessRandomGetAlg")(lambda op: [()])
# Where the box begins, its size, and the box itself.
RULES.of(
    """
    SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox
    """
)(lambda op: [(3,), (3,), (1, 1, 4)])
