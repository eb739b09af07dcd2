"""What one question about an input of at most 1 MB may cost: 2 seconds, and 256 MB of memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

MAX_BYTES = 1_000_000
SECONDS = 2.0
MEMORY_BYTES = 256 << 20

SLOWNESS = float(os.environ.get("FUZZ_SLOWNESS", "1"))
"""How many times slower this machine, or a build with sanitizers, may be."""


class OverBudgetError(Exception):
    """A question took too long, or too much memory."""


@contextmanager
def question(what: str) -> Iterator[None]:
    """One question: reading a file, a view, a tool.

    Raises:
        OverBudgetError: It took more processor time than it may.
    """
    began = time.process_time()
    yield
    spent = time.process_time() - began
    if spent > SECONDS * SLOWNESS:
        raise OverBudgetError(f"{what}: {spent:.1f} s of processor time")
