"""TensorFlow's ``pprof_profiler``, name for name, in classic mode.

    from tfprof.compat import pprof_profiler    # was: tensorflow.python.profiler

It shows no calls of TensorFlow 2 graphs; ``tfprof.pprof_profile`` does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tfprof.profiles.session.op_logs import pprof_profile

if TYPE_CHECKING:
    from tfprof.core.wire.messages import Profile
    from tfprof.files.open import Source

__all__ = ["get_profiles", "profile"]


def get_profiles(graph: Any, run_metadata: Source) -> dict[str, Profile]:
    """One pprof ``Profile`` for each device: see ``tfprof.pprof_profile``."""
    return pprof_profile(graph, run_metadata, classic=True)


def profile(
    graph: Any, run_metadata: Source, output_dir: str | os.PathLike[str] | None = None
) -> list[str]:
    """Write one file for each device, or print the profiles; returns the files' names."""
    if output_dir is not None:
        files = pprof_profile(graph, run_metadata, output_dir, classic=True)
        sys.stdout.write("".join(f"Writing profile to {file}...\n" for file in files))
        return files
    sys.stdout.write("No output directory was given; the profiles follow.\n")
    for made in get_profiles(graph, run_metadata).values():
        sys.stdout.write(f"{made}\n")
    return []
