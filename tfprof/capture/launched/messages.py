"""What a hooked process reports: to the command that started it, otherwise to the logger."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfprof.capture.launched.spec import FIRST_STEP, RunSpec
from tfprof.capture.launched.state import rank_of

_log = logging.getLogger("tfprof")


@dataclass(frozen=True, slots=True)
class Launch:
    """What the processes of one launch share, and their messages.

    Attributes:
        run: Name of their run.
        journal: File in which the command reads what they did; empty without the command.
        pid: Number of the command's process; without it, of the first process.
    """

    run: str
    journal: str = ""
    pid: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this process is the program itself, not one that it has started."""
        from multiprocessing import process

        own = os.getppid() if self.journal else os.getpid()
        return own == self.pid and process.parent_process() is None

    def tell(self, **event: Any) -> None:
        """Write a line for the command."""
        if not self.journal:
            return
        line = json.dumps({"pid": os.getpid(), "rank": rank_of(os.environ), **event}) + "\n"
        with contextlib.suppress(OSError):
            number = os.open(self.journal, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(number, line.encode())
            finally:
                os.close(number)

    def warn(self, text: str) -> None:
        """Report a failure, with where it was."""
        if self.journal:
            self.tell(event="trouble", text=text)  # which the command prints at once
            return
        rank = rank_of(os.environ)
        where = f"process {os.getpid()}" if rank is None else f"rank {rank}"
        _log.warning("tfprof run: %s: %s", where, text)

    def saved(self, folder: str, reason: str = "") -> None:
        """Report a run; of several ranks, the first reports it."""
        self.tell(event="run", folder=folder, reason=reason)
        if not self.journal and not rank_of(os.environ):
            _log.warning("tfprof run: written: %s; next: tfprof overview %s", folder, folder)

    @contextlib.contextmanager
    def going_on(self, what: str) -> Iterator[None]:
        """Nothing that fails ends the program."""
        try:
            yield
        except Exception as error:
            self.warn(f"{what}, and the program goes on: {error}")


def why_nothing(spec: RunSpec, n_steps: int, what: str, seconds: float) -> str:
    """Why a program has ended without a capture, and what to do.

    Args:
        spec: What was requested.
        n_steps: Steps that began.
        what: What they were, in words.
        seconds: From the start of its framework to its end.
    """
    ended = f"nothing was captured: the program ended {seconds:.1f} s after its framework began"
    begun = f"after {n_steps} steps ({what})" if n_steps else "without a step"
    if spec.steps is not None or spec.is_default:
        first = spec.steps[0] if spec.steps else FIRST_STEP
        remedy = f"take earlier ones: steps={max(2, n_steps // 2)}:{n_steps}"
        if n_steps < 2:
            remedy = "capture it by time: after=0s"
        return f"{ended}, {begun}, before step {first}; {remedy}"
    if spec.when:
        return f"{ended}, {begun}: the recorder begins after the first {FIRST_STEP} steps"
    return f"{ended}, {begun}, before the first window; let it begin earlier"
