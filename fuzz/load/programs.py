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


@contextmanager
def program(arguments: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A tfprof command, and the first line that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tfprof", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
