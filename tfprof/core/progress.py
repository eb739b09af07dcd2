"""The interface for the progress of long work."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of long work."""

    def stage(self, what: str) -> None:
        """Work of another kind begins, such as ``"reading run_meta.pb"``."""

    def expect(self, n_bytes: int) -> None:
        """Add bytes to read."""

    def advance(self, n_bytes: int) -> None:
        """Add bytes that have been read."""


class NoProgress:
    """Shows nothing."""

    def stage(self, what: str) -> None:
        """Nothing to do."""

    def expect(self, n_bytes: int) -> None:
        """Nothing to do."""

    def advance(self, n_bytes: int) -> None:
        """Nothing to do."""
