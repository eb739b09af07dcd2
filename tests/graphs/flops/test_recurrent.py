"""Recurrent kernels: compared with a cell composed of plain ops, and by hand."""

import pytest

from tests.graphs.calls import call, cost, floats, scalar
from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_INT32, DT_INT64, UNKNOWN, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
T, N, K, U = 7, 2, 3, 4


def plain(op_type, *inputs):
    return cost(SHAPES, call(op_type, *inputs)).flops


def composed_lstm():
    """Operations of one LSTM step of plain ops, besides the product."""
    gate, gates, bias = floats(N, U), floats(N, 4 * U), floats(4 * U)
    return (
        plain("BiasAdd", gates, bias)
        + 3 * plain("Sigmoid", gate)
        + plain("Tanh", gate)
        + 2 * plain("Mul", gate, gate)
        + plain("AddV2", gate, gate)
        + plain("Tanh", gate)
        + plain("Mul", gate, gate)
    )


def composed_gru():
    """Operations of one GRU step of plain ops, besides the products."""
    gate = floats(N, U)
    return (
        plain("BiasAdd", floats(N, 2 * U), floats(2 * U))
        + 2 * plain("Sigmoid", gate)
        + plain("Mul", gate, gate)
        + plain("BiasAdd", gate, floats(U))
        + plain("Tanh", gate)
        + plain("Sub", floats(), gate)
        + 2 * plain("Mul", gate, gate)
        + plain("AddV2", gate, gate)
    )


def lstm_inputs():
    weights = (floats(K + U, 4 * U), *[floats(U)] * 3, floats(4 * U))
    return floats(N, U), floats(N, U), *weights


def test_an_lstm_cell_costs_what_its_parts_cost():
    op = call("LSTMBlockCell", floats(N, K), *lstm_inputs(), cell_clip=-1.0)
    made = cost(SHAPES, op)
    assert made.macs == N * (K + U) * 4 * U
    assert made.other == composed_lstm() + N * U  # the forget bias


def test_clipping_and_peepholes_are_on_top():
    op = call("LSTMBlockCell", floats(N, K), *lstm_inputs(), use_peephole=True)
    # clipped at 3 by default: 2; three products with the cell, added: 6
    assert cost(SHAPES, op).other == composed_lstm() + N * U * (1 + 2 + 6)


def test_a_block_is_a_cell_for_each_step():
    inputs = (scalar(T, DT_INT64), floats(T, N, K), *lstm_inputs())
    made = cost(SHAPES, call("BlockLSTMV2", *inputs))
    assert made.macs == T * N * (K + U) * 4 * U
    assert made.other == T * composed_lstm()
    first = cost(SHAPES, call("BlockLSTM", *inputs, cell_clip=0.0))
    assert first.other == T * (composed_lstm() + N * U)


def test_a_block_may_stop_early():
    inputs = (scalar(3, DT_INT64), floats(T, N, K), *lstm_inputs())
    assert cost(SHAPES, call("BlockLSTMV2", *inputs)).macs == 3 * N * (K + U) * 4 * U


def test_gradients_of_lstm_kernels():
    op = call("LSTMBlockCellGrad", floats(N, K), *lstm_inputs(), use_peephole=False)
    made = cost(SHAPES, op)
    # do 4, dcs 5, dci 4, df 4, di 4, cell before 1
    assert (made.macs, made.other) == (0, N * U * 22)
    inputs = (scalar(T, DT_INT64), floats(T, N, K), *lstm_inputs())
    made = cost(SHAPES, call("BlockLSTMGrad", *inputs, use_peephole=False))
    assert made.macs == 2 * T * N * (K + U) * 4 * U
    assert made.other == T * N * U * (22 + 4 + 2)


def test_a_gru_cell_costs_what_its_parts_cost():
    inputs = (floats(N, K), floats(N, U), floats(K + U, 2 * U), floats(K + U, U))
    made = cost(SHAPES, call("GRUBlockCell", *inputs))
    assert made.macs == N * (K + U) * 3 * U
    assert made.other == composed_gru()
    made = cost(SHAPES, call("GRUBlockCellGrad", *inputs))
    assert made.macs == N * (K + U) * 3 * U
    assert made.other == N * U * (5 + 5 + 4 + 4) + N * K


def cudnn(op_type="CudnnRNNV3", layers=1, directions=1, x=None, h=None, c=None, **attrs):
    states = layers * directions
    op = call(
        op_type, x or floats(T, N, K), h or floats(states, N, U), c or floats(states, N, U),
        UNKNOWN, Tensor((N,), DT_INT32),
        direction="bidirectional" if directions == 2 else "unidirectional", **attrs,
    )  # fmt: skip
    return cost(SHAPES, op)


def test_cudnn_lstm():
    made = cudnn()
    assert made.macs == T * N * 4 * U * (K + U)
    # a second bias for each gate, otherwise as composed
    assert made.other == T * (composed_lstm() + N * 4 * U)


def test_cudnn_layers_read_both_directions_of_the_layer_below():
    first, others = 4 * U * (K + U), 4 * U * (2 * U + U)
    made = cudnn(layers=3, directions=2)
    assert made.macs == T * N * 2 * (first + 2 * others)
    assert made.other == T * N * 2 * 3 * U * 26


@pytest.mark.parametrize(
    ("mode", "gates", "per_unit", "backward"),
    [
        ("lstm", 4, 26, 28),
        # biases 6, two sigmoids and a tanh 9, reset of the state 2, new state 4
        ("gru", 3, 21, 22),
        ("rnn_tanh", 1, 3, 5),
        ("rnn_relu", 1, 3, 3),
    ],
)
def test_cudnn_cells(mode, gates, per_unit, backward):
    made = cudnn(rnn_mode=mode)
    assert made[:2] == (T * N * gates * U * (K + U), T * N * U * per_unit)
    made = cudnn("CudnnRNNBackpropV3", rnn_mode=mode)
    assert made[:2] == (2 * T * N * gates * U * (K + U), T * N * U * backward)


def test_cudnn_projections_make_the_state_smaller():
    h, c, r = floats(2, N, 3), floats(2, N, U), 3
    made = cudnn(layers=2, h=h, c=c, num_proj=3)
    first, second = 4 * U * (K + r) + U * r, 4 * U * (r + r) + U * r
    assert made.macs == T * N * (first + second)


def test_cudnn_may_skip_the_first_product():
    assert cudnn(input_mode="skip_input").macs == T * N * 4 * U * U


def test_the_batch_may_come_first():
    assert cudnn(x=floats(B, T, K), time_major=False).macs == 4 * U * (K + U) * T * B


def test_an_unheard_of_cell_is_reported():
    with pytest.raises(UnknownError, match="lattice"):
        cudnn(rnn_mode="lattice")


def test_costs_name_their_numbers():
    made = cudnn()
    assert isinstance(made, Cost)
    assert dict(made.numbers)["u"] == U
