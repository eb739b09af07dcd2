"""The compiled parts, where they were built, and whether they are to be used."""

from __future__ import annotations

import importlib
import os
from typing import Any


def native_module(name: str) -> Any:
    """A compiled module of this package; None where it was not built, for want of a compiler."""
    try:
        return importlib.import_module(f"tfprof.wire.native.{name}")
    except ImportError:
        return None


native: Any = native_module("scan")


def is_native() -> bool:
    """Whether the compiled parts are there, and not turned off by ``TFPROF_PURE=1``."""
    return native is not None and os.environ.get("TFPROF_PURE", "") in ("", "0")
