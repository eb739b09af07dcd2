"""The loop that all programs but those of Keras share: steps with marks, inputs and disturbances.

A framework gives the parts; the loop notes what it does when.
"""

from __future__ import annotations

import gc
import itertools
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.truth.gym.clock import Diary
from tests.truth.gym.grammar import Term
from tests.truth.gym.run import rank

SLEEP_S = {
    "callback": 0.004, "python": 0.004, "straggler": 0.008, "checkpoint": 0.025, "slow_step": 0.08
}  # fmt: skip
"""How long each disturbance sleeps."""

EVERY = {"checkpoint": 4, "evaluation": 4, "gc": 3, "eval_marks": 4}
"""After how many steps it comes again."""

N_EVAL, N_CALIBRATED, SLOW_STEP = 2, 6, 5


class Making:
    """Makes a batch inside of a graph or a pipeline: takes as long as the term says.

    Args:
        clock: Notes when, as ``made``.
        sleep_ms: How long; nothing while the work alone is measured.
    """

    def __init__(self, clock: Diary, sleep_ms: float) -> None:
        self._clock, self._sleep_ms, self.is_free = clock, sleep_ms, False

    def __call__(self) -> None:
        if not self.is_free:
            with self._clock.span("made"):
                time.sleep(self._sleep_ms / 1e3)


@dataclass
class Parts:
    """What a framework brings.

    Attributes:
        work: Computes on a batch; the result may not be ready when it returns.
        wait: Waits for a result.
        mark: A step's mark, by name and number.
        batch: A batch; the number makes it differ.
        making: What batches cost.
        iterate: An iterator of batches, made when called; None where Python makes them.
        changed: Computes with something that has to be compiled or traced anew, by the number.
        evaluate: The computation of an evaluation; None is ``work``.
        copy: Copies an array to the device.
        tiny_ops: Runs many small ops one by one.
        facts: Further facts of the program.
    """

    work: Callable[[Any], Any]
    wait: Callable[[Any], Any]
    mark: Callable[[str, int], AbstractContextManager[Any]]
    batch: Callable[[int], Any]
    making: Making
    iterate: Callable[[], Iterator[Any]] | None = None
    changed: Callable[[Any, int], Any] | None = None
    evaluate: Callable[[Any], Any] | None = None
    copy: Callable[[], Any] | None = None
    tiny_ops: Callable[[], Any] | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class Loop:
    """Runs a term.

    Args:
        term: The program.
        parts: The parts of its framework.
        clock: Its clock.
    """

    def __init__(self, term: Term, parts: Parts, clock: Diary) -> None:
        self.term, self.parts, self.clock = term, parts, clock
        self._pending: list[Any] = []
        self._iterator: Iterator[Any] | None = None
        self._closing = threading.Event()
        self.before_recording: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Warms up, measures the work alone, and records."""
        self.parts.making.is_free = True
        self._warm_up()
        self.clock.forget()
        self._calibrate()
        self.parts.making.is_free = False
        self._iterator = self._batches() if not self.term.input.anew else None
        self.before_recording()
        gc.collect()
        gc.freeze()  # or else a collection takes as long as the framework is large
        with self.clock.recording():
            self._steps()
            if self.term.fetch != "never":
                with self.clock.span("drain"):
                    self._drain()
        gc.unfreeze()
        self._drain()
        self._closing.set()
        self.parts.making.is_free = True
        self._calibrate()
        self.clock.knows(n_steps=self.term.n_steps, **self.parts.facts)

    def _calibrate(self) -> None:
        """Measures the work alone; before and after the recording, as machines become busy."""
        for _ in range(N_CALIBRATED):
            with self.clock.span("alone"):
                self.parts.wait(self.parts.work(self.parts.batch(0)))

    def _warm_up(self) -> None:
        parts = self.parts
        for _ in range(2):
            parts.wait(parts.work(parts.batch(0)))
        for extra in (parts.copy, parts.tiny_ops):
            if extra is not None:
                extra()
        if parts.evaluate is not None:
            parts.wait(parts.evaluate(parts.batch(0)))
        if parts.iterate is not None:
            for number, one in enumerate(parts.iterate()):
                if number < 2:
                    parts.wait(parts.work(one))
                elif not self.term.input.cache:  # which is full at the end only
                    break

    # Input

    def _batches(self) -> Iterator[Any]:
        kind = self.term.input.kind
        if self.parts.iterate is not None:
            return self.parts.iterate()
        if kind == "python":
            return self._made(self.term.n_steps + 1)
        if kind == "thread":
            return self._from_thread()
        return itertools.repeat(self.parts.batch(0))

    def _made(self, count: int) -> Iterator[Any]:
        """As a program's own generator would be."""
        for number in range(count):
            self.parts.making()
            yield self.parts.batch(number)

    def _from_thread(self) -> Iterator[Any]:
        channel: queue.Queue[Any] = queue.Queue(2)
        batches = self._made(self.term.n_steps + 1)

        def load_batches() -> None:
            for one in batches:
                while not self._closing.is_set():
                    try:
                        channel.put(one, timeout=0.05)
                        break
                    except queue.Full:
                        continue

        threading.Thread(target=load_batches, daemon=True).start()
        while True:
            yield channel.get()

    def _next(self, number: int) -> Any:
        anew = self.term.input.anew
        if anew and number % anew == 0:
            self._iterator = None
        with self.clock.span("input"):
            if self._iterator is None:
                self._iterator = self._batches()
            return next(self._iterator)

    # Steps

    def _steps(self) -> None:
        is_nested = self.term.marks == "nested"
        with self._marked("epoch", 0) if is_nested else nullcontext():
            for number in range(self.term.n_steps):
                with self.clock.span("iteration"):
                    self._step(number)
                    self._between(number)

    @contextmanager
    def _marked(self, name: str, number: int) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self.clock.span({"train": "mark"}.get(name, f"{name}_mark")))
            if self.term.marks != "none":
                stack.enter_context(self.parts.mark(name, number))
            yield

    def _step(self, number: int) -> None:
        batch = self._next(number) if self.term.marks == "compute" else None
        with self._marked("train", number):
            if batch is None:
                batch = self._next(number)
            self._compute(batch, number)
        if self.term.fetch == "after":
            self._drain()

    def _compute(self, batch: Any, number: int) -> None:
        how, parts, clock = self.term.disturbances, self.parts, self.clock
        if "slow_step" in how and number == SLOW_STEP:
            with clock.span("slow_step"):
                time.sleep(SLEEP_S["slow_step"])
        if "python" in how:
            with clock.span("python"):
                time.sleep(SLEEP_S["python"])
        if "straggler" in how and rank():
            with clock.span("straggler"):
                time.sleep(SLEEP_S["straggler"])
        if "copies" in how and parts.copy is not None:
            with clock.span("copies"):
                parts.copy()
        if "tiny_ops" in how and parts.tiny_ops is not None:
            with clock.span("tiny_ops"):
                parts.tiny_ops()
        if "recompile" in how and parts.changed is not None and number % 4 == 3:
            with clock.span("changed"):
                self._pending.append(parts.changed(batch, number))
        with clock.span("launch"):
            result = parts.work(batch)
        if self.term.fetch == "now":
            with clock.span("wait"):
                parts.wait(result)
                self._drain()
        elif self.term.fetch == "late":
            with clock.span("wait"):
                self._drain()
            self._pending.append(result)
        else:
            self._pending.append(result)

    def _drain(self) -> None:
        if self._pending:
            with self.clock.span("drained"):
                while self._pending:
                    self.parts.wait(self._pending.pop(0))

    def _between(self, number: int) -> None:
        """What the program does after a step."""
        how, parts, clock = self.term.disturbances, self.parts, self.clock
        if "callback" in how:
            with clock.span("callback"):
                time.sleep(SLEEP_S["callback"])
        if "checkpoint" in how and self._is_time("checkpoint", number):
            with clock.span("checkpoint"):
                save_checkpoint()
        if "gc" in how and self._is_time("gc", number):
            with clock.span("gc"):
                collect_garbage()
        if "evaluation" in how and self._is_time("evaluation", number):
            with clock.span("evaluation"):
                for _ in range(N_EVAL):
                    parts.wait((parts.evaluate or parts.work)(parts.batch(0)))
        if self.term.marks == "eval" and self._is_time("eval_marks", number):
            for _ in range(N_EVAL):
                with self._marked("eval", number):
                    parts.wait((parts.evaluate or parts.work)(parts.batch(0)))

    def _is_time(self, what: str, number: int) -> bool:
        return number % EVERY[what] == EVERY[what] - 1


def save_checkpoint() -> None:
    """Writes a file, and waits as if the disk were slow."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "weights").write_bytes(b"w" * 100_000)
        time.sleep(SLEEP_S["checkpoint"])


def collect_garbage() -> None:
    """Makes rubbish that refers to itself, and collects it."""
    rubbish = [[number] for number in range(30_000)]
    for one in rubbish:
        one.append(one)  # type: ignore[arg-type]
    del rubbish
    gc.collect()
