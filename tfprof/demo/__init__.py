"""One recorded training step of ResNet-50, shipped for ``tfprof demo`` and for first tries.

``README.md`` beside this file says how the step was recorded.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from pathlib import Path

__all__ = ["DemoFiles", "demo_files"]


@dataclasses.dataclass(frozen=True)
class DemoFiles:
    """Paths of the three files of the recorded step, each a gzipped binary proto."""

    graph: Path
    """``GraphDef`` with output shapes."""
    run_meta: Path
    """``RunMetadata`` of one step, holding only ``step_stats``."""
    op_log: Path
    """``OpLogProto``: call stacks, trainable variables and registered float operations."""


def demo_files() -> DemoFiles:
    """Paths of the recorded step in the installed package (which must not be a zip archive)."""
    folder = Path(str(importlib.resources.files(__name__)))
    return DemoFiles(
        graph=folder / "graph.pb.gz",
        run_meta=folder / "run_meta.pb.gz",
        op_log=folder / "op_log.pb.gz",
    )
