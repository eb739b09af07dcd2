"""Marks steps of JAX, from a call of the step's function to its next call."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any

from tfprof.capture.launched.live_steps import LiveSteps
from tfprof.capture.steps import step


class CallMarks:
    """The mark of the step that has begun, while steps are recorded.

    The runtime of JAX records no calls that the analysis could take for steps; that of TensorFlow
    does, so its calls get none.
    """

    def __init__(self) -> None:
        self._step: step | None = None
        self._thread = 0

    @property
    def is_open(self) -> bool:
        """Whether a step is marked now."""
        return self._step is not None

    def begin(self, steps: LiveSteps) -> None:
        """A step begins, which ends the one before."""
        self.end()
        leader = steps.leader
        if leader is None or leader.framework != "jax" or steps.n_marked:
            return
        self._step, self._thread = step(steps.n, leader.name), threading.get_ident()
        self._step.begin()

    def end(self) -> None:
        """End the mark, in its own thread; another thread leaves it out."""
        mark, self._step = self._step, None
        if mark is not None and self._thread == threading.get_ident():
            mark.__exit__()

    def leave_out(self) -> object:
        """Leave the mark out; it is recorded if the result goes before the recording ends."""
        mark, self._step = self._step, None
        return mark


def wait_for_jax() -> None:
    """Wait for what steps of JAX have started: calls return before, and the trace would lack it."""
    jax: Any = sys.modules.get("jax")
    for array in [] if jax is None else jax.live_arrays():
        with contextlib.suppress(Exception):  # donated, or of a computation that failed
            array.block_until_ready()
