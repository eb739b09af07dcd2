"""How much processor time an input may cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

_REFERENCE_S = 0.020
"""What ``_reference`` takes on the machine that the budgets are for, with nothing beside it."""


@contextmanager
def soon(seconds: float = 4) -> Iterator[None]:
    """Less CPU time than that, of a processor that nothing else disturbs.

    Another program on the same core, or a slower machine, makes all code take more of it: how much,
    a computation shows, which is timed where the budget did not suffice.
    """
    began = time.process_time()
    yield
    took = time.process_time() - began
    if took >= seconds:
        slowdown = max(1.0, _slowdown())
        message = f"{took:.2f} s, on a processor {slowdown:.1f} times as slow"
        assert took < seconds * slowdown, message


def _slowdown() -> float:
    return max(_reference() for _ in range(6)) / _REFERENCE_S


def _reference() -> float:
    """Python and NumPy, about half of each."""
    began = time.process_time()
    sum(number * number % 7 for number in range(180_000))
    np.sort(np.arange(400_000)[::-1])
    return time.process_time() - began
