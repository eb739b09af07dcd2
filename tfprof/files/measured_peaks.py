"""Peak rates of processors that ``tfprof doctor --measure-peaks`` measured, kept for their user.

A processor states no peak rates, and tables of them say little about a virtual machine. So they are
measured on request, and count only for captures of the same machine.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tfprof.errors import InputError, UsageError
from tfprof.files.cache import cache_folder
from tfprof.files.small_files import put

FOLDER: Final = "TFPROF_PEAKS"
"""Environment variable with the folder; if it is empty, nothing is kept or read."""

_SHARED_NAMES: Final = frozenset(("", "localhost", "localhost.localdomain"))
"""Host names that say nothing about the machine."""


@dataclass(frozen=True, slots=True)
class MeasuredPeaks:
    """What a processor reached.

    Attributes:
        machine: Host name of the machine.
        processor: Model of the processor; empty if unknown.
        n_threads: Number of threads.
        measured: Day of the measurement, ``2026-11-28``.
        flops_per_s: Float operations per second of products by element type, ``f32``.
        bytes_per_s: Bytes per second to and from memory.
        library: The library that multiplied.
    """

    machine: str
    processor: str
    n_threads: int
    measured: str
    flops_per_s: Mapping[str, float]
    bytes_per_s: float
    library: str


def identifies(machine: str) -> bool:
    """Whether a host name belongs to one machine.

    >>> identifies("worker0"), identifies("localhost")
    (True, False)
    """
    return machine.lower() not in _SHARED_NAMES


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Model of the processor; empty if the system does not tell it."""
    try:
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "")


def folder() -> Path | None:
    """The folder of measured peaks; None if the user wants none, or has no home."""
    try:
        return cache_folder(os.environ, FOLDER, "peaks")
    except UsageError:  # the chosen folder has no home: nothing was measured there
        return None


def _path(machine: str) -> Path | None:
    base = folder()
    name = re.sub(r"[^\w.-]", "_", machine)[:100].lstrip(".")
    return None if base is None or not name else base / f"{name}.json"


def read_peaks(machine: str) -> MeasuredPeaks | None:
    """The measured peaks of a machine; None if there are none, or if the file is damaged."""
    path = _path(machine) if identifies(machine) else None
    if path is None:
        return None
    try:
        known = MeasuredPeaks(**json.loads(path.read_text("utf-8")))
        rates = [*known.flops_per_s.values(), known.bytes_per_s]
        is_sound = known.machine == machine and all(0 < float(rate) < 1e24 for rate in rates)
    except (OSError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None
    return known if is_sound and not _is_replaced(known) else None


def _is_replaced(known: MeasuredPeaks) -> bool:
    """Whether this machine has the measured one's name, but another processor."""
    now = processor() if known.machine == socket.gethostname() else ""
    return bool(now and known.processor) and now != known.processor


def write_peaks(peaks: MeasuredPeaks) -> Path:
    """Keep the peaks of a machine, in place of older ones; returns the file.

    Raises:
        InputError: There is no folder for them, or it cannot be written.
    """
    path = _path(peaks.machine)
    if path is None:
        raise InputError(f"no folder for measured peaks: {FOLDER} is empty, or there is no home")
    put(path, (json.dumps(asdict(peaks), indent=1, sort_keys=True) + "\n").encode())
    return path
