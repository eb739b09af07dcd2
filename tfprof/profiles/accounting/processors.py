"""The processor of a device name: that of ``/device:GPU:0/stream:all`` is ``GPU:0``."""

from __future__ import annotations

import re
from typing import NamedTuple

from tfprof.core.columns.numerals import whole_number

_NAME = re.compile(
    r"(?:/job:(?P<job>[^/]+))?(?:/replica:\d+)?(?:/task:(?P<task>\d+))?"
    r"/?(?:device:)?(?P<kind>cpu|gpu):(?P<number>\d+)(?:[/:](?P<rest>.*))?"
)
_LOCAL = "localhost"


class Processor(NamedTuple):
    """A CPU or GPU of one process.

    Attributes:
        job: Job in the cluster, ``localhost`` outside one.
        task: Process of the job.
        kind: ``cpu`` or ``gpu``.
        number: Number among those of the kind.
    """

    job: str
    task: int
    kind: str
    number: int

    @property
    def label(self) -> str:
        """``GPU:0``; in a cluster ``worker:1/GPU:0``."""
        name = f"{self.kind.upper()}:{self.number}"
        return name if self.job == _LOCAL else f"{self.job}:{self.task}/{name}"


class DeviceRole(NamedTuple):
    """The parts of a device name.

    Attributes:
        processor: The processor.
        part: Empty for the processor itself, else ``stream:all``, ``memcpy``, ….
    """

    processor: Processor
    part: str


def device_role(name: str) -> DeviceRole | None:
    """Parse a lower-case device name; None if it names neither a CPU nor a GPU.

    Example:
        >>> device_role("/device:gpu:0/stream:all").processor.label
        'GPU:0'
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    task, number = whole_number(match["task"] or ""), whole_number(match["number"])
    processor = Processor(match["job"] or _LOCAL, task, match["kind"], number)
    return DeviceRole(processor, match["rest"] or "")
