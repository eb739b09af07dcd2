"""Shared by the commands that watch running programs, ``monitor`` and ``top``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfprof.cli.options import CommandOption, IntType
from tfprof.errors import InputError

if TYPE_CHECKING:
    from tfprof.remote import Sample

EXIT_SOME_FAILED = 1
"""Exit code if, in the last look, some workers had figures, but not all."""

LINES = "jsonl"
_MOST_MISSES = 3
"""Number of looks in a row without any answer after which it ends."""


class Answers:
    """Which workers answer, look by look."""

    def __init__(self) -> None:
        self._misses = self._n_failed = self._n_workers = 0

    def add(self, samples: Sequence[Sample]) -> None:
        """Count a look."""
        self._n_workers = len(samples)
        self._n_failed = sum(1 for sample in samples if sample.trouble)
        self._misses = self._misses + 1 if self._n_failed == self._n_workers else 0

    def check(self) -> None:
        """End the work if no worker has answered for some time.

        Raises:
            InputError: No worker has answered for that long.
        """
        if self._misses >= _MOST_MISSES:
            raise InputError(
                f"no worker has answered {self._misses} times in a row; see the lines above"
            )

    @property
    def exit_code(self) -> int:
        """By the last look: 0 if all workers answered, 3 if none did."""
        if self._n_workers and self._n_failed == self._n_workers:
            return InputError.exit_code
        return EXIT_SOME_FAILED if self._n_failed else 0


def look_options(section: str, interval: str) -> list[CommandOption]:
    """How often to look, and how many times.

    Args:
        section: Heading in the help.
        interval: The default, which the command fills in.
    """
    return [
        CommandOption(
            ["--interval"], default=None, metavar="TIME", section=section,
            help=f"From one look to the next: 500ms, 2s, 1m. [default: {interval}]",
        ),
        CommandOption(
            ["--count"], type=IntType(), default=None, metavar="N", section=section,
            help="Number of looks. [default: until Ctrl-C]",
        ),
    ]  # fmt: skip
