"""A few programs of the gym: what ``whatif`` predicts of them comes true, or is left unknown."""

import pytest

from tests.truth.gym_whatif import drawn, outcomes

pytestmark = pytest.mark.gym

SEEDS = {"tensorflow": (1, 7), "jax": (3, 4)}
"""An op beside a queue, branches; products, a loader before an op."""


@pytest.mark.parametrize(
    "framework",
    [
        pytest.param("tensorflow", marks=pytest.mark.tensorflow),
        pytest.param("jax", marks=pytest.mark.jax),
    ],
)
def test_predictions_come_true(framework, tmp_path):
    found = list(outcomes(framework, list(SEEDS[framework]), tmp_path))
    assert [one.seed for one in found] == list(SEEDS[framework])
    for one in found:
        assert one.verdict not in ("FALSE", "FAILED"), (drawn(one.seed, framework), one)


def test_a_seed_is_a_program():
    for seed in range(50):
        program = drawn(seed)
        assert program == drawn(seed)
        assert program.changed in [task.name for task in program.tasks()]
        changed = [
            (one.cost, other.cost)
            for one, other in zip(program.tasks(), program.cheaper().tasks(), strict=True)
            if one != other
        ]
        assert changed == [(changed[0][0], changed[0][0] / program.factor)]
