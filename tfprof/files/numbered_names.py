"""Numbers in the names of files: the step of a run, and the order of a folder."""

from __future__ import annotations

import re
from pathlib import Path

from tfprof.files.disk import PACKED_SUFFIXES

_STEP = re.compile(r"(?:^|[_.-]|step)(\d{1,18})$")


def step_in_name(path: str) -> int | None:
    """The number at the end of a name such as ``run_meta_100.pb.gz``, or None.

    >>> step_in_name("run/run_meta_100.pb.gz"), step_in_name("resnet50.pb")
    (100, None)
    """
    name = Path(unpacked_name(path)).name
    stem = name if _STEP.search(name) else Path(name).stem
    match = _STEP.search(stem)
    return int(match[1]) if match else None


def unpacked_name(path: str) -> str:
    """A path without the ending that says how the file is compressed."""
    suffix = Path(path).suffix
    return path.removesuffix(suffix) if suffix in PACKED_SUFFIXES else path


def natural_order(name: str) -> list[tuple[int, str]]:
    """A key by which ``b_9`` comes before ``b_10``."""
    parts = re.findall(r"\d{1,18}|\D+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
