"""The clock of a drawn program: what it did, when, in which step."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.truth.own_clock import TRUTH, OwnClock


class Diary(OwnClock):
    """Notes when each span began as well as how long it took."""

    def __init__(self, folder: Any, capture: Any) -> None:
        super().__init__(folder, capture)
        self.begun: dict[str, list[float]] = {}

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Notes when the inside began and how long it took; any thread may do so."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.note(name, begin)

    def note(self, name: str, begin: float) -> None:
        """Notes a span that ends now.

        Args:
            name: Of the span.
            begin: What ``time.perf_counter()`` was when it began.
        """
        took = time.perf_counter() - begin
        self.spans.setdefault(name, []).append(1e3 * took)
        self.begun.setdefault(name, []).append(1e3 * begin)

    def forget(self) -> None:
        """Forgets the spans of warming up."""
        self.spans.clear()
        self.begun.clear()

    def write(self) -> None:
        """Leaves all of it beside the capture."""
        truth = {"spans_ms": self.spans, "begun_ms": self.begun, "facts": self.facts}
        (self.folder / TRUTH).write_text(json.dumps(truth), "utf-8")
