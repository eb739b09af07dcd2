"""Shapes of recurrent kernels."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.shapes.rules import SHAPES, Shapes


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
