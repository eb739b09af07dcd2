"""Examples that come with tfprof: a recorded training step of ResNet-50, and two captures.
``README.md`` beside this file says where each comes from.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

__all__ = ["DEMO_CAPTURES", "DemoFiles", "demo_capture", "demo_files", "tutorial_files"]

DEMO_CAPTURES: Final[Mapping[str, str]] = MappingProxyType(
    {"input-bound": "input_bound.xplane.pb.xz", "gpu": "gpu.xplane.pb.xz"}
)
"""Files of the captures, by name: one that waits for its input, recorded on a CPU; and one of two
GPUs, which is made up."""

_OF_GPUS: Final = ("kernel-stats", "op-stats", "pod")
"""Tools for which the capture of GPUs has more to show."""


_OF_TUTORIALS: Final = MappingProxyType(
    {"stragglers": "slow-worker", "collectives": "slow-worker", "compiles": "recompiles"}
)
"""Captures of the tutorials for tools to which no other capture has anything to show."""


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


def demo_capture(name: str = "", tool: str = "") -> Path:
    """Path of a capture in the installed package; a folder for a tool that compares hosts.

    Args:
        name: Its name; by default the one that has most to show.
        tool: The tool that reads it, as on the command line.

    Raises:
        KeyError: There is none of this name.
    """
    if tool in _OF_TUTORIALS and not name:
        return tutorial_files() / _OF_TUTORIALS[tool]
    chosen = name or ("gpu" if tool in _OF_GPUS else "input-bound")
    return Path(str(importlib.resources.files(__name__))) / DEMO_CAPTURES[chosen]


def tutorial_files() -> Path:
    """Folder of the captures, and of the checkpoint, that the tutorials are about."""
    return Path(str(importlib.resources.files(__name__))) / "tutorials"
