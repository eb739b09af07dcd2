"""Steps from amounts of time by kind, and the verdict on them."""

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.steps.step_times import SPENT, StepTimes
from tfprof.captures.facts.between_steps import Between
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.facts.verdict import Grounds, give_verdict
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

HOST = opened(xspace(host(line(event("a", 0))))).hosts[0]

WAIT, COPY, OTHER = Spent.HOST_WAIT_INPUT, Spent.HOST_TO_DEVICE, Spent.UNKNOWN


CALLS = Spent.HOST_CALLBACK


def run_steps_of(*steps, total=1000, classic=False):
    """Steps from amounts by kind, in thousandths of a step; the rest is computation.

    The key "length" makes a step longer.
    """
    spent = np.zeros((len(steps), len(SPENT)), np.int64)
    size = np.array([amounts.get("length", total) for amounts in steps], np.int64)
    for row, amounts in enumerate(steps):
        known = {kind: amount for kind, amount in amounts.items() if kind != "length"}
        for kind, amount in known.items():
            spent[row, SPENT.index(kind)] = amount
        spent[row, SPENT.index(Spent.DEVICE_COMPUTE_32)] = size[row] - sum(known.values())
    times = StepTimes.of_columns(np.arange(len(steps)), size * 0, size, spent, (0, 0))
    counted = HOST.by(REFERENCE if classic else OURS)
    one = HostSteps(counted, 1, times, [str(n) for n in range(len(steps))], is_implicit=False)
    return RunSteps((one,), len(steps), True, ())


def judged(*steps, total=1000, between=None, code=(), uses_tf_data=False):
    """The verdict on such steps; a single one stands for three."""
    found = run_steps_of(*(steps * 3 if len(steps) == 1 else steps), total=total)
    return give_verdict(Grounds(found.typical, code, between or Between(), uses_tf_data))
