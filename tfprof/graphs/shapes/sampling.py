"""Shapes of random numbers and samples."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import count_attr, size, spelled_shape
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of(
    *("RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal"),
    *("ParameterizedTruncatedNormal", "NonDeterministicInts", "StatelessRandomBinomial"),
    *("StatelessRandomGammaV2", "StatelessRandomGammaV3", "StatelessRandomNormal"),
    *("StatelessRandomNormalV2", "StatelessRandomPoisson", "StatelessRandomUniform"),
    *("StatelessRandomUniformV2", "StatelessRandomUniformFullInt"),
    *("StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt"),
    *("StatelessRandomUniformIntV2", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
    *("StatelessParameterizedTruncatedNormal",),
)
def _shaped_by_first(op: OpCall) -> Shapes:
    return [spelled_shape(op, 0)]


@RULES.of("StatefulStandardNormal")
def _shaped_by_second(op: OpCall) -> Shapes:
    return [spelled_shape(op, 1)]


@RULES.of(
    *("StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniform"),
    *("StatefulUniformInt", "StatefulUniformFullInt", "StatefulRandomBinomial"),
)
def _shaped_by_third(op: OpCall) -> Shapes:
    return [spelled_shape(op, 2)]


@RULES.of("RandomGamma", "RandomPoisson", "RandomPoissonV2")
def _for_each_parameter(op: OpCall) -> Shapes:
    """So many samples for each element of the parameter."""
    samples = spelled_shape(op, 0)
    return [None if samples is None else (*samples, *op.shape(1))]


@RULES.of("Multinomial", "StatelessMultinomial")
def _multinomial(op: OpCall) -> Shapes:
    return [(op.shape_of_rank(0, 2)[0], size(op, 1))]


@RULES.of(
    *("AllCandidateSampler", "FixedUnigramCandidateSampler", "LearnedUnigramCandidateSampler"),
    *("LogUniformCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"),
    *("UniformCandidateSampler",),
)
def _candidates(op: OpCall) -> Shapes:
    """Sampled classes, how often the true ones are expected, and how often the sampled ones."""
    n = count_attr(op, "num_sampled")
    return [(n,), op.shape_of_rank(0, 2), (n,)]


@RULES.of("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg")
def _key_and_counter(op: OpCall) -> Shapes:
    return [(1,), (2,), ()][: 3 if op.type.endswith("Alg") else 2]


@RULES.of("StatelessRandomGetAlg")
def _algorithm(op: OpCall) -> Shapes:
    return [()]


@RULES.of("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2")
@RULES.of("StatelessSampleDistortedBoundingBox")
def _sampled_box(op: OpCall) -> Shapes:
    """Where the box begins, its size, and the box itself."""
    return [(3,), (3,), (1, 1, 4)]
