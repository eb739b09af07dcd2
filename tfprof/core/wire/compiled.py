"""Access to the compiled modules, where they were built and are in use."""

from __future__ import annotations

import importlib
import os
from typing import Any


def native_module(name: str) -> Any:
    """A compiled module of this package; None if it was not built."""
    try:
        return importlib.import_module(f"tfprof.core.wire.native.{name}")
    except ImportError:
        return None


native: Any = native_module("scan")


def is_native() -> bool:
    """Whether the compiled modules were built, and are not turned off by ``TFPROF_PURE=1``."""
    return native is not None and os.environ.get("TFPROF_PURE", "") in ("", "0")
