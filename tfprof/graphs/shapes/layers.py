"""Shapes of layers that are one kernel: normalizations, recurrent cells, and losses."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.dims import broadcast
from tfprof.graphs.shapes.rules import SHAPES, Shapes, with_onednn

_CHANNELS_FIRST = ("NCHW", "NCDHW")


def _image(op: OpCall, *indices: int) -> Dims:
    """Dimensions of the first input of known rank, of several that have the same shape."""
    for index in indices:
        if op.input(index).shape is not None:
            return op.shape(index)
    raise UnknownError(f"the shape of input {indices[0]} is unknown")


def _channels(op: OpCall, image: Dims, scale: int) -> Number:
    """Number of channels, from the scale if the image does not give it."""
    if len(image) < 2:
        raise UnknownError(f"a batch normalization of {len(image)} dimensions")
    channels = image[1 if op.text("data_format") in _CHANNELS_FIRST else -1]
    scales = op.input(scale).shape
    if not isinstance(channels, int) and scales is not None and len(scales) == 1:
        return scales[0]
    return channels


def _with_layouts(op: OpCall, shapes: list[PartialShape]) -> Shapes:
    """Where oneDNN's kernels have own layouts, a further output describes that of each."""
    has_layouts = op.type.startswith("_Mkl") and not op.type.startswith("_MklNative")
    return shapes + [(None,)] * (len(shapes) if has_layouts else 0)


@SHAPES.of(*with_onednn("FusedBatchNorm", "FusedBatchNormV2"))
@SHAPES.of(*with_onednn("FusedBatchNormV3", "_FusedBatchNormEx"))
def _batch_norm(op: OpCall) -> Shapes:
    """The result and statistics; later versions have room for scratch."""
    image = op.shape(0)
    statistics = [(_channels(op, image, 1),)] * 4
    has_scratch = op.type.endswith(("V3", "Ex"))
    return _with_layouts(op, [image, *statistics, *[(None,)] * has_scratch])


@SHAPES.of(*with_onednn("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"))
@SHAPES.of("_FusedBatchNormGradEx")
def _batch_norm_grad(op: OpCall) -> Shapes:
    """Two outputs are there to match older versions; TensorFlow calls them empty."""
    image = _image(op, 1, 0)
    channels = (_channels(op, image, 2),)
    sides = op.count_attr("num_side_inputs") if "num_side_inputs" in op.attrs else 0
    return _with_layouts(op, [image, channels, channels, (0,), (0,), *[image] * sides])


@SHAPES.of("BatchNormWithGlobalNormalizationGrad")
def _global_batch_norm_grad(op: OpCall) -> Shapes:
    image = _image(op, 0, 4)
    if not image:
        raise UnknownError("a batch normalization of a scalar")
    return [image, *[(image[-1],)] * 4]


SHAPES.of("LRNGrad")(lambda op: [_image(op, 0, 1, 2)])


@SHAPES.of("LSTMBlockCellGrad")
def _lstm_cell_grad(op: OpCall) -> Shapes:
    batch, units = op.shape_of_rank(1, 2)
    return [(batch, units), (batch, 4 * units), (units,), (units,), (units,)]


@SHAPES.of("BlockLSTM", "BlockLSTMV2")
def _block_lstm(op: OpCall) -> Shapes:
    steps, batch, _ = op.shape_of_rank(1, 3)
    return [(steps, batch, op.shape_of_rank(3, 2)[1])] * 7


@SHAPES.of("GRUBlockCellGrad")
def _gru_cell_grad(op: OpCall) -> Shapes:
    batch, units = op.shape_of_rank(1, 2)
    return [op.shape_of_rank(0, 2), (batch, units), (batch, units), (batch, 2 * units)]


@SHAPES.of("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
def _cudnn(op: OpCall) -> Shapes:
    """Only an LSTM has a cell; the last outputs are scratch space of unknown shape."""
    first, second, _ = op.shape_of_rank(0, 3)
    states = op.shape_of_rank(1, 3)
    directions = 2 if op.text("direction") == "bidirectional" else 1
    cell = op.input(2).shape if op.text("rnn_mode", "lstm") == "lstm" else ()
    scratch = [None] * (1 if op.type == "CudnnRNN" else 2)
    return [(first, second, directions * states[2]), states, cell, *scratch]


@SHAPES.of("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2")
def _canonical(op: OpCall) -> Shapes:
    """Matrices of weights, then as many vectors of biases unless it says otherwise."""
    names = ("num_params", "num_params")
    if op.type.endswith("V2"):
        names = ("num_params_weights", "num_params_biases")
    weights, biases = map(op.count_attr, names)
    return [*[(None, None)] * weights, *[(None,)] * biases]


# Seven matrices of units, from the cell before.
SHAPES.of("LSTMBlockCell")(lambda op: [op.shape_of_rank(1, 2)] * 7)
SHAPES.of("GRUBlockCell")(lambda op: [op.shape_of_rank(1, 2)] * 4)


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
