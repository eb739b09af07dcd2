"""Verdicts, at their thresholds and just below."""

import numpy as np
import pytest

from tfprof.analysis.xspace.step_events import Spent
from tfprof.analysis.xspace.step_times import SPENT, StepTimes
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.tools.bottleneck import UNKNOWN, find_bottleneck
from tfprof.tools.steps import HostSteps, RunSteps

HOST = opened(xspace(host(line(event("a", 0))))).hosts[0]

WAIT, COPY, OTHER = Spent.HOST_WAIT_INPUT, Spent.HOST_TO_DEVICE, Spent.UNKNOWN
LAUNCH, TALK = Spent.HOST_PREPARE, Spent.DEVICE_COLLECTIVES


def judged(*steps, total=1000, **how):
    """Judge steps that are amounts by kind, in thousandths of a step; the rest is computation."""
    spent = np.zeros((len(steps), len(SPENT)), np.int64)
    for row, amounts in enumerate(steps):
        for kind, amount in amounts.items():
            spent[row, SPENT.index(kind)] = amount
        spent[row, SPENT.index(Spent.DEVICE_COMPUTE_32)] = total - sum(amounts.values())
    size = np.full(len(steps), total)
    times = StepTimes(np.arange(len(steps)), size * 0, size, spent, (0, 0))
    one = HostSteps(HOST, 1, times, [str(n) for n in range(len(steps))], is_implicit=False)
    return find_bottleneck(RunSteps((one,), len(steps), True, ()), classic=False, **how)


@pytest.mark.parametrize(
    "amounts, kind, word",
    [
        ({WAIT: 200}, "host", "HIGHLY"),
        ({WAIT: 150, COPY: 50}, "host", "HIGHLY"),
        ({WAIT: 199}, "both", "MODERATELY"),
        ({WAIT: 50}, "both", "MODERATELY"),
        ({WAIT: 49, OTHER: 30}, "both", "POTENTIALLY"),
        ({WAIT: 49, OTHER: 29}, "device", "NOT input-bound"),
        ({}, "device", "NOT input-bound"),
    ],
)
def test_input(amounts, kind, word):
    found = judged(amounts)
    assert found.kind == kind
    assert word in found.statement
    assert found.input_percent == (amounts.get(WAIT, 0) + amounts.get(COPY, 0)) / 10


def test_shares_are_of_all_steps_together():
    assert judged({WAIT: 390}, {WAIT: 10}).kind == "host"
    assert judged({WAIT: 380}, {WAIT: 10}).kind == "both"


LEVELS = [(29, "no"), (30, "moderate"), (149, "moderate"), (150, "high")]


@pytest.mark.parametrize("amount, level", LEVELS)
def test_other_levels(amount, level):
    assert judged({LAUNCH: amount}).kernel_launch[0] == level
    assert judged({TALK: amount}).device_collectives[0] == level
    assert judged({WAIT: 50, OTHER: amount}).all_other[0] == level
    for _, text in (
        judged({LAUNCH: amount}).kernel_launch,
        judged({TALK: amount}).device_collectives,
    ):
        assert bool(text) == (level != "no")


def test_unexplained_time_is_told_once():
    found = judged({OTHER: 300})
    assert (found.kind, found.all_other) == ("both", ("no", ""))


def test_with_tf_data_many_launches_hint_at_the_cpus():
    assert "gpu_private" in judged({LAUNCH: 150}, uses_tf_data=True).kernel_launch[1]
    assert "gpu_private" not in judged({LAUNCH: 150}).kernel_launch[1]
    assert "gpu_private" not in judged({LAUNCH: 149}, uses_tf_data=True).kernel_launch[1]


def test_no_steps_and_steps_of_no_length():
    assert judged() == UNKNOWN
    assert judged({}, total=0) == UNKNOWN
    assert find_bottleneck(RunSteps((), 0, False, ()), classic=True) == UNKNOWN
