"""Classic mode answers as TensorFlow's engine does, on random sessions and on real models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from . import models
from .cases import random_session
from .compare import session_differences, their_outcomes
from .engine import Engine
from .real_sessions import real_session

BATCHES = 30
SESSIONS_PER_BATCH = 25
LEAST_CASES = 1500
SHOWN_DIFFERENCES = 5


def _seeds(batch: int) -> range:
    return range(batch * SESSIONS_PER_BATCH, (batch + 1) * SESSIONS_PER_BATCH)


def _check(differences: list[str]) -> None:
    if differences:
        shown = "\n".join(differences[:SHOWN_DIFFERENCES])
        pytest.fail(
            f"{len(differences)} differences from TensorFlow; the first of them, "
            f"see python -m tests.oracle.compare SEED [QUERY]:\n{shown}",
            pytrace=False,
        )


@pytest.mark.tensorflow
@pytest.mark.oracle
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_sessions_equal_tensorflow(engine: Engine, batch: int) -> None:
    differences = []
    for seed in _seeds(batch):
        session = random_session(seed)
        differences += session_differences(session, their_outcomes(engine, session))
    _check(differences)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", models.NAMES)
def test_real_models_equal_tensorflow(
    engine: Engine, name: str, real_model: Callable[[str], dict[str, Any]]
) -> None:
    session = real_session(name, real_model(name))
    _check(session_differences(session, their_outcomes(engine, session)))


def test_enough_cases_are_compared() -> None:
    sessions = map(random_session, range(BATCHES * SESSIONS_PER_BATCH))
    assert sum(len(session.queries) for session in sessions) >= LEAST_CASES


def test_a_seed_always_gives_the_same_session() -> None:
    assert random_session(11) == random_session(11)


@pytest.mark.tensorflow
@pytest.mark.oracle
def test_random_sessions_do_not_crash_tensorflow_and_mostly_show_something(engine: Engine) -> None:
    outcomes = [
        outcome
        for seed in range(10_000, 10_150)
        for outcome in their_outcomes(engine, random_session(seed))
    ]
    assert not [outcome.failure for outcome in outcomes if outcome.failure]
    assert sum(len(outcome.proto.children) > 0 for outcome in outcomes) > len(outcomes) / 2


@pytest.mark.tensorflow
def test_a_crash_of_the_engine_is_reported_and_survived(engine: Engine) -> None:
    script = [("new", b"", b""), ("add_step", 0, b"", b"", b""), ("profile", "scope", b"")]
    answers = engine.run(script)
    assert [answer.crashed for answer in answers] == [False, True, True]
    assert answers[1].signal
    assert not answers[2].ran
    assert engine.run(script[:1])[0].value is True
