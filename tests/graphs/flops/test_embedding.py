"""Embedding lookups that sum, by hand."""

import pytest

from tests.graphs.calls import call, cost, floats, scalar
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.tensors import DT_INT32, UNKNOWN, Tensor
from tfprof.graphs.shapes.infer import SHAPES

IDS = Tensor((10,), DT_INT32)


def looked_up(op_type, data, *more, outputs=(), **attrs):
    op = call(op_type, data, IDS, IDS, *more, outputs=outputs, **attrs)
    return cost(None if outputs else SHAPES, op).flops


def test_embedding_lookups_add_the_rows():
    table, made = floats(1000, 16), (floats(4, 16),)
    assert looked_up("SparseSegmentSum", table, outputs=made) == 10 * 16
    assert looked_up("SparseSegmentMean", table, outputs=made) == 160 + 64
    # a root for each of 4 segments
    assert looked_up("SparseSegmentSqrtN", table, outputs=made) == 160 + 64 + 4
    assert looked_up("SparseSegmentMeanWithNumSegments", table, scalar(4)) == 160 + 64


def test_gradients_of_embedding_lookups():
    gradient, made = floats(4, 16), (floats(1000, 16),)
    assert looked_up("SparseSegmentSumGrad", gradient, outputs=made) == 160
    # each is scaled and added; one scale for each of 4 segments, with a root for SqrtN
    assert looked_up("SparseSegmentMeanGrad", gradient, outputs=made) == 320 + 4
    assert looked_up("SparseSegmentSqrtNGradV2", gradient, outputs=made) == 320 + 8


def test_tpu_embeddings_are_not_part_of_the_graph():
    with pytest.raises(UnknownError, match="TPU"):
        cost(None, call("RecvTPUEmbeddingActivations", UNKNOWN))
