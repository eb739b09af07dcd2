"""Threads that answer requests."""

from __future__ import annotations

import threading

import tensorflow as tf

from tests.truth.own_clock import OwnClock
from tests.truth.programs_tensorflow.parts import products, program


@program
def serves_on_threads(clock: OwnClock) -> None:
    """Three threads answer ten requests each, which an annotation with their number marks."""
    work, batch = products(6), tf.ones((200, 200))
    work(batch)

    def serve(first: int) -> None:
        for number in range(first, first + 10):
            with (
                clock.span("generate"),
                tf.profiler.experimental.Trace(f"generate request {number}"),
            ):
                work(batch).numpy()

    with clock.recording():
        threads = [threading.Thread(target=serve, args=(100 * n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    clock.knows(n_requests=30)
