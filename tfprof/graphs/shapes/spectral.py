"""Shapes of Fourier transforms and of ops on audio."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, floor_div
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import axis_in, spelled_numbers
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

RANKS = {"": 1, "2D": 2, "3D": 3}
"""Dimensions that a transform works on, by the ending of its op type."""


@RULES.of("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D")
def _real(op: OpCall) -> list[PartialShape]:
    """Lengths are those of the real side; the complex side keeps half of the last dimension."""
    rank = RANKS[op.type.rpartition("FFT")[2]]
    dims = op.shape()
    if len(dims) < rank:
        raise UnknownError(f"an FFT of {rank} in a tensor of {len(dims)} dimensions")
    lengths = list(spelled_numbers(op, 1) or (None,) * rank)
    if len(lengths) != rank:
        raise UnknownError(f"{len(lengths)} lengths for an FFT of {rank} dimensions")
    if not op.type.startswith("I"):
        lengths[-1] = _half(lengths[-1])
    return [(*dims[: len(dims) - rank], *lengths)]


def _half(length: Number | None) -> Number | None:
    """Frequencies that a real signal has."""
    return None if length is None else floor_div(length, 2) + 1


@RULES.of("FFTND", "IFFTND", "RFFTND", "IRFFTND")
def _many_dimensions(op: OpCall) -> list[PartialShape]:
    """The last axis named is the one that a real transform halves."""
    dims: list[Number | None] = list(op.shape())
    try:
        axes = op.known_ints(2)
    except UnknownError:
        return [(None,) * len(dims)]
    lengths = spelled_numbers(op, 1) or (None,) * len(axes)
    for axis, length in zip(axes, lengths, strict=True):
        halved = op.type == "RFFTND" and axis == axes[-1]
        dims[axis_in(axis, len(dims))] = _half(length) if halved else length
    return [tuple(dims)]


@RULES.of("AudioSpectrogram")
def _spectrogram(op: OpCall) -> list[PartialShape]:
    """Channels, windows, and the frequencies of the next power of two."""
    samples, channels = op.shape_of_rank(0, 2)
    window, stride = op.integer("window_size"), op.integer("stride")
    if window < 2 or stride < 1:
        raise UnknownError("the attributes window_size and stride are missing")
    frames: Number = 0
    if not isinstance(samples, int) or samples >= window:
        frames = floor_div(samples - window, stride) + 1
    return [(channels, frames, (1 << (window - 1).bit_length()) // 2 + 1)]


@RULES.of("Mfcc")
def _mfcc(op: OpCall) -> list[PartialShape]:
    channels, frames, _ = op.shape_of_rank(0, 3)
    return [(channels, frames, op.integer("dct_coefficient_count", 13))]


RULES.of(
    """
    FFT FFT2D FFT3D IFFT IFFT2D IFFT3D BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D
    BatchIFFT3D
    """
)(lambda op: [op.shape()])
RULES.of("AudioMicrofrontend")(lambda op: [(None, None)])
