"""Shapes of Fourier transforms and of ops on audio."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number, floor_div
from tfprof.graphs.shapes.rules import SHAPES, Shapes

RANKS = {"": 1, "2D": 2, "3D": 3}
"""Dimensions that a transform works on, by the ending of its op type."""


@SHAPES.of("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D")
def _real(op: OpCall) -> Shapes:
    """Lengths are those of the real side; the complex side keeps half of the last dimension."""
    rank = RANKS[op.type.rpartition("FFT")[2]]
    dims = op.shape_of_least(rank)
    lengths = list(op.spelled_numbers(1) or (None,) * rank)
    if len(lengths) != rank:
        raise UnknownError(f"{len(lengths)} lengths for an FFT of {rank} dimensions")
    if not op.type.startswith("I"):
        lengths[-1] = _half(lengths[-1])
    return [(*dims[: len(dims) - rank], *lengths)]


def _half(length: Number | None) -> Number | None:
    """Frequencies that a real signal has."""
    return None if length is None else floor_div(length, 2) + 1


@SHAPES.of("FFTND", "IFFTND", "RFFTND", "IRFFTND")
def _many_dimensions(op: OpCall) -> Shapes:
    """The last axis named is the one that a real transform halves."""
    dims: list[Number | None] = list(op.shape())
    try:
        axes = op.known_ints(2)
    except UnknownError:
        return [(None,) * len(dims)]
    lengths = op.spelled_numbers(1) or (None,) * len(axes)
    for axis, length in zip(axes, lengths, strict=True):
        halved = op.type == "RFFTND" and axis == axes[-1]
        dims[axis_in(axis, len(dims))] = _half(length) if halved else length
    return [tuple(dims)]


@SHAPES.of("AudioSpectrogram")
def _spectrogram(op: OpCall) -> Shapes:
    """Channels, windows, and the frequencies of the next power of two."""
    samples, channels = op.shape_of_rank(0, 2)
    window, stride = op.integer("window_size"), op.integer("stride")
    if window < 2 or stride < 1:
        raise UnknownError("the attributes window_size and stride are missing")
    frames: Number = 0
    if not isinstance(samples, int) or samples >= window:
        frames = floor_div(samples - window, stride) + 1
    return [(channels, frames, (1 << (window - 1).bit_length()) // 2 + 1)]


SHAPES.of("Mfcc")(
    lambda op: [(*op.shape_of_rank(0, 3)[:2], op.integer("dct_coefficient_count", 13))]
)
