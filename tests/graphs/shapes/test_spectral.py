"""Shapes of Fourier transforms and of ops on audio."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, ints, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic, floor_div
from tfprof.graphs.model.tensors import DT_INT32, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B, N = Symbolic.named("B"), Symbolic.named("N")


@pytest.mark.tensorflow
def test_transforms_agree_with_tensorflow():
    def build(raw, feed):
        z = feed(np.ones((2, 4, 6, 8), np.complex64), 0)
        x = feed(np.ones((2, 4, 6, 8), np.float32), 0)
        for name in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"):
            getattr(raw, name)(input=z)
        for suffix, lengths in (("", [8]), ("2D", [5, 7]), ("3D", [4, 6, 8])):
            getattr(raw, f"RFFT{suffix}")(input=x, fft_length=lengths)
            getattr(raw, f"IRFFT{suffix}")(input=z, fft_length=lengths)
        raw.RFFT(input=x, fft_length=feed(np.array([6], np.int32)))

    check(build)


@pytest.mark.tensorflow
def test_audio_agrees_with_tensorflow():
    def build(raw, feed):
        wave = feed(np.ones((1000, 2), np.float32))
        spectrogram = raw.AudioSpectrogram(input=wave, window_size=200, stride=80)
        raw.Mfcc(spectrogram=spectrogram, sample_rate=feed(np.int32(16000)))

    check(build)


def test_real_transforms_keep_half_of_the_last_dimension():
    assert shapes(SHAPES, call("RFFT", floats(B, 16), ints(N))) == [(B, floor_div(N, 2) + 1)]
    assert shapes(SHAPES, call("RFFT", floats(B, 16), Tensor((1,), DT_INT32))) == [(B, None)]
    op = call("RFFTND", floats(B, 4, 6), ints(8, 10), ints(1, 2))
    assert shapes(SHAPES, op) == [(B, 8, 6)]
    op = call("IRFFTND", floats(B, 4, 6), ints(8, 10), ints(1, 2))
    assert shapes(SHAPES, op) == [(B, 8, 10)]


def test_unknown_axes_keep_the_rank():
    op = call("FFTND", floats(B, 4, 6), ints(8, 10), Tensor((2,), DT_INT32))
    assert shapes(SHAPES, op) == [(None, None, None)]


def test_lengths_must_fit_the_transform():
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("RFFT2D", floats(B, 16, 16), ints(16)))
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("RFFT2D", floats(16), ints(4, 4)))


def test_a_wave_shorter_than_the_window_has_no_frames():
    assert shapes(SHAPES, call("AudioSpectrogram", floats(100, 1), window_size=200, stride=80)) == [
        (1, 0, 129)
    ]
