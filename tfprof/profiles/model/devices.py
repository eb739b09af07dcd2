"""Which device a name means, by the original's rules (``tfprof_node.cc``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfprof.profiles.model.executions import ACCELERATOR, HOST, OTHER

_CANONICAL = re.compile(r"(?s:[^\n]*)/(device:gpu|gpu|device:cpu|cpu):[0-9]+")
_GPU_NUMBER = re.compile(r"gpu:[0-9]+")


@dataclass(frozen=True, slots=True)
class Device:
    """A device as the node stats name it.

    Attributes:
        name: Lower-case name.
        is_accelerator_stream: Its stats are accelerator time.
        is_canonical: Its stats are CPU (scheduling) time, run counts and memory.
    """

    name: str
    is_accelerator_stream: bool
    is_canonical: bool

    @classmethod
    def from_name(cls, name: str) -> Device:
        """Classify a device name as written in a DeviceStepStats."""
        lower = _ascii_lower(name)
        return cls(lower, "stream:all" in lower, _CANONICAL.fullmatch(lower) is not None)

    @property
    def kind(self) -> int:
        """What its times count as; an accelerator's if it is both, as in the original."""
        if self.is_accelerator_stream:
            return ACCELERATOR
        return HOST if self.is_canonical else OTHER

    @property
    def host_name(self) -> str:
        """The CPU that feeds this device."""
        return _GPU_NUMBER.sub("cpu:0", self.name)


def _ascii_lower(text: str) -> str:
    """Lower-case ASCII letters only, as the original does; others keep their case."""
    return text.lower() if text.isascii() else "".join(c.lower() if c < "\x80" else c for c in text)
