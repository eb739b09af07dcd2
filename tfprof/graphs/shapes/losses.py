"""Shapes of softmax, cross entropies, CTC and candidate samplers."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.shapes.dims import broadcast
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(op: OpCall) -> Shapes:
    known = [tensor.shape for tensor in op.inputs[:2] if tensor.shape is not None]
    if not known:
        raise UnknownError("the shapes of inputs 0 and 1 are unknown")
    dims = broadcast(*known)
    if len(dims) != 2:
        raise UnknownError(f"a cross entropy of {len(dims)} dimensions")
    return [dims[:1], dims]


@SHAPES.of("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(op: OpCall) -> Shapes:
    rows, classes = op.shape_of_rank(0, 2)
    labels = op.input(1).shape
    if not isinstance(rows, int) and labels is not None and len(labels) == 1:
        rows = labels[0]
    return [(rows,), (rows, classes)]


@SHAPES.of("CTCLoss", "CTCLossV2")
def _ctc_loss(op: OpCall) -> Shapes:
    dims = op.shape_of_rank(0, 3)
    return [dims[1:2], dims]


@SHAPES.of("CTCBeamSearchDecoder")
def _ctc_beam_search(op: OpCall) -> Shapes:
    """Indices of all paths come first, then all values, then all shapes."""
    n = op.count_attr("top_paths")
    return [*[(None, 2)] * n, *[(None,)] * n, *[(2,)] * n, (op.shape_of_rank(0, 3)[1], n)]


@SHAPES.of("Skipgram")
def _skipgram(op: OpCall) -> Shapes:
    batch = op.integer("batch_size")
    if batch < 1:
        raise UnknownError("the attribute batch_size is missing")
    return [(None,), (None,), (), (), (), (batch,), (batch,)]


SHAPES.of("CTCGreedyDecoder")(lambda op: [(None, 2), (None,), (2,), (op.shape_of_rank(0, 3)[1], 1)])
