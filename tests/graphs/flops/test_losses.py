"""Softmax, cross entropies and CTC, by hand."""

import pytest

from tests.graphs.calls import call, cost, floats
from tfprof.graphs.flops.registry import FREE
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_INT32, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def flops(op):
    return cost(SHAPES, op).flops


def test_a_softmax_takes_five_operations_for_each_element():
    assert flops(call("Softmax", floats(2, 5))) == 50
    assert flops(call("Softmax", floats(B, 8, 10, 10))) == 4000 * B


def test_a_log_softmax_takes_a_log_for_each_row():
    assert flops(call("LogSoftmax", floats(2, 5))) == 5 * 10 + 2


def test_cross_entropies():
    # max, sub, exp, sum; log of each row; log - x, ·label, sum; softmax by division; - label
    expected = 4 * 10 + 2 + 3 * 10 + 2 * 10
    assert flops(call("SoftmaxCrossEntropyWithLogits", floats(2, 5), floats(2, 5))) == expected
    labels = Tensor((2,), DT_INT32)
    # max, sub, exp, sum, division; a log, log - x of the label, and 1 off its softmax
    expected = 5 * 10 + 3 * 2
    assert flops(call("SparseSoftmaxCrossEntropyWithLogits", floats(2, 5), labels)) == expected


def test_ctc_follows_the_states_of_all_labels():
    labels = Tensor((7, 2), 9)
    op = call("CTCLoss", floats(6, 2, 5), labels, Tensor((7,), DT_INT32), Tensor((2,), DT_INT32))
    # softmax and gradient on 6·2·5; 2·7 + 2 states with 13 + 13 + 7 each at each of 6 steps
    assert flops(op) == 8 * 60 + 33 * 6 * 16


def test_ctc_decoders():
    lengths = Tensor((2,), DT_INT32)
    assert flops(call("CTCGreedyDecoder", floats(6, 2, 5), lengths)) == 60
    op = call("CTCBeamSearchDecoder", floats(6, 2, 5), lengths, beam_width=4, top_paths=1)
    assert flops(op) == 60 * (5 + 4 * (1 + 2))
    with pytest.raises(UnknownError):
        op = call("CTCBeamSearchDecoder", floats(6, 2, 5), lengths, outputs=(floats(1),))
        cost(None, op)


def test_negative_sampling():
    examples = Tensor((8,), DT_INT32)
    op = call("NegTrain", floats(50, 16), floats(50, 16), examples, num_negative_samples=3)
    made = cost(SHAPES, op)
    # 8 examples, 4 words each: a dot product and two updates of 16 elements, a sigmoid and its use
    assert made.macs == 3 * 8 * 4 * 16
    assert made.other == 8 * 16 + 5 * 8 * 4


def test_samplers_are_free():
    assert "LogUniformCandidateSampler" in FREE
