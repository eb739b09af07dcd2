"""The clock that a recorded program reads itself, and the table of programs to record.

A program is a function of an ``OwnClock``. It records a capture around what it does, and notes what
it measures about itself: how long its steps took, how long it waited, how often it called what.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

CAPTURE, TRUTH, FAILURE, READY = "capture", "truth.json", "failure.txt", "ready"
"""What lies in the folder of a program: its capture, its measurements, or why there is neither."""

Capture = Callable[[str], AbstractContextManager[Any]]


class OwnClock:
    """A program's measurements of itself.

    Args:
        folder: Where its capture and its truth are written.
        capture: Records to a path while it is entered.
    """

    def __init__(self, folder: Path, capture: Capture) -> None:
        self.folder = folder
        self._capture = capture
        self.spans: dict[str, list[float]] = {}
        self.facts: dict[str, Any] = {}

    @property
    def path(self) -> Path:
        """Where its capture goes."""
        return self.folder / CAPTURE

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Captures what happens inside."""
        with self._capture(str(self.path)), self.span("recording"):
            yield

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Notes how long the inside took; any thread may do so."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.spans.setdefault(name, []).append(1e3 * (time.perf_counter() - begin))

    def step(self) -> AbstractContextManager[None]:
        """Notes how long a step took."""
        return self.span("step")

    def knows(self, **facts: Any) -> None:
        """Notes further facts of the program: counts, names."""
        self.facts.update(facts)

    def write(self) -> None:
        """Leaves it beside the capture."""
        truth = {"spans_ms": self.spans, "facts": self.facts}
        (self.folder / TRUTH).write_text(json.dumps(truth), "utf-8")


Program = Callable[[OwnClock], None]


class Programs:
    """The programs of a framework, in the order in which they are written down.

    Args:
        capture: Records to a path while it is entered.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.table: dict[str, Program] = {}

    def __call__(self, program: Program) -> Program:
        """Adds a program to the table; a decorator."""
        self.table[program.__name__] = program
        return program

    def record(self, folder: Path, name: str) -> None:
        """Records one; that it failed is written down, and stops no other."""
        own = folder / name
        own.mkdir(parents=True)
        clock = OwnClock(own, self._capture)
        try:
            self.table[name](clock)
            clock.write()
        except Exception:
            (own / FAILURE).write_text(traceback.format_exc(), "utf-8")

    def main(self) -> None:
        """Records all, or those that are named on the command line."""
        parser = argparse.ArgumentParser()
        parser.add_argument("folder", type=Path)
        parser.add_argument("names", nargs="*", choices=[*self.table, []])
        given = parser.parse_args()
        for name in given.names or self.table:
            begin = time.perf_counter()
            self.record(given.folder, name)
            print(f"{name}: {time.perf_counter() - begin:.2f} s", flush=True)
