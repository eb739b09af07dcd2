"""Fourier transforms and audio, by hand."""

import math

import pytest

from tests.graphs.calls import call, cost, floats, ints, scalar
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B, N = Symbolic.named("B"), Symbolic.named("N")


def flops(op_type, *inputs, **attrs):
    return cost(SHAPES, call(op_type, *inputs, **attrs)).flops


def complexes(*dims):
    return Tensor(dims, 8)


def test_a_complex_transform():
    assert flops("FFT", complexes(7, 1024)) == 7 * 5 * 1024 * 10
    assert flops("IFFT", complexes(B, 8)) == 5 * 8 * 3 * B
    assert flops("BatchFFT", complexes(2, 8)) == 2 * 120


def test_many_dimensions_are_one_transform_of_all_points():
    # log₂ of 8·16 = 3 + 4
    assert flops("FFT2D", complexes(3, 8, 16)) == 3 * 5 * 128 * 7
    assert flops("FFT3D", complexes(2, 4, 4, 4)) == 2 * 5 * 64 * 6
    assert flops("FFTND", complexes(8, 3, 16), ints(8, 16), ints(0, 2)) == 3 * 5 * 128 * 7


def test_real_transforms_take_half():
    assert flops("RFFT", floats(7, 1024), ints(1024)) == 7 * 2.5 * 1024 * 10
    assert flops("IRFFT", complexes(7, 513), ints(1024)) == 7 * 2.5 * 1024 * 10
    assert flops("RFFT2D", floats(3, 8, 16), ints(8, 16)) == 3 * 2.5 * 128 * 7
    assert flops("RFFTND", floats(3, 8, 16), ints(16), ints(-1)) == 24 * 2.5 * 16 * 4


def test_padding_counts_and_cutting_does_not():
    assert flops("RFFT", floats(7, 100), ints(128)) == 7 * 2.5 * 128 * 7
    assert flops("RFFT", floats(7, 999), ints(128)) == 7 * 2.5 * 128 * 7


def test_other_lengths_are_rounded_once_for_each_transform():
    assert flops("FFT", complexes(10, 100)) == 10 * round(500 * math.log2(100))
    assert flops("FFT", complexes(10, 1)) == 0


def test_an_unknown_length_is_reported():
    with pytest.raises(UnknownError, match="unknown length"):
        flops("FFT", complexes(B, N))
    with pytest.raises(UnknownError):
        flops("RFFT", floats(B, 16), Tensor((1,), 3))


def test_a_spectrogram_weighs_transforms_and_takes_magnitudes():
    # (1000 - 200) // 80 + 1 = 11 windows of 200 samples, padded to 256; 129 frequencies
    transform = round(2.5 * 256 * 8)
    window = 200 + transform + 4 * 129
    attrs = {"window_size": 200, "stride": 80}
    assert flops("AudioSpectrogram", floats(1000, 2), **attrs) == 2 * 11 * window
    squared = flops("AudioSpectrogram", floats(1000, 2), **attrs, magnitude_squared=True)
    assert squared == 2 * 11 * (window - 129)


def test_cepstral_coefficients():
    made = cost(SHAPES, call("Mfcc", floats(2, 11, 129), scalar(16000)))
    # 40 filters, 13 coefficients
    assert made.macs == 22 * 40 * 13
    assert made.other == 22 * (5 * 129 + 2 * 40)
