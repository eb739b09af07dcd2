"""A few jobs of the gym: what ``stragglers`` says of real workers is so, or is left open."""

import pytest

from tests.truth.gym_stragglers import outcomes

pytestmark = pytest.mark.slow

JOBS = {
    "tensorflow": ("tensorflow-2-between", "tensorflow-2-once"),
    "jax": ("jax-2-once", "jax-4-own"),
}


@pytest.mark.parametrize(
    "framework",
    [
        pytest.param("tensorflow", marks=pytest.mark.tensorflow),
        pytest.param("jax", marks=pytest.mark.jax),
    ],
)
def test_slow_workers_and_single_slow_steps_are_named(framework, tmp_path):
    for name, verdict, said in outcomes(list(JOBS[framework]), tmp_path):
        assert verdict in ("right", "unknown"), (name, said)
