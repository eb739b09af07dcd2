"""The compiled part, where it was built, and whether it is to be used."""

from __future__ import annotations

import importlib
import os
from typing import Any

native: Any
try:
    native = importlib.import_module("tfprof._wire._scan_native")
except ImportError:  # built without a compiler
    native = None


def is_native() -> bool:
    """Whether the native scanner is there, and not turned off by ``TFPROF_PURE=1``."""
    return native is not None and os.environ.get("TFPROF_PURE", "") in ("", "0")
