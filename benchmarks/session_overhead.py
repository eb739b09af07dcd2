"""What ``ProfileContext`` adds to ``Session.run``: on runs it leaves alone, and on traced ones.

The first is measured on a run that does nothing. The second is the time beyond TensorFlow's own
FULL_TRACE of a ResNet-50 training step, and what reading the traces costs afterwards.

    python benchmarks/session_overhead.py
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import record_resnet50
import tensorflow as tf
from measure import timed
from tensorflow.python.client.session import BaseSession

from tfprof.capture.graph_sessions.profile_context import ProfileContext

tf1 = tf.compat.v1

UNTRACED_MICROS, TRACED_SHARE = 1.0, 0.05
CALLS = 200_000


def micros_per_call(function: Callable[[], Any], repeat: int) -> float:
    """The best of several rounds: what else the machine does only ever adds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(CALLS):
            function()
        best = min(best, time.perf_counter() - start)
    return best / CALLS * 1e6


def untraced(folder: str, repeat: int) -> None:
    """Prints the cost of a run that is not traced, by kind of context and of fetches."""
    original = BaseSession.run
    with tf.Graph().as_default():
        a, b = tf.constant(1.0), tf.constant(2.0)
        session = tf1.Session()
        kinds = {"a tensor": a, "a list of 2": [a, b], "a dict of a list of 2": {"caller": [a, b]}}
        for automatic in (False, True):
            for kind, fetches in kinds.items():
                # TensorFlow's part is taken out: it takes some 100 times as long and varies more.
                BaseSession.run = lambda *_: None
                try:
                    plain = micros_per_call(lambda: session.run(fetches), repeat)  # noqa: B023
                    seconds = micros_in_context(session, fetches, folder, automatic, repeat)
                finally:
                    BaseSession.run = original
                name = "automatic tracing" if automatic else "chosen steps"
                print(f"untraced run, {name}, {kind}: {seconds - plain:.2f} µs", end="")
                print(f" (goal: {UNTRACED_MICROS} µs)")


def micros_in_context(
    session: Any, fetches: Any, folder: str, automatic: bool, repeat: int
) -> float:
    """Microseconds of a run in the steady state of a long training."""
    with ProfileContext(folder, None if automatic else [0], dump_steps=[]) as context:
        if automatic:
            context._automatic.traced(session.graph, fetches)  # as if at step 11
        for _ in range(200):
            context._schedule.begin()  # the early steps, which no long training notices
        return micros_per_call(lambda: session.run(fetches), repeat)


def full_traces(session: Any, fetches: Any, repeat: int) -> list[float]:
    seconds = []
    for _ in range(repeat):
        options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        run = timed(session.run, fetches, None, options, tf1.RunMetadata())
        seconds.append(run[0])
    return seconds


def traced(folder: str, batch: int, repeat: int) -> None:
    """Prints what tracing a ResNet-50 step costs beyond TensorFlow's trace."""
    added: list[float] = []
    with tf.Graph().as_default() as graph:
        fetches = record_resnet50.training_step(batch)
        initialise = tf1.global_variables_initializer()
        session = tf1.Session(graph=graph, config=record_resnet50.session_config())
        session.run(initialise)
        full_traces(session, fetches, 2)
        step = statistics.median(timed(session.run, fetches)[0] for _ in range(repeat))
        full = statistics.median(full_traces(session, fetches, repeat))
        with ProfileContext(folder, range(repeat), dump_steps=[]) as context:
            finish = context._finish
            context._finish = lambda *args: added.append(timed(finish, *args)[0])
            whole = statistics.median(timed(session.run, fetches)[0] for _ in range(repeat))
        print(f"ResNet-50 step: {step:.3f} s plain, {full:.3f} s with FULL_TRACE, ", end="")
        print(f"{whole:.3f} s with ProfileContext")
        # The part of ours is timed itself: it is far smaller than the steps differ.
        share = max(added) / step
        print(
            f"traced run: {1e3 * max(added):.1f} ms at most, {share:.2%} of the plain step ", end=""
        )
        print(f"(goal: {TRACED_SHARE:.0%})")
        reading, profiler = timed(lambda: context.profiler)
        print(f"reading the graph and {len(profiler.steps)} traces later: {reading:.3f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        untraced(folder, args.repeat)
        traced(folder, args.batch, args.repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
