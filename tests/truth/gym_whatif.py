"""Programs drawn at random, in which one cost is changed: is what ``whatif`` predicts what comes?

python -m tests.truth.gym_whatif --seeds N [--first N] [--framework tensorflow|jax]

Each seed is one program. It is recorded as drawn and, in the same process, with one of its costs
divided by a factor, in turns: A B A B A B A B. Of these the three quietest of each count, as a
busy machine only adds to steps (two agree by chance: of ten recordings of products on two cores
whose clock changes, most do); more turns follow until these agree. The predictions from all three
A must lie within ``TOLERANCE`` of what B's own clock measured, or the answer must leave the step
time unknown. Programs of which even the three quietest recordings differ by more than half of that
are left out, and counted. Nothing computes beside what uses all cores: that there are enough of
them is what the answer says it assumes.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

TOLERANCE = 0.1
"""By which part of the measured step time a prediction may be off."""

FRAMEWORKS = ("tensorflow", "jax")

_STEPS = 10
_TURNS = 4
_MOST_TURNS = 10
_WIDTH = 448
_QUIET = 0.2


def quiet(values: list[float], *, late: bool = False) -> float:
    """What a step takes when the machine does nothing else: a busy one adds to some steps.

    Where results are read a step late, a step is the shorter the later it begins: of these, the
    middle one.
    """
    return sorted(values)[int((0.5 if late else _QUIET) * len(values))]


def quietest(values: list[float]) -> list[int]:
    """The places of the three recordings that nothing else on the machine has slowed down."""
    return sorted(range(len(values)), key=values.__getitem__)[:3]


# The grammar


@dataclass(frozen=True)
class Task:
    """Something that takes time, all of which one parameter decides.

    Attributes:
        name: In what is recorded.
        kind: ``sleep`` or ``spin`` in Python, or ``products`` of matrices.
        cost: Milliseconds, or the number of products.
    """

    name: str
    kind: str
    cost: float


@dataclass(frozen=True)
class Drawn:
    """A program.

    Attributes:
        framework: ``tensorflow`` or ``jax``.
        stages: What a step computes: stages in a row, tasks of one stage at once.
        source: Where batches come from: ``none``, a ``map`` of tf.data that is called in the step,
            one with ``parallel`` calls, ``prefetch`` behind it, or ``python``: a function that
            the step calls.
        load: What it takes to make a batch.
        beside: Work of a thread: ``joined`` at the end of each step, or handed over by a ``queue``.
        thread: What it does.
        between: Whether the batch is fetched before the mark of the step.
        late: Whether a result is read one step later.
        changed: The task whose cost is changed.
        factor: By what it is divided.
    """

    framework: str
    stages: tuple[tuple[Task, ...], ...]
    source: str
    load: Task | None
    beside: str
    thread: Task | None
    between: bool
    late: bool
    changed: str
    factor: float

    def tasks(self) -> Iterator[Task]:
        """All its tasks."""
        for stage in self.stages:
            yield from stage
        for one in (self.load, self.thread):
            if one is not None:
                yield one

    def cheaper(self) -> Drawn:
        """The same with the changed cost."""

        def of(task: Task | None) -> Any:
            if task is None or task.name != self.changed:
                return task
            return replace(task, cost=task.cost / self.factor)

        return replace(
            self,
            stages=tuple(tuple(map(of, stage)) for stage in self.stages),
            load=of(self.load), thread=of(self.thread),
        )  # fmt: skip

    @property
    def pattern(self) -> str:
        """The events that ``whatif`` makes faster."""
        if self.load is not None and self.changed == self.load.name and self.source != "python":
            return r"Iterator::.*Map(V2)?(\[.*\])?"
        if self.framework == "jax" and any(
            task.name == self.changed and task.kind == "products" for task in self.tasks()
        ):
            return r"dot.*|(ynn_|broadcast_|wrapped_|.*_)fusion.*"
        is_op = any(task.name == self.changed for stage in self.stages for task in stage)
        return rf"(.*/)?{self.changed}/.*" if is_op and self.framework != "jax" else self.changed


def drawn(seed: int, framework: str = "") -> Drawn:
    """The program of a seed."""
    choose = random.Random(seed)
    framework = framework or choose.choice(FRAMEWORKS)
    own = "tensorflow" if framework == "tensorflow" else "jax"

    def task(name: str, kinds: tuple[str, ...]) -> Task:
        kind = choose.choice(kinds)
        cost = 8 * choose.randint(1, 4) if kind == "products" else choose.choice((8, 16, 24, 40))
        return Task(name, kind, cost)

    stages: list[tuple[Task, ...]] = []
    has_products = False
    for number in range(choose.randint(1, 3)):
        if own == "tensorflow" and choose.random() < 0.3:
            stages.append(tuple(task(f"part_{number}_{n}", ("sleep",)) for n in range(2)))
            continue
        kinds = ("sleep", "spin", "products")
        if own == "jax" and has_products:
            # They run meanwhile, on all cores; and products of one program have one name: dot.
            kinds = ("sleep",)
        one = task(f"part_{number}", kinds)
        has_products |= one.kind == "products"
        stages.append((one,))
    source = choose.choice(("none", "map", "parallel", "prefetch", "python") if own == "tensorflow"
                           else ("none", "python"))  # fmt: skip
    load = None if source == "none" else task("load", ("sleep",))
    beside = choose.choice(("", "", "joined", "queue"))
    thread = task("beside", ("sleep",)) if beside else None
    late = own == "jax" and choose.random() < 0.3
    if late and has_products:
        stages = [tuple(replace(one, kind="sleep") if one.kind == "spin" else one for one in stage)
                  for stage in stages]  # fmt: skip
    found = Drawn(
        own, tuple(stages), source, load, beside, thread,
        between=source != "none" and choose.random() < 0.3,
        late=late,
        changed="", factor=choose.choice((2.0, 4.0)),
    )  # fmt: skip
    return replace(found, changed=choose.choice([one.name for one in found.tasks()]))


# Running them


class _Framework:
    """What a program needs of its framework."""

    def marked(self, number: int) -> AbstractContextManager[Any]:
        raise NotImplementedError

    def named(self, name: str) -> AbstractContextManager[Any]:
        raise NotImplementedError

    def recording(self, path: str) -> AbstractContextManager[Any]:
        raise NotImplementedError

    def work(self, stages: tuple[tuple[Task, ...], ...]) -> Callable[[Any], Any]:
        """A function of a batch whose result is still to be waited for."""
        raise NotImplementedError

    def wait(self, result: Any) -> None:
        raise NotImplementedError

    def batches(self, drawn: Drawn) -> Iterator[Any]:
        raise NotImplementedError


def _busy(task: Task) -> None:
    if task.kind == "sleep":
        time.sleep(task.cost / 1e3)
        return
    until = time.thread_time() + task.cost / 1e3
    while time.thread_time() < until:
        pass


class _TensorFlow(_Framework):
    def __init__(self) -> None:
        import tensorflow as tf

        self.tf = tf

    def marked(self, number: int) -> AbstractContextManager[Any]:
        return self.tf.profiler.experimental.Trace("train", step_num=number, _r=1)

    def named(self, name: str) -> AbstractContextManager[Any]:
        return self.tf.profiler.experimental.Trace(name)

    def recording(self, path: str) -> AbstractContextManager[Any]:
        return self.tf.profiler.experimental.Profile(path)

    def work(self, stages: tuple[tuple[Task, ...], ...]) -> Callable[[Any], Any]:
        tf = self.tf
        weights = tf.random.stateless_normal((_WIDTH, _WIDTH), (1, 2)) / _WIDTH**0.5

        def done(task: Task, found: Any) -> Any:
            with tf.name_scope(task.name):
                if task.kind == "products":
                    for _ in range(round(task.cost)):
                        found = tf.matmul(found, weights)
                    return found

                def call(corner: Any) -> Any:
                    _busy(task)
                    return corner

                corner = tf.numpy_function(call, [found[:1, :1]], tf.float32, stateful=False,
                                           name="work")  # fmt: skip
                return found + tf.ensure_shape(corner, (1, 1)) * 1e-9

        @tf.function
        def step(batch: Any) -> Any:
            found = batch * 1e-9 + weights
            for stage in stages:
                found = tf.add_n([done(task, found) for task in stage])
            return tf.reduce_sum(found)

        return step

    def wait(self, result: Any) -> None:
        result.numpy()

    def batches(self, drawn: Drawn) -> Iterator[Any]:
        tf = self.tf
        one = tf.ones((_WIDTH, _WIDTH))
        if drawn.load is None:
            while True:
                yield one
        load = drawn.load
        if drawn.source == "python":
            while True:
                with self.named(load.name):
                    _busy(load)
                yield one

        def make(number: Any) -> Any:
            _busy(load)
            return number

        def mapped(number: Any) -> Any:
            made = tf.ensure_shape(tf.numpy_function(make, [number], tf.int64), ())
            return tf.cast(made, tf.float32) * 1e-9 + one

        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        calls = {"num_parallel_calls": 2} if drawn.source == "parallel" else {}
        data = tf.data.Dataset.range(10**6).map(mapped, **calls).with_options(options)
        yield from data.prefetch(2) if drawn.source == "prefetch" else data


class _Jax(_Framework):
    def __init__(self) -> None:
        import jax

        self.jax = jax

    def marked(self, number: int) -> AbstractContextManager[Any]:
        return self.jax.profiler.StepTraceAnnotation("train", step_num=number)

    def named(self, name: str) -> AbstractContextManager[Any]:
        return self.jax.profiler.TraceAnnotation(name)

    def recording(self, path: str) -> AbstractContextManager[Any]:
        options = self.jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        return self.jax.profiler.trace(path, profiler_options=options)

    def work(self, stages: tuple[tuple[Task, ...], ...]) -> Callable[[Any], Any]:
        jax = self.jax

        def done(task: Task) -> Callable[[Any], Any]:
            if task.kind == "products":

                def products(found: Any) -> Any:
                    for _ in range(round(task.cost)):
                        found = found @ found * 1e-3
                    return found

                return jax.jit(products)

            def call(found: Any) -> Any:
                with self.named(task.name):
                    _busy(task)
                return found

            return call

        calls = [done(task) for stage in stages for task in stage]

        def step(batch: Any) -> Any:
            for call in calls:
                batch = call(batch)
            return batch

        return step

    def wait(self, result: Any) -> None:
        self.jax.block_until_ready(result)

    def batches(self, drawn: Drawn) -> Iterator[Any]:
        one = self.jax.numpy.ones((_WIDTH, _WIDTH)) / _WIDTH
        while True:
            if drawn.load is not None:
                with self.named(drawn.load.name):
                    _busy(drawn.load)
            yield one


class _Running:
    """A program that is ready to be recorded, again and again."""

    def __init__(self, drawn: Drawn, of: _Framework) -> None:
        self._drawn, self._of = drawn, of
        self._work = of.work(drawn.stages)
        self.recorded(None, 2)

    def recorded(self, path: str | None, count: int) -> list[float]:
        """Run some steps; their periods by the program's own clock, ms.

        Args:
            path: Where to record them; None to run them only.
            count: How many steps.
        """
        of, drawn = self._of, self._drawn
        begins = []
        batches = of.batches(drawn)
        next(batches)
        last: Any = None
        with of.recording(path) if path else nullcontext(), self._beside() as meanwhile:
            for number in range(count + 1):
                begins.append(time.perf_counter())
                batch = next(batches) if drawn.between else None
                with of.marked(number), meanwhile():
                    result = self._work(next(batches) if batch is None else batch)
                    if not drawn.late:
                        of.wait(result)
                    elif last is not None:
                        of.wait(last)
                    last = result
            of.wait(last)
        return [1e3 * (b - a) for a, b in pairwise(begins)]

    @contextmanager
    def _beside(self) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """What a thread does beside each step."""
        task, named = self._drawn.thread, self._of.named

        def do() -> None:
            assert task is not None
            with named(task.name):
                _busy(task)

        if task is None:
            yield nullcontext
        elif self._drawn.beside == "joined":

            @contextmanager
            def joined() -> Iterator[None]:
                thread = threading.Thread(target=do)
                thread.start()
                yield
                thread.join()

            yield joined
        else:
            asked: queue.Queue[bool] = queue.Queue()
            done: queue.Queue[bool] = queue.Queue()

            def serve() -> None:
                while asked.get():
                    do()
                    done.put(True)

            @contextmanager
            def handed() -> Iterator[None]:
                asked.put(True)
                yield
                done.get()

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                yield handed
            finally:
                asked.put(False)
                thread.join()


@dataclass(frozen=True)
class Outcome:
    """What came of a program.

    Attributes:
        seed: Its seed.
        before_ms: The quiet period of each recording of A.
        truth_ms: The same of B.
        said_ms: What the three quietest recordings of A say of B; None for unknown.
        reason: Why it is unknown, or what went wrong.
    """

    seed: int
    before_ms: list[float]
    truth_ms: list[float]
    said_ms: list[float | None]
    reason: str

    @property
    def is_noisy(self) -> bool:
        """Whether recordings of one program differ by too much to judge a prediction."""
        counted = [[one[at] for at in quietest(one)] for one in (self.before_ms, self.truth_ms)]
        return any(one[-1] - one[0] > TOLERANCE / 2 * one[0] for one in counted)

    @property
    def off(self) -> float:
        """How far the worse prediction is off, as a part of the truth; 0 for unknown."""
        truth = mean(self.truth_ms[at] for at in quietest(self.truth_ms))
        return max((abs(said - truth) / truth for said in self.said_ms if said is not None),
                   default=0.0)  # fmt: skip

    @property
    def verdict(self) -> str:
        """``right``, ``FALSE``, ``unknown`` or ``noisy``."""
        if not self.before_ms:
            return "FAILED"
        if self.is_noisy:
            return "noisy"
        if all(said is None for said in self.said_ms):
            return "unknown"
        return "right" if self.off <= TOLERANCE else "FALSE"


def predicted_ms(path: str, drawn: Drawn) -> tuple[float | None, str]:
    """What a recording says of the changed program: ms a step, or None and why."""
    import tfprof

    answer = tfprof.whatif(path, faster={drawn.pattern: drawn.factor})
    after = answer.table("step").column("after_ms")
    names = answer.table("step").column("step")
    own = [one for name, one in zip(names, after, strict=True)
           if name not in ("mean", "standard deviation")]  # fmt: skip
    return (quiet(own, late=drawn.late) if own and None not in own else None), answer.verdict[0]


def tried(seed: int, of: _Framework, framework: str, folder: Path) -> Outcome:
    """Record the program of a seed and its change in turns, and predict."""
    program = drawn(seed, framework)
    running = [_Running(one, of) for one in (program, program.cheaper())]
    own: list[list[float]] = [[], []]
    for turn in range(_MOST_TURNS):
        for number, one in enumerate(running):
            path = folder / f"{framework}-{seed}-{turn}-{'AB'[number]}"
            shutil.rmtree(path, ignore_errors=True)
            own[number].append(quiet(one.recorded(str(path), _STEPS), late=program.late))
        found = Outcome(seed, own[0], own[1], [], "")
        if turn + 1 >= _TURNS and not found.is_noisy:
            break
    found = predicted(found, program, folder)
    (folder / f"{framework}-{seed}.json").write_text(json.dumps(asdict(found)), "utf-8")
    return found


def predicted(one: Outcome, program: Drawn, folder: Path) -> Outcome:
    """The outcome with what its recordings say now."""
    said, words = zip(
        *(
            predicted_ms(str(folder / f"{program.framework}-{one.seed}-{turn}-A"), program)
            for turn in quietest(one.before_ms)
        ),
        strict=True,
    )
    return replace(one, said_ms=list(said), reason=words[-1])


def _child(framework: str, seeds: list[int], folder: Path) -> None:
    """Try seeds of one framework in this process; a line of JSON for each."""
    of = _TensorFlow() if framework == "tensorflow" else _Jax()
    for seed in seeds:
        try:
            found = tried(seed, of, framework, folder)
        except Exception:
            found = Outcome(seed, [], [], [], traceback.format_exc())
        print(json.dumps(asdict(found)), flush=True)


def outcomes(framework: str, seeds: list[int], folder: Path) -> Iterator[Outcome]:
    """Try seeds of one framework in a process of its own."""
    environment = {
        **os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    command = [sys.executable, "-m", __name__ if __name__ != "__main__" else
               "tests.truth.gym_whatif", "--child", framework, "--folder", str(folder),
               "--only", *map(str, seeds)]  # fmt: skip
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                yield Outcome(**json.loads(line))


def _again(framework: str, folder: Path) -> Iterator[Outcome]:
    """Outcomes that were kept in a folder, with what their recordings say now."""
    for path in sorted(folder.glob(f"{framework}-*.json")):
        kept = Outcome(**json.loads(path.read_text("utf-8")))
        yield predicted(kept, drawn(kept.seed, framework), folder)


def main() -> int:
    """Try some seeds, and say how many predictions are right; 1 if one is false."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--again", action="store_true", help="predict from what --folder has")
    parser.add_argument("--child", choices=FRAMEWORKS)
    given = parser.parse_args()
    seeds = given.only or list(range(given.first, given.first + given.seeds))
    if given.child:
        _child(given.child, seeds, given.folder)
        return 0
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        for framework in [given.framework] if given.framework else FRAMEWORKS:
            found = _again(framework, folder) if given.again else outcomes(framework, seeds, folder)
            for one in found:
                if given.again and given.only and one.seed not in given.only:
                    continue
                program = drawn(one.seed, framework)
                counts[one.verdict] = counts.get(one.verdict, 0) + 1
                print(one.verdict, _told(one, program), flush=True)
    print(counts)
    return 1 if counts.keys() & {"FALSE", "FAILED"} else 0


def _told(one: Outcome, program: Drawn) -> str:
    if not one.before_ms:
        return f"{one.seed} {program}\n{one.reason}"
    numbers = [
        "/".join("?" if ms is None else f"{ms:.2f}" for ms in column)
        for column in (one.before_ms, one.truth_ms, one.said_ms)
    ]
    stages = " ".join("+".join(f"{t.kind}:{t.name}={t.cost:g}" for t in s) for s in program.stages)
    extra = [
        f"{program.source}({program.load.cost:g})" if program.load else "",
        f"{program.beside}({program.thread.cost:g})" if program.thread else "",
        "between" if program.between else "", "late" if program.late else "",
    ]  # fmt: skip
    return (
        f"{program.framework} {one.seed}: was {numbers[0]} is {numbers[1]} said {numbers[2]} ms | "
        f"{stages} {' '.join(filter(None, extra))} | {program.changed}/{program.factor:g}"
    )


if __name__ == "__main__":
    sys.exit(main())
