"""Jobs of real processes that hang, and one that does not."""

import time

from tests.truth.gym_hangs import outcome

TIMEOUT_S = 4.0


def test_the_rank_that_waits_for_its_input_is_named(tmp_path):
    found = outcome("jax-4-queue", tmp_path, TIMEOUT_S)
    assert found.hang is not None
    [rank] = [found.hang.ranks[at] for at in found.hang.named]
    assert rank.number == 3
    place = rank.main.place
    assert (place.function, place.is_own) == ("next_batch", True)
    assert "psum" in rank.completed and not rank.entered
    others = [each for each in found.hang.ranks if each is not rank]
    assert {each.main.place.function for each in others} == {"step"}
    assert any("psum" in each.entered for each in others)
    assert found.seconds < 2 * TIMEOUT_S + 4  # what else runs here has its share of the time


def test_an_evaluation_is_not_a_hang(tmp_path):
    began = time.monotonic()
    assert outcome("jax-2-evaluation", tmp_path, TIMEOUT_S).hang is None
    assert time.monotonic() - began > TIMEOUT_S
