"""Random numbers, from random bits to samples of a distribution, and distances between points.

The bits themselves are integer work. Rejection methods are counted for one round, as the number of
rounds depends on the bits.
"""

from __future__ import annotations

from tfprof.graphs.flops.formulas import (
    Cost,
    Counted,
    bits_of,
    declare_free,
    enter_counts,
    formula,
    multiply_adds,
    operations,
)
from tfprof.graphs.model.op_call import OpCall

_BOX_MULLER = "Box & Muller, A Note on the Generation of Random Normal Deviates, 1958"


enter_counts(
    Counted("RandomUniform StatelessRandomUniform StatelessRandomUniformV2 StatefulUniform", 1,
            "Random bits become the mantissa of a number in [1, 2), from which 1 is subtracted.",
            "TensorFlow API: tf.random.uniform", of_input=None),
    Counted("RandomStandardNormal StatelessRandomNormal StatelessRandomNormalV2 "
            "StatefulStandardNormal StatefulStandardNormalV2", 5,
            "Two uniform numbers give √(-2·log(u))·sin(2·π·v) and the same with cos: 10 for two.",
            _BOX_MULLER, of_input=None),
    Counted("TruncatedNormal StatelessTruncatedNormal StatelessTruncatedNormalV2 "
            "StatefulTruncatedNormal", 7,
            "A normal number, 5, and |x| < 2; the 4.6 % that are drawn again are left out.",
            _BOX_MULLER, of_input=None),
    Counted("ParameterizedTruncatedNormal StatelessParameterizedTruncatedNormal", 9,
            "A normal number, 5, compared with two bounds, times the deviation, plus the mean.",
            _BOX_MULLER, of_input=None),
    Counted("RandomGamma StatelessRandomGammaV2 StatelessRandomGammaV3", 16,
            "A normal x 5, a uniform u 1, v = (1 + c·x)³ 4, u < 1 - 0.0331·x⁴ 5, and d·v 1.",
            "Marsaglia & Tsang, A Simple Method for Generating Gamma Variables, 2000",
            of_input=None),
    Counted("RandomPoisson RandomPoissonV2 StatelessRandomPoisson", 14,
            "Two uniforms 2, u - 0.5, 0.5 - |u| 3, floor((2·a / us + b)·u + λ + 0.43) 7, "
            "two tests.",
            "Hörmann, The Transformed Rejection Method, 1993, algorithm PTRS", of_input=None),
    Counted("StatelessRandomBinomial StatefulRandomBinomial", 15,
            "Two uniforms 2, u - 0.5, 0.5 - |u| 3, floor((2·a / us + b)·u + c) 6, four tests.",
            "Hörmann, The Generation of Binomial Random Variates, 1993, algorithm BTRS",
            of_input=None),
    Counted("SobolSample", 1, "Each number of the sequence is made of integers and scaled once.",
            "TensorFlow API: tf.math.sobol_sample", of_input=None),
    Counted("StochasticCastToInt", 4, of_input=None,
            why="floor(x), x - floor(x), and a uniform number, 1, that is compared with it."),
)  # fmt: skip


@formula(
    "Multinomial StatelessMultinomial",
    "4·n + s·(2 + ⌈log₂ c⌉)",
    "TensorFlow API: tf.random.categorical",
)
def _categorical(op: OpCall) -> Cost:
    """Running sums of exp(x - max) over n logits; a uniform number is searched for s samples."""
    n, s = op.n_in(), op.n_out()
    classes = op.shape_of_rank(0, 2)[1]
    bits = bits_of(classes, "the number of classes")
    return operations(4 * n + s * (2 + bits), n=n, s=s, c=classes)


declare_free(
    """
    SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox
    """,
    because="draws one box for an image",
)


@formula(
    "KmeansPlusPlusInitialization", "k·(2·n·d + 3·n)", "Arthur & Vassilvitskii, k-means++, 2007"
)
def _kmeans(op: OpCall) -> Cost:
    """For each of k centers the distances of n points (d multiply-adds), minima, running sums."""
    n, d = op.shape_of_rank(0, 2)
    (k,) = op.numbers(1)
    return multiply_adds(k * n * d, 3 * k * n, n=n, d=d, k=k)


@formula("NearestNeighbors", "2·n·c·d + n·c·(2 + ⌈log₂ k⌉)")
def _nearest(op: OpCall) -> Cost:
    """‖x‖² - 2·x·y + ‖y‖² for n points and c centers, and a heap of the k nearest."""
    (n, d), c = op.shape_of_rank(0, 2), op.shape_of_rank(1, 2)[0]
    (k,) = op.known_ints(2)
    bits = bits_of(k, "the number of neighbors")
    return multiply_adds(n * c * d, n * c * (2 + bits), n=n, c=c, d=d, k=k)


enter_counts(
    Counted("KMC2ChainInitialization", 3, source="Bachem et al., k-MC², 2016, algorithm 1",
            why="For each of n candidates a uniform number, a product and a comparison."),
)  # fmt: skip
