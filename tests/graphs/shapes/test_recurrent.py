"""Shapes of recurrent kernels."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
T, K, U = 5, 3, 4


def zeros(feed, *dims):
    return feed(np.zeros(dims, np.float32))


@pytest.mark.tensorflow
def test_lstm_blocks_agree_with_tensorflow():
    def build(raw, feed):
        state, peephole = zeros(feed, 2, U), zeros(feed, U)
        weights = {
            "w": zeros(feed, K + U, 4 * U), "wci": peephole, "wcf": peephole, "wco": peephole,
            "b": zeros(feed, 4 * U),
        }  # fmt: skip
        x = feed(np.zeros((2, K), np.float32), 0)
        before = {"cs_prev": state, "h_prev": state}
        i, cs, f, o, ci, co, _ = raw.LSTMBlockCell(x=x, **before, **weights)
        raw.LSTMBlockCellGrad(
            x=x,
            **before,
            **weights,
            i=i,
            cs=cs,
            f=f,
            o=o,
            ci=ci,
            co=co,
            cs_grad=state,
            h_grad=state,
            use_peephole=True,
        )
        block = {"seq_len_max": np.int64(T), "x": zeros(feed, T, 2, K), **before, **weights}
        made = raw.BlockLSTM(**block)
        made = raw.BlockLSTMV2(**block)
        done = dict(zip(("i", "cs", "f", "o", "ci", "co", "h"), made, strict=True))
        for version in ("BlockLSTMGrad", "BlockLSTMGradV2"):
            getattr(raw, version)(
                **block, **done, cs_grad=made[0], h_grad=made[0], use_peephole=False
            )

    check(build)


@pytest.mark.tensorflow
def test_gru_blocks_agree_with_tensorflow():
    def build(raw, feed):
        inputs = {
            "x": zeros(feed, 2, K), "h_prev": zeros(feed, 2, U),
            "w_ru": zeros(feed, K + U, 2 * U), "w_c": zeros(feed, K + U, U),
            "b_ru": zeros(feed, 2 * U), "b_c": zeros(feed, U),
        }  # fmt: skip
        r, u, c, h = raw.GRUBlockCell(**inputs)
        raw.GRUBlockCellGrad(**inputs, r=r, u=u, c=c, d_h=h)

    check(build)


@pytest.mark.tensorflow
@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_cudnn_agrees_with_tensorflow(mode):
    def build(raw, feed):
        x, h = zeros(feed, T, 2, K), zeros(feed, 4, 2, U)
        inputs = {"input": x, "input_h": h, "input_c": h, "params": zeros(feed, 100)}
        attrs = {"rnn_mode": mode, "direction": "bidirectional"}
        made = raw.CudnnRNN(**inputs, **attrs)
        raw.CudnnRNNV2(**inputs, **attrs)
        lengths = feed(np.array([T, T], np.int32))
        raw.CudnnRNNV3(**inputs, **attrs, sequence_lengths=lengths)
        raw.CudnnRNNBackprop(
            **inputs,
            **attrs,
            output=made[0],
            output_h=made[1],
            output_c=made[2],
            output_backprop=made[0],
            output_h_backprop=made[1],
            output_c_backprop=made[2],
            reserve_space=made[3],
        )
        raw.CudnnRNNParamsSize(num_layers=2, num_units=U, input_size=K, T=np.float32, S=np.int32)

    check(build, run=False)


def test_both_directions_stand_side_by_side_in_the_output():
    states = floats(4, B, 8)
    op = call("CudnnRNNV3", floats(10, B, 6), states, states, direction="bidirectional")
    assert shapes(SHAPES, op)[:3] == [(10, B, 16), (4, B, 8), (4, B, 8)]


def test_canonical_weights_are_matrices_and_biases_vectors():
    op = call("CudnnRNNParamsToCanonical", UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, num_params=2)
    assert shapes(SHAPES, op) == [(None, None), (None, None), (None,), (None,)]
