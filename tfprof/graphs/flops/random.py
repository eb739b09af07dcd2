"""Random numbers: what turns random bits into samples of a distribution.

The bits themselves are integer work. Rejection methods are counted for one round; how many
rounds are rejected depends on the bits.
"""

from __future__ import annotations

from tfprof.graphs.flops.formulas import Cost, Family, Formula, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError

FAMILY = Family.named("random")

_BOX_MULLER = "Box & Muller, A Note on the Generation of Random Normal Deviates, 1958"


def _samples(count: int, why: str, source: str) -> Formula:
    """So many operations for each sample."""

    def cost(op: OpCall) -> Cost:
        n = op.n_out()
        return operations(count * n, n=n)

    return Formula(FAMILY.name, "n" if count == 1 else f"{count}·n", why, source, cost)


FAMILY.add(
    ("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2", "StatefulUniform"),
    _samples(
        1,
        "Random bits become the mantissa of a number in [1, 2), from which 1 is subtracted.",
        "TensorFlow API: tf.random.uniform",
    ),
)
FAMILY.add(
    (
        *("RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2"),
        *("StatefulStandardNormal", "StatefulStandardNormalV2"),
    ),
    _samples(
        5,
        "Two uniform numbers give √(-2·log(u))·sin(2·π·v) and the same with cos: 10 for two.",
        _BOX_MULLER,
    ),
)
FAMILY.add(
    (
        *("TruncatedNormal", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
        *("StatefulTruncatedNormal",),
    ),
    _samples(
        7,
        "A normal number, 5, and |x| < 2; the 4.6 % that are drawn again are left out.",
        _BOX_MULLER,
    ),
)
FAMILY.add(
    ("ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal"),
    _samples(
        9,
        "A normal number, 5, compared with two bounds, times the deviation, plus the mean.",
        _BOX_MULLER,
    ),
)
FAMILY.add(
    ("RandomGamma", "StatelessRandomGammaV2", "StatelessRandomGammaV3"),
    _samples(
        16,
        "A normal x 5, a uniform u 1, v = (1 + c·x)³ 4, u < 1 - 0.0331·x⁴ 5, and d·v 1.",
        "Marsaglia & Tsang, A Simple Method for Generating Gamma Variables, 2000",
    ),
)
FAMILY.add(
    ("RandomPoisson", "RandomPoissonV2", "StatelessRandomPoisson"),
    _samples(
        14,
        "Two uniforms 2, u - 0.5, 0.5 - |u| 3, floor((2·a / us + b)·u + λ + 0.43) 7, two tests.",
        "Hörmann, The Transformed Rejection Method, 1993, algorithm PTRS",
    ),
)
FAMILY.add(
    ("StatelessRandomBinomial", "StatefulRandomBinomial"),
    _samples(
        15,
        "Two uniforms 2, u - 0.5, 0.5 - |u| 3, floor((2·a / us + b)·u + c) 6, four tests.",
        "Hörmann, The Generation of Binomial Random Variates, 1993, algorithm BTRS",
    ),
)


@FAMILY.formula(
    *("Multinomial", "StatelessMultinomial"),
    rule="4·n + s·(2 + ⌈log₂ c⌉)",
    source="TensorFlow API: tf.random.categorical",
)
def _categorical(op: OpCall) -> Cost:
    """Running sums of exp(x - max) over n logits; a uniform number is searched for s samples."""
    n, s = op.n_in(), op.n_out()
    classes = op.shape_of_rank(0, 2)[1]
    if not isinstance(classes, int):
        raise UnknownError("the number of classes is unknown")
    return operations(4 * n + s * (2 + max(1, (classes - 1).bit_length())), n=n, s=s, c=classes)


@FAMILY.formula("SobolSample", rule="n", source="TensorFlow API: tf.math.sobol_sample")
def _sobol(op: OpCall) -> Cost:
    """Each number of the sequence is made of integers and scaled once."""
    n = op.n_out()
    return operations(n, n=n)


@FAMILY.formula("StochasticCastToInt", rule="4·n")
def _stochastic_cast(op: OpCall) -> Cost:
    """floor(x), x - floor(x), and a uniform number, 1, that is compared with it."""
    n = op.n_out()
    return operations(4 * n, n=n)


FAMILY.declare_free(
    *("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"),
    "StatelessSampleDistortedBoundingBox",
    because="draws one box for an image",
)
