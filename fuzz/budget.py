"""What one execution may take, and what is found where it takes more."""

from __future__ import annotations

import os
from typing import NamedTuple

SLOWNESS = float(os.environ.get("FUZZ_SLOWNESS", "1"))
"""How many times slower this machine, or a build with sanitizers, may be."""


class Budget(NamedTuple):
    """Limits of one execution, which the kernel enforces.

    Attributes:
        cpu_s: Processor time of all its threads.
        wall_s: Time until it counts as hanging; other programs may be running.
        constant_bytes: Address space beside what the input may take.
        bytes_per_byte: Address space for a byte of the input.
        most_bytes: Most address space.
        file_bytes: Size of a file that it writes.
        descriptors: Open files beside those of the process.
    """

    cpu_s: float = 2.0
    wall_s: float = 60.0
    constant_bytes: int = 48 << 20
    bytes_per_byte: int = 1000
    most_bytes: int = 256 << 20
    file_bytes: int = 64 << 20
    descriptors: int = 32

    def memory_bytes(self, n_bytes: int) -> int:
        """Address space for an input of so many bytes: an empty message is two, and may be a row
        of a dozen columns."""
        wanted = self.constant_bytes + self.bytes_per_byte * n_bytes
        return int(min(wanted, self.most_bytes) * SLOWNESS)


BUDGET = Budget()


class Finding(NamedTuple):
    """What an execution did that it must not.

    Attributes:
        question: The question's name.
        kind: What happened, and where: equal in all executions that fail in the same way.
        detail: For people.
        format: The format's name.
        data: The input.
        is_death: Whether the process ended by it.
    """

    question: str
    kind: str
    detail: str
    format: str = ""
    data: bytes = b""
    is_death: bool = False

    @property
    def name(self) -> str:
        """Name of the file that holds the input."""
        return f"{slug(self.question)}.{slug(self.kind)}"


def slug(text: str) -> str:
    """A text as part of a file's name."""
    kept = "".join(char if char.isalnum() or char in "_." else "-" for char in text)
    return kept.strip("-")[:100]
