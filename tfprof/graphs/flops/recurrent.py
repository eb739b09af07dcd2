"""Recurrent kernels: products of gates, and the element-wise work around them.

``b`` is the batch, ``i`` the size of the input, ``u`` the number of units, ``t`` that of steps. A
sigmoid takes 4 operations, ``tanh`` 1. Sequences are taken at their full length.

Backward, an LSTM takes for each unit: ``do = dh·co·o·(1 - o)`` 4, ``dcs += dh·o·(1 - co²)`` 5,
``dci = dcs·i·(1 - ci²)`` 4, ``df`` and ``di`` 4 each, ``dcs·f`` 1: 22 in all. Peepholes add 2
for ``dcs``, 4 for the cell before, and 6 for their own gradients.
"""

from __future__ import annotations

from typing import NamedTuple

from tfprof.graphs.flops.formulas import Cost, formula, multiply_adds, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, floor_div
from tfprof.graphs.model.tensors import Dims


def _lstm_forward(op: OpCall, forget_bias: bool, clip: float) -> int:
    """Operations per unit: bias 4, gates 13, cell 3, its tanh 1, output 1, and optional ones."""
    cell_clip = op.attr("cell_clip", clip)
    clipped = isinstance(cell_clip, (int, float)) and cell_clip > 0
    return 22 + forget_bias + 2 * clipped + 6 * op.flag("use_peephole")


def _lstm_backward(op: OpCall) -> int:
    return 22 + 12 * op.flag("use_peephole")


def _cell(op: OpCall, x: int, h: int) -> Dims:
    """Batch, input size and units of a cell."""
    return (*op.shape_of_rank(x, 2), op.shape_of_rank(h, 2)[1])


def _steps(op: OpCall) -> Number:
    """Steps of a block: those of its input, or fewer if ``seq_len_max`` says so."""
    steps = op.shape_of_rank(1, 3)[0]
    values = op.input(0).values
    if values is not None and len(values) == 1:
        longest = values[0]
        if type(longest) is int and isinstance(steps, int):
            return max(0, min(steps, longest))
    return steps


def _block(op: OpCall) -> Dims:
    """Steps, batch, input size and units of a block."""
    return (_steps(op), *op.shape_of_rank(1, 3)[1:], op.shape_of_rank(3, 2)[1])


@formula("LSTMBlockCell", "2·b·4·u·(i + u) + 23·b·u; 2·b·u more if clipped, 6·b·u with peepholes")
def _lstm_cell(op: OpCall) -> Cost:
    """Four gates of input and state; biases 5, gates 13, cell 3, tanh and output 2 a unit."""
    b, i, u = _cell(op, 0, 2)
    other = b * u * _lstm_forward(op, True, 3.0)
    return multiply_adds(4 * b * u * (i + u), other, b=b, i=i, u=u)


@formula("LSTMBlockCellGrad", "22·b·u; 12·b·u more with peepholes")
def _lstm_cell_grad(op: OpCall) -> Cost:
    """Gradients of the gates and of the cell; products with the weights are ops of their own."""
    b, _, u = _cell(op, 0, 2)
    return operations(b * u * _lstm_backward(op), b=b, u=u)


@formula(
    "BlockLSTM BlockLSTMV2",
    "t·(2·b·4·u·(i + u) + 22·b·u), b·u more for a forget bias, 2·b·u if clipped",
)
def _block_lstm(op: OpCall) -> Cost:
    """A cell for each of t steps; the first version adds a forget bias."""
    t, b, i, u = _block(op)
    first = op.type == "BlockLSTM"
    other = b * u * _lstm_forward(op, first, 3.0 if first else 0.0)
    return multiply_adds(t * 4 * b * u * (i + u), t * other, t=t, b=b, i=i, u=u)


@formula(
    "BlockLSTMGrad BlockLSTMGradV2", "t·(2·2·b·4·u·(i + u) + 28·b·u); 12·t·b·u more with peepholes"
)
def _block_lstm_grad(op: OpCall) -> Cost:
    """For each step products for data and weights; gates 22, biases 4, running gradients 2."""
    t, b, i, u = _block(op)
    other = b * u * (_lstm_backward(op) + 6)
    return multiply_adds(2 * t * 4 * b * u * (i + u), t * other, t=t, b=b, i=i, u=u)


@formula("GRUBlockCell", "2·b·3·u·(i + u) + 17·b·u")
def _gru_cell(op: OpCall) -> Cost:
    """Three gates of input and state; biases 3, gates 9, r·h 1, u·h + (1 - u)·c 4 a unit."""
    b, i, u = _cell(op, 0, 1)
    return multiply_adds(3 * b * u * (i + u), 17 * b * u, b=b, i=i, u=u)


@formula("GRUBlockCellGrad", "2·b·3·u·(i + u) + 18·b·u + b·i")
def _gru_cell_grad(op: OpCall) -> Cost:
    """Products with the weights of data only; dc 5, du 5, dr 4, dh 4 a unit, two parts of dx."""
    b, i, u = _cell(op, 0, 1)
    return multiply_adds(3 * b * u * (i + u), 18 * b * u + b * i, b=b, i=i, u=u)


class _Mode(NamedTuple):
    """A kind of cell of cuDNN, which has two biases for each gate.

    Attributes:
        gates: Number of gates.
        forward: Operations per unit: biases and gates, new state.
        backward: The same for the gradient: gates, sums of biases, running gradients.
    """

    gates: int
    forward: int
    backward: int


_MODES = {
    "lstm": _Mode(4, 8 + 13 + 5, 22 + 4 + 2),
    "gru": _Mode(3, 6 + 9 + 2 + 4, 17 + 4 + 1),
    "rnn_tanh": _Mode(1, 2 + 1, 3 + 1 + 1),
    "rnn_relu": _Mode(1, 2 + 1, 1 + 1 + 1),
}


def _mode(op: OpCall) -> _Mode:
    name = op.text("rnn_mode", "lstm")
    if name not in _MODES:
        raise UnknownError(f"no count is stated for the cell {name}")
    return _MODES[name]


def _cudnn(op: OpCall, passes: int, per_unit: int) -> Cost:
    """The cost of passes through all layers: every gate of each reads its input and the state.

    ``r`` is the size of the state that comes back, which a projection makes smaller.
    """
    t, b, i = op.shape_of_rank(0, 3)
    if not op.flag("time_major", True):
        t, b = b, t
    states, _, r = op.shape_of_rank(1, 3)
    u = op.shape_of_rank(2, 3)[2] if op.integer("num_proj") else r
    directions = 2 if op.text("direction") == "bidirectional" else 1
    layers = floor_div(states, directions)
    first = 0 if op.text("input_mode") == "skip_input" else i
    inputs = first + (layers - 1) * directions * r
    per_step = _mode(op).gates * u * (inputs + layers * r)
    if r != u:
        per_step = per_step + layers * u * r
    runs = t * b * directions
    numbers = {"t": t, "b": b, "i": i, "u": u, "r": r, "layers": layers, "directions": directions}
    return multiply_adds(passes * runs * per_step, per_unit * runs * layers * u, **numbers)


@formula(
    "CudnnRNN CudnnRNNV2 CudnnRNNV3",
    "t·b·directions·(2·gates·u·(i + (layers - 1)·directions·r + layers·r) + ops·layers·u)",
    "cuDNN API: cudnnRNNMode_t (equations of the cells)",
)
def _cudnn_forward(op: OpCall) -> Cost:
    """Each gate of each layer reads its input and state; LSTM 26, GRU 21, plain 3 ops a unit.

    GRU gates: biases 6, gates 9, the reset of the state 2, u·h + (1 - u)·c 4. A projection of u
    units to r takes u·r multiply-adds more for each layer.
    """
    return _cudnn(op, 1, _mode(op).forward)


@formula(
    "CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3",
    "2 · products of the forward pass + ops·t·b·directions·layers·u",
    "cuDNN API: cudnnRNNBackwardData_v8, cudnnRNNBackwardWeights_v8",
)
def _cudnn_backward(op: OpCall) -> Cost:
    """Each product has two in reverse, for data and weights; LSTM 28, GRU 22, tanh 5, relu 3.

    GRU gates: dc 5, du 5, dr 4, its state 1, dh 2; biases 4; the running gradient 1.
    """
    return _cudnn(op, 2, _mode(op).backward)
