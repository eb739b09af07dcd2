"""Counts products by walking over every element and every tap, to compare formulas with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product


def window_starts(size: int, window: int, stride: int, dilation: int, padding: str) -> list[int]:
    """Where the windows along a dimension begin, by trying every place."""
    reach = (window - 1) * dilation + 1
    if padding == "SAME":
        return list(range(0, size, stride))
    return [start for start in range(size) if start % stride == 0 and start + reach <= size]


def convolution_products(
    image: tuple[int, ...],
    taps: tuple[int, ...],
    channels: tuple[int, int, int],
    starts: list[list[int]],
) -> Iterator[tuple[int, ...]]:
    """Every product of a convolution, as the places of image element, tap and result.

    Args:
        image: Batch and extent of the image.
        taps: Extent of the filter.
        channels: Channels of the image, of the result, and how many groups they form.
        starts: Where windows begin along each dimension.
    """
    inputs, outputs, groups = channels
    for batch in range(image[0]):
        for place in product(*starts):
            for out in range(outputs):
                group = out * groups // outputs
                for tap in product(*map(range, taps)):
                    for channel in range(inputs // groups):
                        yield (batch, *place, out, *tap, group * (inputs // groups) + channel)
