"""Shows the progress of a long read, in a line on stderr."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfprof.cli.output import harmless, is_terminal
from tfprof.core.progress import NoProgress, Progress

SHOW_AFTER_SECONDS = 0.5


@contextmanager
def progress() -> Iterator[Progress]:
    """Show what is being read, how much and how fast, once that takes long.

    Yields:
        The receiver of progress; one that shows nothing if stderr is not a terminal.
    """
    if not is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield NoProgress()
        return
    line = ProgressLine()
    timer = threading.Timer(SHOW_AFTER_SECONDS, line.show)
    timer.daemon = True
    _start_uninterrupted(timer)
    try:
        yield line
    finally:
        timer.cancel()
        line.close()


def _start_uninterrupted(thread: threading.Thread) -> None:
    """Start a thread that does not receive Ctrl-C, nor do its own threads.

    A system may deliver a signal to any thread; the read of the main thread would then go on.
    """
    if not hasattr(signal, "pthread_sigmask"):
        thread.start()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProgressLine:
    """A ``Progress`` that draws with rich, which is imported only if the read takes long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._what, self._done, self._total = "reading", 0, 0
        self._bar: Any = None
        self._task: Any = None
        self._is_closed = False

    def stage(self, what: str) -> None:
        """Name the work that begins."""
        with self._lock:
            self._what = harmless(what)
            self._draw()

    def expect(self, n_bytes: int) -> None:
        """Add to the number of bytes to read."""
        with self._lock:
            self._total += n_bytes
            self._draw()

    def advance(self, n_bytes: int) -> None:
        """Add to the number of bytes that have been read."""
        with self._lock:
            self._done += n_bytes
            self._draw()

    def show(self) -> None:
        """Begin to draw."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns = [BarColumn(bar_width=20), DownloadColumn(), TransferSpeedColumn()]
        rest = [TextColumn("left:"), TimeRemainingColumn()]
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            *(columns if self._total else []),
            TimeElapsedColumn(),
            *(rest if self._total else []),
            console=Console(stderr=True),
            transient=True,
        )
        with self._lock:
            if self._is_closed:
                return
            self._bar, self._task = bar, bar.add_task(self._what, total=None)
            self._draw()
            bar.start()

    def close(self) -> None:
        """Wipe the line."""
        with self._lock:
            self._is_closed = True
            if self._bar is not None:
                self._bar.stop()

    def _draw(self) -> None:
        if self._bar is not None:
            self._bar.update(
                self._task,
                description=self._what,
                completed=self._done,
                total=max(self._total, self._done) or None,
            )
