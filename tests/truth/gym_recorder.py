"""The recorder held against programs that plant slow steps and note when each step began and ended.

Each program runs in a process of its own, under its framework's own profiler server, and plants its
slow steps at random, so that snapshots cut them anywhere. ``python -m tests.truth.gym_recorder``
plants 200 and prints, for each kind of program, how many were reported and how many reports had no
slow step behind them, and what the runs hold of the steps they are named after.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.deadlines import next_line

SLOW_SECONDS = 0.05
WHEN = f"step_time > {SLOW_SECONDS * 1000:g}ms and step_time > 3 * median"
_TOLERANCE = 0.9
_PLANTING_SECONDS = 1800.0
"""A report is invented if no step took as much of ``SLOW_SECONDS``."""
_EARLY_SECONDS = 20.0


@dataclass(frozen=True)
class Kind:
    """A kind of program, and how it is recorded.

    Attributes:
        framework: ``tensorflow`` or ``jax``.
        is_ours: Whether its marks are those of ``tfprof.capture.step``, not of the framework.
        step_ms: Usual time of a step.
        gap_ms: Least and most time between two steps.
        slow_ms: Least and most time of a planted step.
        in_a_row: Most planted steps in a row.
        interval: Longest time between snapshots, in seconds.
        cooldown: Time between runs, in seconds.
        with_ops: Whether what is slow are ops, many of them, not a wait.
        disturb: What happens to the program after half of the planted steps.
        overhead: Time at the start in which the recorder measures its cost, in seconds; half of
            that has no session.
    """

    framework: str = "tensorflow"
    is_ours: bool = True
    step_ms: float = 2.0
    gap_ms: tuple[float, float] = (0.0, 0.1)
    slow_ms: tuple[float, float] = (80.0, 400.0)
    in_a_row: int = 1
    interval: float = 0.3
    cooldown: float = 0.0
    with_ops: bool = False
    disturb: str = ""
    overhead: float = 0.0


KINDS = {
    "sleeps": Kind(),
    "ops": Kind(with_ops=True),
    "marks of TensorFlow": Kind(is_ours=False),
    "marks of JAX": Kind("jax", is_ours=False),
    "time between steps": Kind(step_ms=1.0, gap_ms=(18.0, 22.0)),
    "uneven time between steps": Kind(gap_ms=(0.0, 40.0), slow_ms=(150.0, 500.0)),
    "over many snapshots": Kind(slow_ms=(700.0, 1500.0)),
    "in a row": Kind(in_a_row=4, cooldown=2.0),
    "long steps": Kind(step_ms=30.0, slow_ms=(150.0, 700.0), interval=1.0),
    "cool-down": Kind("jax", slow_ms=(80.0, 700.0), cooldown=5.0),
    "while the cost is measured": Kind(slow_ms=(200.0, 500.0), overhead=60.0),
    "restarted": Kind(disturb="restart"),
    "hung": Kind(disturb="hang"),
}


# --- the program ---------------------------------------------------------------------------------


def _work(kind: Kind) -> tuple[Callable[[float], None], Callable[[int], Any]]:
    """Ops for so many seconds, and the mark of a step; the profiler's server is on."""
    import tfprof

    if kind.framework == "jax":
        import jax
        import jax.numpy as jnp

        multiply = jax.jit(lambda one: one @ one / 64)
        batch = jnp.ones((64, 64))

        def once() -> None:
            multiply(batch).block_until_ready()

        def mark(number: int) -> Any:
            return jax.profiler.StepTraceAnnotation("train", step_num=number)
    else:
        import tensorflow as tf

        tensor = tf.ones((64, 64))
        function = tf.function(lambda one: tf.linalg.matmul(one, one) / 64)

        def once() -> None:
            function(tensor).numpy()

        def mark(number: int) -> Any:
            return tf.profiler.experimental.Trace("train", step_num=number, _r=1)

    def ops(seconds: float) -> None:
        until = time.perf_counter() + seconds
        once()
        while (left := until - time.perf_counter()) > 0:
            if left > 0.001:
                time.sleep(0.0005)
            once()

    once()
    return ops, tfprof.capture.step if kind.is_ours else mark


def program(kind: Kind, port: int, seed: int, planted: int, truth: IO[str]) -> None:
    """Take steps, and after a line on stdin plant slow ones; a line in ``truth`` for each step."""
    if kind.framework == "jax":
        import jax

        jax.profiler.start_server(port)
    else:
        import tensorflow as tf

        tf.profiler.experimental.server.start(port)
    ops, mark = _work(kind)
    rng = random.Random(seed)
    go, over = threading.Event(), threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), go.set(), sys.stdin.read(), over.set()),
                     daemon=True).start()  # fmt: skip
    print("ready", flush=True)
    number, left, in_a_row, due = 0, planted, 0, 0.0
    while not over.is_set():
        now = time.perf_counter()
        if go.is_set() and left and not in_a_row and now >= due:
            in_a_row = min(left, rng.randint(1, kind.in_a_row)) if due else 0
            longest = kind.slow_ms[1] / 1e3
            due = now + rng.uniform(0.3, 1.0) + rng.uniform(0.0, 2 * kind.interval) + longest
        is_slow = in_a_row > 0
        took = rng.uniform(*kind.slow_ms) / 1e3 if is_slow else kind.step_ms / 1e3
        # From outside the mark, so that this one is never shorter than what the mark shows.
        begin = time.time_ns()
        with mark(number):
            if is_slow and not kind.with_ops:
                ops(kind.step_ms / 1e3)
                time.sleep(took)
            else:
                ops(took)
        truth.write(f"{number} {begin} {time.time_ns()} {int(is_slow)}\n")
        if is_slow:
            in_a_row, left = in_a_row - 1, left - 1
            truth.flush()
            if not left:
                print("planted", flush=True)
        number += 1
        gap = rng.uniform(*kind.gap_ms) / 1e3
        if gap > 0.0005:
            time.sleep(gap)


# --- the recorder --------------------------------------------------------------------------------


@dataclass
class Step:
    """A step as its program saw it; times in nanoseconds since 1970."""

    number: int
    begin_ns: int
    end_ns: int
    is_planted: bool

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.end_ns - self.begin_ns) / 1e9


@dataclass
class Found:
    """What the recorder made of one program.

    Attributes:
        planted: Slow steps that the program planted.
        lost: Those that no report names, beyond those that the recorder counts as not known.
        invented: Reports without a slow step behind them.
        n_reports: Reports of steps.
        n_marks: Reports whose run has the step's mark.
        n_without: Reports whose run says that it lacks the mark.
        wrong: Runs that do not hold what they say, or hold what they deny.
        unclear: Those that no report names, and that the recorder counts as not known.
        error_ms: Of each reported time, beyond the program's own.
    """

    planted: int = 0
    lost: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    n_reports: int = 0
    n_marks: int = 0
    n_without: int = 0
    wrong: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    error_ms: list[float] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Take in those of another program."""
        for name, own in vars(self).items():
            setattr(self, name, own + getattr(other, name))


def environment() -> dict[str, str]:
    """That of programs that are recorded."""
    return {
        **os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip


class _Program:
    def __init__(self, kind: str, port: int, seed: int, planted: int, truth: Path) -> None:
        self.truth, self.port = truth, port
        command = [
            sys.executable, "-m", "tests.truth.gym_recorder", "--child", kind, "--port", str(port),
            "--seed", str(seed), "--planted", str(planted), "--truth", str(truth),
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._wait_for("ready")

    def _wait_for(self, word: str) -> None:
        assert self.process.stdout is not None
        while (line := next_line(self.process, _PLANTING_SECONDS).strip()) != word:
            if not line:
                raise RuntimeError(f"the program ended before it was {word}")

    def plant(self) -> None:
        """Let it plant; returns when it has."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self._wait_for("planted")

    def end(self) -> None:
        """Let it end, and write all that it has noted."""
        if self.process.poll() is None:
            self.process.communicate(timeout=30)

    def steps(self) -> list[Step]:
        """What it has noted."""
        lines = [line.split() for line in self.truth.read_text().splitlines()]
        return [Step(*map(int, line[:3]), line[3] == "1") for line in lines if len(line) == 4]


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return int(free.getsockname()[1])


@contextmanager
def _writing(recorder: Any) -> Iterator[list[Any]]:
    """Runs that it writes, in a thread, until the block ends."""
    runs: list[Any] = []
    thread = threading.Thread(target=lambda: runs.extend(recorder.events()))
    thread.start()
    try:
        yield runs
    finally:
        recorder.stop()
        thread.join()


def _wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        if time.monotonic() > until:
            raise RuntimeError("the recorder does not record")
        time.sleep(0.05)


def exercise(name: str, planted: int, seed: int, folder: Path) -> Found:
    """Run a program under the recorder, and hold one against the other."""
    from tfprof.remote.flight import FlightRecorder

    kind, port = KINDS[name], free_port()
    address = f"localhost:{port}"
    parts = [planted] if not kind.disturb else [planted - planted // 2, planted // 2]
    running = _Program(name, port, seed, parts[0], folder / "truth-0")
    truths, spells = [running], list[tuple[int, int]]()
    recorder = FlightRecorder(
        address, folder / "runs", when=WHEN, interval_seconds=kind.interval, keep_seconds=10,
        cooldown_seconds=kind.cooldown, most_runs=1000, restart_seconds=60, answer_seconds=2.0,
        overhead_seconds=kind.overhead,
    )  # fmt: skip

    def is_known() -> bool:
        seen = recorder.observed[address]
        return not seen.trouble and seen.n_steps > 20

    try:
        with recorder, _writing(recorder) as runs:
            _wait_until(is_known)
            running.plant()
            time.sleep(2 * kind.interval)
            if kind.disturb == "hang":
                begun = time.time_ns()
                running.process.send_signal(signal.SIGSTOP)
                _wait_until(lambda: bool(recorder.observed[address].trouble))
                running.process.send_signal(signal.SIGCONT)
                _wait_until(is_known)
                spells.append((begun, time.time_ns()))
            elif kind.disturb == "restart":
                begun = time.time_ns()
                running.process.kill()
                running.process.wait(timeout=60)
                _wait_until(lambda: bool(recorder.observed[address].trouble))
                running = _Program(name, port, seed + 1, parts[1], folder / "truth-1")
                truths.append(running)
                _wait_until(is_known)
                spells.append((begun, time.time_ns()))
                running.plant()
            time.sleep(2 * kind.interval)
        n_unclear = sum(each.n_unclear for each in recorder.observed.values())
    finally:
        for each in truths:
            each.end()
    return judged([each.steps() for each in truths], runs, n_unclear, spells)


def judged(
    truths: Sequence[list[Step]],
    runs: Sequence[Any],
    n_unclear: int,
    unwatched: Sequence[tuple[int, int]],
) -> Found:
    """Hold reports against steps.

    Args:
        truths: The steps of each program, one after the other at one address.
        runs: What the recorder has written.
        n_unclear: How many cut steps it counts as not known.
        unwatched: Begin and end of times in which it could not record.
    """
    found = Found()
    steps = [step for truth in truths for step in truth]
    reported: set[int] = set()
    for run in runs:
        marks = _marks(run)
        for told in run.steps:
            found.n_reports += 1
            behind = [step for step in steps if _is_about(told.step, step)]
            reported |= {id(step) for step in behind}
            longest = max(behind, key=lambda step: step.seconds, default=None)
            if longest is None or longest.seconds < _TOLERANCE * SLOW_SECONDS:
                seen = f"{longest.seconds:.3f} s" if longest else "no step"
                found.invented.append(f"{told.step}: {seen}")
                continue
            if not told.step.is_open:
                found.error_ms.append(1e3 * (told.step.seconds - longest.seconds))
            found.n_marks += told.has_mark
            found.n_without += not told.has_mark
            found.wrong += _wrong(told, run, marks, longest)
    unreported = []
    for step in steps:
        if step.is_planted and not any(a < step.end_ns and step.begin_ns < b for a, b in unwatched):
            found.planted += 1
            if id(step) not in reported:
                unreported.append(f"step {step.number} took {step.seconds:.3f} s")
    found.lost = unreported[n_unclear:]
    found.unclear = unreported[:n_unclear]
    return found


def _is_about(told: Any, step: Step) -> bool:
    """Whether a report may be about a step: by its time, and by its number."""
    meets = told.begin_ns - 2_000_000 < step.end_ns and step.begin_ns < told.end_ns + 2_000_000
    return meets and told.first <= step.number and (told.last < 0 or step.number <= told.last)


def _marks(run: Any) -> dict[int, list[float]]:
    """Seconds of the marks that a run holds, by number of the step."""
    from tfprof.captures.read.xspace import read_xspace

    marks: dict[int, list[float]] = {}
    for path in Path(run.folder).glob("*.xplane.pb") if run.folder else ():
        for plane in read_xspace(path).planes:
            column = plane.stat("step_num")
            durations = plane.events.durations_ps[column.present] / 1e12
            for number, seconds in zip(column.signed[column.present], durations, strict=True):
                marks.setdefault(int(number), []).append(float(seconds))
    return marks


def _wrong(told: Any, run: Any, marks: dict[int, list[float]], step: Step) -> Iterator[str]:
    """What a run claims of a step, and is not so."""
    import tfprof

    held = any(abs(one - step.seconds) < 0.01 for one in marks.get(step.number, ()))
    if held != told.has_mark:
        yield f"{told.step}: the mark is {'there' if held else 'missing'}, {told.note!r}"
    if not told.has_mark:
        known = [note.message for note in tfprof.open_run(run.folder).notes] if run.folder else []
        if told.note not in run.notes or (run.folder and told.note not in known):
            yield f"{told.step}: the run lacks the note {told.note!r}"


_HEAD = f"{'program':28}{'planted':>8}{'lost':>6}{'reports':>9}{'invented':>10}{'whole':>7}" \
        f"{'cut':>5}{'wrong':>7}{'unclear':>9}{'error ms':>10}"  # fmt: skip


def row(name: str, found: Found) -> str:
    """A row of the table; the error is the largest of nine in ten."""
    errors = sorted(map(abs, found.error_ms))
    error = f"{errors[int(0.9 * (len(errors) - 1))]:.1f}" if errors else ""
    return (
        f"{name:28}{found.planted:8}{len(found.lost):6}{found.n_reports:9}"
        f"{len(found.invented):10}{found.n_marks:7}{found.n_without:5}{len(found.wrong):7}"
        f"{len(found.unclear):9}{error:>10}"
    )


def main() -> int:
    """Run all kinds of programs; 1 if a step is lost or invented, or a run holds something else."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--planted", type=int, default=200, help="in all programs together")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    for name in ("--child", "--truth"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        with Path(given.truth).open("w") as truth:
            program(KINDS[given.child], given.port, given.seed, given.planted, truth)
        return 0
    chosen, whole = given.kind or list(KINDS), Found()
    print(_HEAD)
    for place, name in enumerate(chosen):
        planted = given.planted * (place + 1) // len(chosen) - given.planted * place // len(chosen)
        with tempfile.TemporaryDirectory() as made:
            found = exercise(name, planted, 100 * given.seed + place, Path(made))
        print(row(name, found), flush=True)
        for what in ("lost", "invented", "wrong"):
            for text in getattr(found, what):
                print(f"    {what}: {text}", flush=True)
        whole.add(found)
    print(row("all", whole))
    return 1 if whole.lost or whole.invented or whole.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
