"""Cost of ``tfprof run`` while nothing is captured: for a step, and for the start of Python.

Each figure is the median difference in CPU time of interleaved pairs, with and without the hook,
and its 95 % interval by ranks. Steps are counted (as with ``--every``), and no window is due.

    python benchmarks/run_overhead.py
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import jax.numpy as jnp

from tfprof.capture import steps
from tfprof.capture.launched import jax_calls, tensorflow_calls
from tfprof.capture.launched.live_steps import LiveSteps

ROOT = Path(__file__).resolve().parent.parent
CALLS = 5_000
GOAL_MICROS = 1.0


def interval(values: list[float]) -> str:
    """Median and its 95 % interval: the ranks around it that half of the values lie below."""
    ordered = sorted(values)
    reach = 0.98 * len(ordered) ** 0.5
    low = ordered[max(0, int(len(ordered) / 2 - reach))]
    high = ordered[min(len(ordered) - 1, int(len(ordered) / 2 + reach))]
    return f"{statistics.median(ordered):.3f} ({low:.3f} to {high:.3f})"


def micros(function: Callable[[], Any]) -> float:
    start = time.thread_time()
    for _ in range(CALLS):
        function()
    return (time.thread_time() - start) / CALLS * 1e6


def compare(name: str, plain: Callable[[], Any], hooked: Callable[[], Any], pairs: int) -> None:
    differences = []
    gc.disable()
    for number in range(pairs):
        both = (plain, hooked) if number % 2 else (hooked, plain)
        took = {function: micros(function) for function in both}
        differences.append(took[hooked] - took[plain])
    gc.enable()
    print(f"{name}: {interval(differences)} µs a step (goal: {GOAL_MICROS} µs)")


def jax_steps(pairs: int) -> None:
    x = jnp.ones(())
    made = jax.jit(lambda x: x)
    hooked = jax_calls._counting(jax.jit, LiveSteps(lambda: None))(lambda x: x)
    compare("a call of a jitted function", lambda: made(x), lambda: hooked(x), pairs)
    mark = jax.profiler.StepTraceAnnotation
    own = type("Own", (mark,), {})
    jax_calls._follow_marks(type("profiler", (), {"StepTraceAnnotation": own}), LiveSteps(int))

    def step(kind: Any) -> None:
        with kind("train", step_num=1):
            pass

    compare("a mark of JAX", lambda: step(mark), lambda: step(own), pairs)


def function_steps(pairs: int) -> None:
    """A class whose objects are called, as that of ``tf.function`` is."""

    class Plain:
        _name = "f"

        def __call__(self, x: int) -> int:
            return x

    class Hooked(Plain):
        def __call__(self, x: int) -> int:
            return x

    tensorflow_calls._follow_calls(Hooked, LiveSteps(lambda: None))
    plain, hooked = Plain(), Hooked()
    compare("a call of a tf.function", lambda: plain(1), lambda: hooked(1), pairs)


def own_steps(pairs: int) -> None:
    live = LiveSteps(lambda: None)

    def step() -> None:
        with steps.step(1):
            pass

    def counted() -> None:
        steps.begin_windows(live)
        step()
        steps.end_windows(live)

    def uncounted() -> None:
        steps.begin_windows(live)
        steps.end_windows(live)
        step()

    compare("a step of tfprof.capture", uncounted, counted, pairs)


def start_up(pairs: int) -> None:
    site = str(ROOT / "tfprof" / "capture" / "launched" / "site")
    plain = {**os.environ, "PYTHONPATH": str(ROOT)}
    cases = {
        "the folder on PYTHONPATH, without TFPROF_RUN": {"PYTHONPATH": f"{site}:{ROOT}"},
        "with TFPROF_RUN": {"PYTHONPATH": f"{site}:{ROOT}", "TFPROF_RUN": "logs"},
    }

    def milliseconds(environment: dict[str, str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

    base = statistics.median(milliseconds(plain) for _ in range(pairs))
    print(f"python -c pass: {base:.1f} ms of CPU")
    for name, more in cases.items():
        differences = [milliseconds({**plain, **more}) - milliseconds(plain) for _ in range(pairs)]
        print(f"{name}: {interval(differences)} ms of CPU more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=101)
    pairs = parser.parse_args().pairs
    jax_steps(pairs)
    function_steps(pairs)
    own_steps(pairs)
    start_up(pairs)


if __name__ == "__main__":
    main()
