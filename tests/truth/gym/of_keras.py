"""Drawn programs of Keras, whose loop is Keras' own: the clock wraps its step functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tests.truth.gym.clock import Diary
from tests.truth.gym.grammar import Term
from tests.truth.gym.loop import (
    EVERY,
    SLEEP_S,
    SLOW_STEP,
    Loop,
    Making,
    Parts,
    collect_garbage,
    save_checkpoint,
)
from tests.truth.gym.pipelines import SIDE, dataset

N_VALIDATION = 4
_FUNCTIONS = ("train_function", "test_function", "predict_function")


def record(term: Term, clock: Diary) -> None:
    """Runs a term of Keras."""
    making = Making(clock, term.input.sleep_ms)
    units = term.width
    model = keras.Sequential(
        [
            keras.Input((SIDE,)),
            *(keras.layers.Dense(units, "relu") for _ in range(term.count)),
            keras.layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse", steps_per_execution=term.together)
    if term.body == "train_on_batch":
        _by_batch(term, clock, model, making)
        return
    making.is_free = True
    plain = Term(framework="keras", body=term.body, n_steps=term.n_steps)
    batches = _batches(term, making, clock)
    _run(model, plain, batches(), [])  # traces, and fills a cache
    _timed(model, clock)
    alone_ms = [_period_of(model, plain, batches(), clock)]
    making.is_free = False
    callback = _Disturbing(term, clock)
    with clock.recording():
        _run(model, term, batches(), [callback])
    clock.knows(n_steps=len(clock.spans["call"]), batches_per_step=term.together)
    noted = clock.spans, clock.begun
    clock.spans, clock.begun = {}, {}
    making.is_free = True
    alone_ms.append(_period_of(model, plain, batches(), clock))
    clock.spans, clock.begun = noted
    clock.knows(alone_periods_ms=alone_ms)


def _period_of(model: Any, plain: Term, batches: Any, clock: Diary) -> float:
    """The median of the times from call to call with free input, ms."""
    _run(model, plain, batches, [])
    period_ms = float(np.median(np.diff(clock.begun["call"])))
    clock.forget()
    return period_ms


def _batches(term: Term, making: Making, clock: Diary) -> Callable[[], Any]:
    count = term.n_steps * term.together
    if term.input.kind == "python":
        return lambda: _generated(making, count)
    found = dataset(term.input, making, count, clock.folder, labels=term.body != "predict")
    if term.input.kind == "none":
        found = found.cache().prefetch(8)
    return lambda: found


def _generated(making: Making, count: int) -> Iterator[Any]:
    for number in range(count):
        making()
        one = np.full((SIDE, SIDE), number, np.float32)
        yield one, one[:, :1]


def _run(model: Any, term: Term, batches: Any, callbacks: list[Any]) -> None:
    how = {"verbose": 0, "callbacks": callbacks}
    if not isinstance(batches, tf.data.Dataset):
        how["steps" if term.body in ("evaluate", "predict") else "steps_per_epoch"] = None
    if term.body == "evaluate":
        model.evaluate(batches, **how)
    elif term.body == "predict":
        model.predict(batches, **how)
    elif term.body == "fit_validated":
        rows = np.ones((N_VALIDATION * SIDE, SIDE), np.float32)
        validation = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(SIDE)
        model.fit(batches, shuffle=False, validation_data=validation, **how)
    else:
        model.fit(batches, shuffle=False, **how)


def _timed(model: Any, clock: Diary) -> None:
    """Notes each call of the model's step functions."""
    is_fit = model.train_function is not None
    for name in _FUNCTIONS:
        function = getattr(model, name, None)
        if function is not None:
            span = "evaluation" if is_fit and name != "train_function" else "call"
            setattr(model, name, _noted(function, clock, span))


def _noted(function: Any, clock: Diary, span: str) -> Any:
    def noted(*arguments: Any) -> Any:
        begin = time.perf_counter()
        found = function(*arguments)  # raises at the end of the input, which is not a step
        clock.note(span, begin)
        return found

    return noted


class _Disturbing(keras.callbacks.Callback):
    """What a term does between the steps."""

    def __init__(self, term: Term, clock: Diary) -> None:
        super().__init__()
        self._how, self._clock = term.disturbances, clock
        self._is_fit = term.body.startswith("fit")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._after(batch)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        if not self._is_fit:
            self._after(batch)

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self._after(batch)

    def _after(self, number: int) -> None:
        if "callback" in self._how:
            with self._clock.span("callback"):
                time.sleep(SLEEP_S["callback"])
        if "slow_step" in self._how and number == SLOW_STEP:
            with self._clock.span("callback"):
                time.sleep(SLEEP_S["slow_step"])
        if "checkpoint" in self._how and number % EVERY["checkpoint"] == 3:
            with self._clock.span("checkpoint"):
                save_checkpoint()
        if "gc" in self._how and number % EVERY["gc"] == 2:
            with self._clock.span("gc"):
                collect_garbage()


def _by_batch(term: Term, clock: Diary, model: Any, making: Making) -> None:
    from tests.truth.gym.run import framework

    rows = [np.full((SIDE, SIDE), number, np.float32) for number in range(2)]
    parts = Parts(
        lambda batch: model.train_on_batch(batch, batch[:, :1]),
        lambda result: result,
        framework(term).mark,
        lambda number: rows[number % 2],
        making,
        evaluate=lambda batch: model.test_on_batch(batch, batch[:, :1]),
    )
    if term.input.kind == "tfdata":
        found = dataset(term.input, making, term.n_steps + 1, clock.folder)
        parts.iterate = found.as_numpy_iterator
    Loop(term, parts, clock).run()
