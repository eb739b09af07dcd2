"""Programs under load: started from this checkout, ended at the end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

_END_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a load has shown.

    Attributes:
        lines: Figures to print.
        findings: What went wrong; empty if nothing did.
    """

    lines: list[str]
    findings: list[str] = field(default_factory=list)


TFPROF = (sys.executable, "-m", "tfprof")


@contextmanager
def program(
    command: Sequence[str], *, wait: bool = True
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A program, and the first line that it printed; ``wait`` is whether it prints one."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE if wait else None, text=True)
    try:
        yield process, process.stdout.readline().strip() if process.stdout else ""
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
