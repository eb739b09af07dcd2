"""Captures that JAX 0.12 holds in memory: ``jax.profiler.ProfileSession`` and ``ProfileData``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tfprof.core.text import how_to_capture
from tfprof.errors import UsageError

_KINDS: Final = ("ProfileData", "ProfileSession")


def is_of_jax(source: object) -> bool:
    """Whether a source is an object of JAX's profiler."""
    kind = type(source)
    return kind.__name__ in _KINDS and kind.__module__.partition(".")[0] in ("jax", "jaxlib")


def capture_of(source: Any) -> bytes:
    """The XSpace in an object of JAX's profiler.

    JAX gives the message only as a file, so that it goes through a temporary folder.

    Raises:
        UsageError: The session still runs or has no data, or JAX is too old to export it.
    """
    name = type(source).__name__
    if getattr(source, "is_running", False):
        raise UsageError(f"the {name} is still running; stop() it, or leave its with block, first")
    if getattr(source, "profile_data", source) is None:
        raise UsageError(f"the {name} has no data; start() it, and stop() it after some steps")
    profiler = sys.modules["jax.profiler"]
    export = getattr(profiler, "export_profile_data", None)
    if export is None:
        raise UsageError(
            f"this JAX cannot export a {name}; update it to 0.12, or {how_to_capture.INTO_FOLDER}"
        )
    with tempfile.TemporaryDirectory(prefix="tfprof-") as folder:
        export(source, folder)
        (file,) = Path(folder).rglob("*.xplane.pb")
        return file.read_bytes()
