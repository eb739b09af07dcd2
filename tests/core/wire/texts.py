"""Texts as columns hold them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.core.wire.scan import Texts


def texts_of(found: Sequence[bytes], gap: bytes = b"") -> Texts:
    """Texts in one buffer, with something between them."""
    length = np.array([len(text) for text in found], np.int64)
    start = np.cumsum(length + len(gap), dtype=np.int64) - length
    return Texts(b"".join(gap + text for text in found), start, length)
