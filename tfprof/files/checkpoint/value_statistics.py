"""Statistics of the values of a variable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_CHUNK: Final = 1 << 16
"""Number of values to process at once; they and intermediate results fit into a cache."""


@dataclass(frozen=True, slots=True)
class ValueStatistics:
    """Statistics of real numbers. NaN and infinity are counted, and left out of the others.

    Attributes:
        n_values: How many there are.
        n_zeros: How many are 0.
        n_nan: How many are NaN.
        n_infinite: How many are infinite.
        minimum: The least; None, as the next three, if there are no finite numbers.
        maximum: The greatest.
        mean: Their mean.
        standard_deviation: Of the values themselves, not an estimate from a sample. It and the
            mean are None, too, if the sums that they need are too large for float64.
    """

    n_values: int
    n_zeros: int = 0
    n_nan: int = 0
    n_infinite: int = 0
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    standard_deviation: float | None = None


def statistics_of(values: npt.NDArray[Any]) -> ValueStatistics | None:
    """Statistics of values of any shape; None if they are not real numbers.

    Example:
        >>> found = statistics_of(np.array([1.0, 3.0, np.nan, 0.0]))
        >>> found.minimum, found.maximum, found.n_zeros, found.n_nan
        (0.0, 3.0, 1, 1)
    """
    if values.dtype.kind not in "biuf":
        return None
    flat = values.reshape(-1)
    if flat.dtype.kind == "b":
        flat = flat.view(np.uint8)
    n_zeros = n_nan = n_infinite = 0
    minimum, maximum = math.inf, -math.inf
    moments = _Moments()
    for chunk in _chunks(flat):
        n_zeros += chunk.size - int(np.count_nonzero(chunk))
        finite = chunk
        if chunk.dtype.kind == "f":
            is_finite = np.isfinite(chunk)
            if not is_finite.all():
                n_nan_here = int(np.count_nonzero(np.isnan(chunk)))
                finite = chunk[is_finite]
                n_nan += n_nan_here
                n_infinite += chunk.size - finite.size - n_nan_here
        if finite.size:
            minimum = min(minimum, finite.min().item())
            maximum = max(maximum, finite.max().item())
            moments.add(finite.astype(np.float64))
    counts = (flat.size, n_zeros, n_nan, n_infinite)
    if not moments.n_values:
        return ValueStatistics(*counts)
    return ValueStatistics(*counts, minimum, maximum, *moments.mean_and_deviation())


class _Moments:
    """Mean and deviation of numbers that come in chunks.

    Chunks are joined as in Chan, Golub and LeVeque (1979), which loses no digits.
    """

    def __init__(self) -> None:
        self.n_values = 0
        self._mean = 0.0
        self._squares = 0.0  # of differences to the mean

    def add(self, numbers: npt.NDArray[np.float64]) -> None:
        """Add numbers, one or more, which are overwritten."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(numbers.mean())
            numbers -= mean
            np.square(numbers, out=numbers)
            squares = float(numbers.sum())
        total = self.n_values + numbers.size
        step, share = mean - self._mean, numbers.size / total
        self._squares += squares + step * step * self.n_values * share
        self._mean += step * share
        self.n_values = total

    def mean_and_deviation(self) -> tuple[float | None, float | None]:
        """Each None if it is too large."""
        variance = self._squares / self.n_values
        deviation = math.sqrt(variance) if math.isfinite(variance) else None
        return (self._mean if math.isfinite(self._mean) else None), deviation


def _chunks(flat: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    for start in range(0, flat.size, _CHUNK):
        yield flat[start : start + _CHUNK]
