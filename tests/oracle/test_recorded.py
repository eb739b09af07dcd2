"""Classic mode answers as TensorFlow's engine did when it was recorded; needs no TensorFlow."""

from __future__ import annotations

import pytest

from .cases import VIEWS, Session
from .compare import Outcome, session_differences
from .record import PATH, load

_RECORDED = load()


@pytest.mark.parametrize(("session", "theirs"), _RECORDED, ids=[s.name for s, _ in _RECORDED])
def test_recorded_session(session: Session, theirs: list[Outcome]) -> None:
    differences = session_differences(session, theirs)
    if differences:
        pytest.fail("\n".join(differences[:5]), pytrace=False)


def test_recorded_answers_are_many_and_not_trivial() -> None:
    answers = [
        pair
        for session, outcomes in _RECORDED
        for pair in zip(session.queries, outcomes, strict=True)
    ]
    for view in VIEWS:
        shown = [len(outcome.proto.children) for query, outcome in answers if query.view == view]
        assert len(shown) >= 20
        assert sum(map(bool, shown)) > len(shown) / 2
    assert PATH.stat().st_size < 300_000
