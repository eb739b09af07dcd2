"""Unpacks columns of documents: the inverse of ``document.column``."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np


def unpacked(packed: Any) -> Sequence[Any]:
    """A column of a document as a list."""
    if isinstance(packed, list):
        return packed
    if "texts" in packed:
        texts = packed["texts"]
        return [None if at < 0 else texts[at] for at in unpacked(packed["at"])]
    kind = {"i32": "<i4", "f64": "<f8"}[packed["type"]]
    values: list[Any] = np.frombuffer(base64.b64decode(packed["data"]), kind).tolist()
    return values
