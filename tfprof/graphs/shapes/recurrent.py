"""Shapes of recurrent kernels."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import count_attr
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()


@RULES.of("LSTMBlockCellGrad")
def _lstm_cell_grad(op: OpCall) -> list[PartialShape]:
    batch, units = op.shape_of_rank(1, 2)
    return [(batch, units), (batch, 4 * units), (units,), (units,), (units,)]


@RULES.of("BlockLSTM", "BlockLSTMV2")
def _block_lstm(op: OpCall) -> list[PartialShape]:
    steps, batch, _ = op.shape_of_rank(1, 3)
    return [(steps, batch, op.shape_of_rank(3, 2)[1])] * 7


@RULES.of("GRUBlockCellGrad")
def _gru_cell_grad(op: OpCall) -> list[PartialShape]:
    batch, units = op.shape_of_rank(1, 2)
    return [op.shape_of_rank(0, 2), (batch, units), (batch, units), (batch, 2 * units)]


@RULES.of("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
def _cudnn(op: OpCall) -> list[PartialShape]:
    """Only an LSTM has a cell; the last outputs are scratch space of unknown shape."""
    first, second, _ = op.shape_of_rank(0, 3)
    states = op.shape_of_rank(1, 3)
    directions = 2 if op.text("direction") == "bidirectional" else 1
    cell: PartialShape = op.input(2).shape if op.text("rnn_mode", "lstm") == "lstm" else ()
    outputs: list[PartialShape] = [(first, second, directions * states[2]), states, cell]
    return [*outputs, None] if op.type == "CudnnRNN" else [*outputs, None, None]


@RULES.of("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2")
def _canonical(op: OpCall) -> list[PartialShape]:
    """Matrices of weights, then as many vectors of biases unless it says otherwise."""
    if op.type.endswith("V2"):
        weights = count_attr(op, "num_params_weights")
        biases = count_attr(op, "num_params_biases")
    else:
        weights = biases = count_attr(op, "num_params")
    matrices: list[PartialShape] = [(None, None)] * weights
    vectors: list[PartialShape] = [(None,)] * biases
    return matrices + vectors


# Seven matrices of units, from the cell before.
RULES.of("LSTMBlockCell")(lambda op: [op.shape_of_rank(1, 2)] * 7)
# A gradient for each of the inputs from ``x`` on.
RULES.of("BlockLSTMGrad BlockLSTMGradV2")(
    lambda op: [op.input(index).shape for index in range(1, 9)]
)
RULES.of("GRUBlockCell")(lambda op: [op.shape_of_rank(1, 2)] * 4)
RULES.of("CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3")(
    lambda op: [op.input(index).shape for index in range(4)]
)
RULES.of("CudnnRNNParamsSize")(lambda op: [(1,)])
RULES.of("CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2")(lambda op: [(None,)])
