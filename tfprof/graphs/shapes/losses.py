"""Shapes of softmax, cross entropies, CTC and candidate samplers."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import count_attr
from tfprof.graphs.shapes.broadcasting import broadcast
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()


@RULES.of("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(op: OpCall) -> list[PartialShape]:
    known = [tensor.shape for tensor in op.inputs[:2] if tensor.shape is not None]
    if not known:
        raise UnknownError("the shapes of inputs 0 and 1 are unknown")
    dims = broadcast(*known)
    if len(dims) != 2:
        raise UnknownError(f"a cross entropy of {len(dims)} dimensions")
    return [dims[:1], dims]


@RULES.of("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(op: OpCall) -> list[PartialShape]:
    rows, classes = op.shape_of_rank(0, 2)
    labels = op.input(1).shape
    if not isinstance(rows, int) and labels is not None and len(labels) == 1:
        rows = labels[0]
    return [(rows,), (rows, classes)]


@RULES.of("CTCLoss", "CTCLossV2")
def _ctc_loss(op: OpCall) -> list[PartialShape]:
    dims = op.shape_of_rank(0, 3)
    return [dims[1:2], dims]


@RULES.of("CTCBeamSearchDecoder")
def _ctc_beam_search(op: OpCall) -> list[PartialShape]:
    """Indices of all paths come first, then all values, then all shapes."""
    paths = count_attr(op, "top_paths")
    indices: list[PartialShape] = [(None, 2)] * paths
    values: list[PartialShape] = [(None,)] * paths
    shapes: list[PartialShape] = [(2,)] * paths
    return [*indices, *values, *shapes, (op.shape_of_rank(0, 3)[1], paths)]


@RULES.of("Skipgram")
def _skipgram(op: OpCall) -> list[PartialShape]:
    batch = op.integer("batch_size")
    if batch < 1:
        raise UnknownError("the attribute batch_size is missing")
    return [(None,), (None,), (), (), (), (batch,), (batch,)]


RULES.of("Softmax LogSoftmax _MklSoftmax")(lambda op: [op.shape()])
RULES.of("CTCGreedyDecoder")(lambda op: [(None, 2), (None,), (2,), (op.shape_of_rank(0, 3)[1], 1)])
RULES.of("ComputeAccidentalHits")(lambda op: [(None,), (None,), (None,)])
RULES.of("NegTrain")(lambda op: [])
