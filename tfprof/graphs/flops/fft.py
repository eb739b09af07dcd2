"""Fourier transforms, and ops on audio.

A complex transform of N points takes 5·N·log₂ N operations, the convention of the FFTW authors
for any N; one of real numbers half of that. The count of one transform is rounded.
"""

from __future__ import annotations

import math

from tfprof.graphs.flops.formulas import Cost, declare_free, formula, multiply_adds, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims
from tfprof.graphs.shapes.spectral import RANKS

_SOURCE = "Frigo & Johnson, The Design and Implementation of FFTW3, 2005, §V"


def _operations(points: int, factor: float) -> int:
    """``factor · N · log₂ N``, rounded."""
    return round(factor * points * math.log2(points)) if points > 1 else 0


def _rank(op: OpCall) -> int:
    """Dimensions that are transformed, from the op type."""
    return RANKS[op.type.rpartition("FFT")[2]]


def _transformed(op: OpCall, signal: Dims, axes: tuple[int, ...], factor: float) -> Cost:
    """Transforms along some axes, one for each place along the others."""
    chosen = {axis_in(axis, len(signal)) for axis in axes}
    n: Number = math.prod(dim for place, dim in enumerate(signal) if place in chosen)
    if not isinstance(n, int):
        raise UnknownError("an FFT of unknown length")
    b: Number = math.prod(dim for place, dim in enumerate(signal) if place not in chosen)
    return operations(b * _operations(n, factor), b=b, n=n)


@formula(
    """
    FFT FFT2D FFT3D IFFT IFFT2D IFFT3D BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D
    BatchIFFT3D
    """,
    "b·5·n·log₂ n",
    _SOURCE,
)
def _complex(op: OpCall) -> Cost:
    """5·n·log₂ n for each of b transforms of n points in all transformed dimensions."""
    return _transformed(op, op.shape(), tuple(range(-_rank(op), 0)), 5)


@formula("RFFT RFFT2D RFFT3D", "b·2.5·n·log₂ n", _SOURCE)
def _real(op: OpCall) -> Cost:
    """Real input needs half of a complex transform of the n points."""
    rank = _rank(op)
    signal = (*op.shape()[: len(op.shape()) - rank], *_lengths(op, 1, rank))
    return _transformed(op, signal, tuple(range(-rank, 0)), 2.5)


@formula("IRFFT IRFFT2D IRFFT3D", "b·2.5·n·log₂ n", _SOURCE)
def _inverse_real(op: OpCall) -> Cost:
    """Real output needs half of a complex transform of the n points."""
    return _transformed(op, op.out(), tuple(range(-_rank(op), 0)), 2.5)


def _lengths(op: OpCall, index: int, rank: int) -> Dims:
    """Lengths of a transform."""
    lengths = op.numbers(index)
    if len(lengths) != rank:
        raise UnknownError(f"{len(lengths)} lengths for an FFT of {rank} dimensions")
    return lengths


@formula("FFTND IFFTND RFFTND IRFFTND", "b·5·n·log₂ n; real: b·2.5·n·log₂ n", _SOURCE)
def _many_dimensions(op: OpCall) -> Cost:
    """5·n·log₂ n for each of b transforms of n points, half of it if input or output is real."""
    signal = list(op.shape())
    axes = op.known_ints(2)
    for axis, length in zip(axes, _lengths(op, 1, len(axes)), strict=True):
        signal[axis_in(axis, len(signal))] = length
    return _transformed(op, tuple(signal), axes, 2.5 if "R" in op.type else 5)


@formula("AudioSpectrogram", "b·(w + 2.5·n·log₂ n + 4·(n / 2 + 1))")
def _spectrogram(op: OpCall) -> Cost:
    """b windows of w samples: a weight each, a real FFT, and √(re² + im²) or re² + im²."""
    w = op.integer("window_size")
    channels, frames, bins = op.out() if len(op.out()) == 3 else (0, 0, 0)
    if w < 2 or not isinstance(bins, int):
        raise UnknownError("the attribute window_size is missing")
    n = 1 << (w - 1).bit_length()
    per_bin = 3 if op.flag("magnitude_squared") else 4
    b = channels * frames
    return operations(b * (w + _operations(n, 2.5) + per_bin * bins), b=b, w=w, n=n)


@formula("Mfcc", "b·(5·s + 2·f + 2·f·d)")
def _mfcc(op: OpCall) -> Cost:
    """b frames of s bins: a root, a weight and its complement to two filters; log, and a DCT.

    Each of f filters takes a maximum and a log; each of d coefficients f multiply-adds.
    """
    channels, frames, s = op.shape_of_rank(0, 3)
    f = op.integer("filterbank_channel_count", 40)
    d = op.integer("dct_coefficient_count", 13)
    if f < 1 or d < 1:
        raise UnknownError(f"{f} filters and {d} coefficients")
    b = channels * frames
    return multiply_adds(b * f * d, b * (5 * s + 2 * f), b=b, s=s, f=f, d=d)


declare_free("AudioMicrofrontend", because="works on integers throughout")
