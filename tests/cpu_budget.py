"""How much processor time an input may cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def soon(seconds: float = 4) -> Iterator[None]:
    """Less CPU time than that."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds
