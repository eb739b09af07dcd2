"""Softmax, cross entropies, CTC, and samplers of classes for losses.

``n`` is the number of elements, ``m`` that of rows; each row is a distribution.
"""

from __future__ import annotations

import math

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
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims


def _elements_and_rows(dims: Dims) -> tuple[Number, Number]:
    return math.prod(dims), math.prod(dims[:-1])


@formula("LogSoftmax", "5·n + m")
def _log_softmax(op: OpCall) -> Cost:
    """Maximum, subtraction, exp, sum and a subtraction for each element, a log for each row."""
    n, m = _elements_and_rows(op.shape())
    return operations(5 * n + m, n=n, m=m)


@formula("SoftmaxCrossEntropyWithLogits", "9·n + m")
def _cross_entropy(op: OpCall) -> Cost:
    """Log-probabilities 5·n + m, times the labels and summed 2·n; softmax - labels 2·n."""
    n, m = _elements_and_rows(op.out(1))
    return operations(9 * n + m, n=n, m=m)


@formula("SparseSoftmaxCrossEntropyWithLogits", "5·n + 3·m")
def _sparse_cross_entropy(op: OpCall) -> Cost:
    """Maximum, subtraction, exp, sum and division n each; a log and two subtractions a row."""
    n, m = _elements_and_rows(op.shape())
    return operations(5 * n + 3 * m, n=n, m=m)


@formula(
    "CTCLoss CTCLossV2",
    "8·t·b·c + 33·t·(2·l + b)",
    "Graves et al., Connectionist Temporal Classification, 2006, §4",
)
def _ctc_loss(op: OpCall) -> Cost:
    """Softmax 5 and gradient 3 per class; forward and backward 13 each, and 7, per state.

    A sum of three log-probabilities takes 12, one more multiplies in the output. All b sequences
    are taken at their full length t; their l labels make 2·l + b states.
    """
    t, b, c = op.shape_of_rank(0, 3)
    labels = op.n_in(2)
    return operations(8 * t * b * c + 33 * t * (2 * labels + b), t=t, b=b, c=c, l=labels)


@formula("CTCGreedyDecoder", "t·b·c")
def _ctc_greedy_decoder(op: OpCall) -> Cost:
    """The largest of c classes, c - 1 comparisons, is added to the score of the sequence."""
    t, b, c = op.shape_of_rank(0, 3)
    return operations(t * b * c, t=t, b=b, c=c)


@formula("CTCBeamSearchDecoder", "t·b·c·(5 + w·(1 + ⌈log₂ w⌉))")
def _ctc_beam_search(op: OpCall) -> Cost:
    """A log-softmax, then each of w beams is extended by each class and passes a heap of w."""
    t, b, c = op.shape_of_rank(0, 3)
    w = op.integer("beam_width")
    if w < 1:
        raise UnknownError("the attribute beam_width is missing")
    per_class = 5 + w * (1 + bits_of(w, "the beam"))
    return operations(t * b * c * per_class, t=t, b=b, c=c, w=w)


@formula(
    "NegTrain",
    "2·(3·e·(s + 1)·d) + e·d + 5·e·(s + 1)",
    "Mikolov et al., Distributed Representations of Words and Phrases, 2013, eq. 4",
)
def _negative_sampling(op: OpCall) -> Cost:
    """For e examples and s + 1 words: a dot product, two updates of d elements, a sigmoid."""
    d = op.shape_of_rank(0, 2)[1]
    e, samples = op.n_in(2), max(op.integer("num_negative_samples"), 0)
    pairs = e * (samples + 1)
    return multiply_adds(3 * pairs * d, e * d + 5 * pairs, e=e, s=samples, d=d)


enter_counts(
    Counted("Softmax _MklSoftmax", 5,
            "Maximum, subtraction, exp, sum and division, once for each element."),
)  # fmt: skip
declare_free(
    """
    AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler
    LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler
    ComputeAccidentalHits Skipgram
    """,
    because="picks classes by number; only their expected counts are floats",
)
declare_free("EditDistance", because="compares labels and counts in whole numbers")
