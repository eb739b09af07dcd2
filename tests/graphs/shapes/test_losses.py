"""Shapes of softmax, cross entropies and CTC."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


@pytest.mark.tensorflow
def test_losses_agree_with_tensorflow():
    def build(raw, feed):
        logits = feed(np.ones((4, 7), np.float32), 0)
        raw.Softmax(logits=feed(np.ones((2, 3, 4), np.float32), 1))
        raw.LogSoftmax(logits=logits)
        raw.SoftmaxCrossEntropyWithLogits(features=logits, labels=logits)
        labels = feed(np.ones((4,), np.int32))
        raw.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=labels)

    check(build)


@pytest.mark.tensorflow
def test_ctc_agrees_with_tensorflow():
    def build(raw, feed):
        inputs = feed(np.ones((6, 2, 5), np.float32), 0)
        lengths = feed(np.array([6, 6], np.int32))
        labels = {"labels_indices": np.int64([[0, 0], [1, 0]]), "labels_values": np.int32([1, 2])}
        raw.CTCLoss(inputs=inputs, **labels, sequence_length=lengths)
        raw.CTCLossV2(inputs=inputs, **labels, sequence_length=lengths)
        raw.CTCGreedyDecoder(inputs=inputs, sequence_length=lengths)
        raw.CTCBeamSearchDecoder(inputs=inputs, sequence_length=lengths, beam_width=4, top_paths=2)

    check(build, run=False)


def test_labels_tell_the_batch_where_logits_do_not():
    op = call("SparseSoftmaxCrossEntropyWithLogits", floats(B, 10), floats(32))
    assert shapes(SHAPES, op) == [(32,), (32, 10)]
    op = call("SoftmaxCrossEntropyWithLogits", UNKNOWN, floats(32, 10))
    assert shapes(SHAPES, op) == [(32,), (32, 10)]


def test_one_row_of_labels_goes_with_all_logits():
    op = call("SoftmaxCrossEntropyWithLogits", floats(B, 7), floats(1, 7))
    assert shapes(SHAPES, op) == [(B,), (B, 7)]


def test_missing_attributes_are_reported():
    for op_type in ("CTCBeamSearchDecoder", "Skipgram"):
        with pytest.raises(UnknownError, match="the attribute"):
            shapes(SHAPES, call(op_type, floats(6, 2, 5)))
