"""How long steps take in words, and verdicts from captures; numbers by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tests.captures.facts.judged_steps import CALLS, COPY, OTHER, WAIT, judged, run_steps_of
from tests.captures.facts.loops import US, loop
from tfprof.captures.events.steps.code_times import CodeTime
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.between_steps import Between
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.verdict import (
    Grounds,
    about_step_time,
    give_verdict,
    grounds_of,
    input_claim,
    unexplained_share,
)
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

MS = 10**9  # ps


def steps_ms(*lengths_and_gaps):
    """Periods of steps, and the part of each after the step, ms."""
    found = run_steps_of(*({"length": round(length * MS)} for length, _ in lengths_and_gaps))
    gaps = np.array([round(gap * MS) for _, gap in lengths_and_gaps])
    own = found.hosts[0]
    starts = np.cumsum(own.times.duration_ps) - own.times.duration_ps
    times = replace(own.times, gap_ps=gaps, start_ps=starts)
    return replace(found, hosts=(replace(own, times=times),))


def test_the_average_and_the_range_of_steps():
    [claim] = about_step_time(steps_ms((1, 0), (2, 0), (6, 0)))
    assert (claim.value, claim.low, claim.high) == (3.0, 1.0, 6.0)
    assert claim.text == "A step takes 3.000 ms on average (3 steps, 1.000 to 6.000 ms)."
    assert (claim.details["own_ms"], claim.details["gap_ms"]) == (3.0, 0.0)
    assert about_step_time(run_steps_of()) == ()
    [one] = about_step_time(steps_ms((2, 1)))
    assert one.text == "The one step took 2.000 ms."


def test_time_between_steps_is_named_from_a_twentieth_on():
    [claim] = about_step_time(steps_ms((20, 1), (19, 1), (21, 1)))
    assert claim.text == (
        "From one step to the next 20.000 ms pass on average (3 steps, 19.000 to 21.000 ms): "
        "19.000 ms in the step, 1.000 ms between it and the next."
    )
    assert (claim.details["own_ms"], claim.details["gap_ms"]) == (19.0, 1.0)
    [little] = about_step_time(steps_ms((20, 0.9), (19, 1), (21, 1)))
    assert little.text.startswith("A step takes 20.000 ms on average")


def test_a_long_step_and_what_lies_between_it_and_the_next():
    """Four ms more than usual: a fifth of them, 0.8 ms, are named."""
    usual = [(1, 0.1)] * 4
    _, claim = about_step_time(steps_ms(*usual, (5, 0.9), *usual))
    assert (claim.subject, claim.value, claim.details["times_count"]) == ("step 4", 5.0, 5.0)
    assert claim.text == (
        "Step 4 took 5.000 ms, 5.0 times as long: 4.000 ms more of Device compute, "
        "0.900 ms of it lie between this step and the next; it is left out of averages and of the "
        "verdict."
    )
    _, claim = about_step_time(steps_ms(*usual, (5, 0.89), *usual))
    assert "between" not in claim.text


@pytest.mark.parametrize(
    ("amounts", "kind"),
    [
        ({WAIT: 50}, "both"),
        ({WAIT: 49}, "unknown"),
        ({COPY: 200, OTHER: 300}, "host"),  # without a pipeline, only much waiting is certain
        ({COPY: 199, OTHER: 300}, "unknown"),
    ],
)
def test_from_its_threshold_on_a_verdict_is_certain(amounts, kind):
    assert judged(amounts, between=Between(gap_ms=30, share=0.9)).kind == kind


def test_calls_of_python_from_graphs_leave_the_verdict_open_from_a_seventh_on():
    assert judged({CALLS: 150}).kind == "unknown"
    assert judged({CALLS: 149}).kind == "device"
    assert judged({WAIT: 50, CALLS: 150}).kind == "both"
    assert judged({COPY: 200, CALLS: 150}).kind == "unknown"


def test_ops_between_steps_are_named_from_a_twentieth_on():
    between = Between(30, 3, 0.5, 0.0, 0.025)
    assert judged({WAIT: 100}, between=between).between.text == (
        "50.0% of the time lies between steps, 30.000 ms: 2.5% ops that are in no step."
    )


def test_the_framework_itself_is_the_runtime():
    code = [CodeTime("tensorflow.python.x TFE_Py_Execute", "train.py:1 f", False, 1800, 3)]
    assert "60.0% is the runtime (TFE_Py_Execute)" in judged({OTHER: 600}, code=code).statement


def test_without_an_op_nothing_is_unexplained():
    """The capture does not show when ops run."""
    grounds = Grounds(run_steps_of(*[{OTHER: 1000}] * 3), (), Between(), False)
    assert unexplained_share(grounds) == 0.0
    assert "no op was recorded in its steps" in give_verdict(grounds).statement


def test_a_picosecond_of_waiting_shows_a_pipeline():
    assert judged({WAIT: 1, OTHER: 150}).kind == "device"
    assert judged({COPY: 1, OTHER: 150}).kind == "unknown"


def test_copies_are_named_from_the_threshold_on():
    assert "copying it to devices is 1.1%" in judged({WAIT: 39, COPY: 11}).statement


def test_two_functions_between_steps_are_named():
    code = [CodeTime(name, "", False, 10, 3) for name in "abc"]
    assert judged({}, between=Between(share=0.5, code=code)).between.text.endswith(": in a and b.")


def test_code_that_waits_is_not_named():
    code = [CodeTime("a.py:1 result", "b.py:2 main", False, 1800, 3)]
    assert "nothing was recorded there" in judged({OTHER: 600}, code=code).statement


def steps_with_code(code_us, name="load"):
    """Four steps of a millisecond, in each of which Python runs so long without an op."""
    events = []
    for step in range(4):
        start = 1000 * step
        events += [
            event("train", start * US, 1000 * US, step_num=step, _r=1),
            event(f"$train.py:7 {name}", start * US, code_us * US),
            event("a:MatMul", (start + code_us) * US, (1000 - code_us) * US),
        ]
    return opened(xspace(host(line(*events))))


def test_code_is_a_ground_where_a_share_of_the_time_is_unexplained():
    found = grounds_of(steps_with_code(30), uses_tf_data=True)
    assert [(one.name, one.total_ps) for one in found.code] == [("train.py:7 load", 120 * 10**6)]
    assert found.uses_tf_data
    assert grounds_of(steps_with_code(29), uses_tf_data=False).code == []


def test_time_in_code_that_waits_is_not_unexplained():
    def share(name):
        return unexplained_share(grounds_of(steps_with_code(200, name), uses_tf_data=False))

    assert (share("load"), share("result")) == (0.2, 0.0)


def test_compiling_is_named_from_three_percent_on():
    assert judged({Spent.HOST_COMPILE: 29}).compilation.level == "no"
    assert judged({Spent.HOST_COMPILE: 30}).compilation.level == "moderate"
    assert (
        "3.0% of the step time goes to tracing" in judged({Spent.HOST_COMPILE: 30}).compilation.text
    )


def test_the_scope_of_the_step_time():
    [claim] = about_step_time(run_steps(steps_with_code(10)))
    assert claim.scope == "4 steps of host 0 called train"
    assert about_step_time(steps_ms((2, 0)))[0].scope == "1 step of host 0"


def test_the_share_of_input_of_a_capture():
    claim = input_claim(loop(4, wait_us=50))
    assert (claim.value, claim.low) == (0.5, 0.5)
    assert input_claim(loop(4)).value is None
