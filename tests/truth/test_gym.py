"""Programs drawn at random: what tfprof says of them is so.

All seeds are recorded in one test, as imports take most of the time; the messages name each false
claim. ``nox -s truth -- --seeds 500`` draws more of them.
"""

import pytest

from tests.truth.gym.exercise import drawn, exercise, table
from tests.truth.gym.grammar import allowed, draw, from_json, smaller

ONE_PROCESS = [seed for seed in range(60) if draw(seed).devices != "processes"]
SEEDS = ONE_PROCESS[:30]
"""Programs of two processes are left to ``nox -s truth``: where there are two processors, which of
two equal processes waits for the other is decided by the machine."""


def test_a_seed_is_a_program_and_so_is_all_that_is_smaller():
    for seed in range(200):
        term = draw(seed)
        assert term == draw(seed) == allowed(term) == from_json(term.to_json())
        for one in smaller(term):
            assert one == allowed(one) != term


@pytest.mark.gym
@pytest.mark.tensorflow
@pytest.mark.jax
def test_statements_on_drawn_programs_are_true(tmp_path):
    results = exercise(drawn(SEEDS), tmp_path)
    print("\n".join(table(results)))
    failures = {one.name: one.failure for one in results if one.failure}
    assert not failures
    false = [
        f"seed {one.name}: {verdict.claim.source}: {verdict.claim.text} || {verdict.truth}"
        for one in results
        for verdict in one.false
    ]
    assert not false, "\n".join(false)
