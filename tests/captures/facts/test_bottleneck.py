"""Verdicts, at their thresholds and just below."""

from dataclasses import replace

import pytest

from tests.captures.facts.judged_steps import CALLS, COPY, OTHER, WAIT, judged, run_steps_of
from tfprof.captures.events.steps.code_times import CodeTime
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.between_steps import Between
from tfprof.captures.facts.bottleneck import NONE, UNKNOWN, reference_bottleneck
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.facts.verdict import Grounds, about_step_time, give_verdict

LAUNCH, TALK = Spent.HOST_PREPARE, Spent.DEVICE_COLLECTIVES


@pytest.mark.parametrize(
    "amounts, kind, word",
    [
        ({WAIT: 200}, "host", "HIGHLY"),
        ({WAIT: 150, COPY: 50}, "host", "HIGHLY"),
        ({WAIT: 199}, "both", "MODERATELY"),
        ({WAIT: 50}, "both", "MODERATELY"),
        ({WAIT: 49, OTHER: 500}, "device", "NOT input-bound"),
        ({OTHER: 149}, "device", "NOT input-bound"),
        ({OTHER: 150}, "unknown", "not certain"),
        ({COPY: 10, OTHER: 150}, "unknown", "not certain"),  # batches may come from anywhere
        ({COPY: 300, CALLS: 600}, "unknown", "60.0% of the step time the program's graph calls"),
        ({COPY: 300, CALLS: 140}, "host", "HIGHLY"),
        ({WAIT: 300, CALLS: 600}, "host", "HIGHLY"),
        ({}, "device", "NOT input-bound"),
    ],
)
def test_input(amounts, kind, word):
    found = judged(amounts)
    assert found.kind == kind
    assert word in found.statement
    waiting = amounts.get(WAIT, 0) + amounts.get(COPY, 0)
    assert found.input_percent == pytest.approx(waiting / 10)


@pytest.mark.parametrize(
    "lengths, words",
    [
        ((40, 60, 50), ", 50.0 ns each on average"),
        (
            (0, 60, 0),
            "; how long they take is unknown, as they ran beside work of the steps before them",
        ),
    ],
)
def test_steps_of_other_kinds(lengths, words):
    """A step of no time began and ended during work that earlier steps had launched."""
    steps = run_steps_of(*[{"length": 1000}] * 5, *[{"length": 1000 * one} for one in lengths])
    names = [f"train {n}" for n in range(5)] + [f"eval {n}" for n in range(3)]
    named = replace(steps, hosts=(replace(steps.hosts[0], names=names),))
    texts = [claim.text for claim in about_step_time(named) if claim.subject == "step eval"]
    assert texts == [
        f"Of the steps called eval there are 3{words}; all else is about those called train."
    ]


def test_shares_are_of_all_steps_together():
    assert judged({WAIT: 390}, {WAIT: 10}, {WAIT: 200}).kind == "host"
    assert judged({WAIT: 380}, {WAIT: 10}, {WAIT: 200}).kind == "both"


@pytest.mark.parametrize("n_steps, words", [(1, "1 whole step"), (2, "2 whole steps")])
def test_of_few_steps_no_verdict_is_given(n_steps, words):
    found = (
        judged(*[{WAIT: 900}] * n_steps)
        if n_steps > 1
        else give_verdict(Grounds(run_steps_of({WAIT: 900}), (), Between(), False))
    )
    assert found.kind == "unknown"
    assert words in found.statement
    assert "90.0%" in found.statement


def sentences(claims):
    return " ".join(claim.text for claim in claims)


def test_one_slow_step_decides_nothing_about_the_others():
    first = {"length": 20_000, WAIT: 19_000}
    found = judged(first, *[{}] * 9)
    assert (found.kind, found.input_percent) == ("device", 0)
    stated = sentences(about_step_time(run_steps_of(first, *[{}] * 9)))
    assert "9 steps" in stated
    assert "20.0 times as long" in stated
    assert "Input" in stated
    # Two slow steps of ten are part of the pace.
    assert judged(first, first, *[{}] * 8).kind == "host"


def test_a_slow_step_is_explained_by_what_it_has_more_of():
    """Computation takes the most time in every step; only compilation is new in this one."""
    ms = 10**9  # ps
    compiles = {"length": 8 * ms, Spent.HOST_COMPILE: 36 * ms // 10}
    stated = sentences(about_step_time(run_steps_of(compiles, *[{}] * 9, total=ms)))
    assert "8.0 times as long: 3.600 ms more of Compilation, 3.400 ms more of Device c" in stated
    mostly = {"length": 8 * ms, Spent.HOST_COMPILE: 65 * ms // 10}
    stated = sentences(about_step_time(run_steps_of(mostly, *[{}] * 9, total=ms)))
    assert "8.0 times as long: 6.500 ms more of Compilation; it is left out" in stated


def test_what_passes_between_the_steps_counts():
    outside = Between(gap_ms=30, wait_ms=28, share=0.9, wait_share=0.84)
    found = judged({WAIT: 840}, between=outside)
    assert found.kind == "host"
    assert "84.0% of the time from one step to the next" in found.statement
    assert "84.0% waiting for input" in found.between.text
    unknown = judged({}, between=Between(gap_ms=30, share=0.9))
    assert (unknown.kind, "90.0%" in unknown.statement) == ("unknown", True)


def test_most_of_little_waiting_may_lie_between_the_steps():
    mostly = Between(gap_ms=30, share=0.2, wait_share=0.06, busy_share=0.14)
    found = judged({WAIT: 100}, between=mostly)
    assert found.kind == "host"
    assert found.statement.startswith("The program is MODERATELY input-bound: 10.0% of the time ")
    half = judged({WAIT: 100}, between=mostly._replace(wait_share=0.05))
    assert half.kind == "both"
    assert half.statement.startswith("The program is MODERATELY input-bound: 10.0% of the step ")
    none = judged({WAIT: 49}, between=mostly._replace(wait_share=0.04))
    assert (none.kind, "NOT input-bound: only 4.9%" in none.statement) == ("device", True)


def test_copies_have_words_from_a_fifth_of_the_waiting_on():
    assert "copying" not in judged({WAIT: 160, COPY: 40}).statement
    assert "4.1% of it copying it to devices" in judged({WAIT: 159, COPY: 41}).statement
    assert "copying it to devices is 4.0%" in judged({WAIT: 60, COPY: 40}).statement
    assert "copying" not in judged({WAIT: 29, COPY: 20}).statement


def test_the_range_of_the_share_holds_what_may_be_input():
    def ends(amounts, **between):
        claim = judged(amounts, between=Between(**between)).claim
        return claim.low, claim.high

    assert ends({OTHER: 140, CALLS: 30}) == pytest.approx((0.0, 0.17))
    assert ends({COPY: 20, OTHER: 90}) == pytest.approx((0.02, 0.11))
    assert ends({WAIT: 300, OTHER: 90}, share=0.4, wait_share=0.1) == pytest.approx((0.3, 0.6))
    assert ends({WAIT: 300}, share=0.1, wait_share=0.2) == pytest.approx((0.3, 0.3))
    assert ends({WAIT: 600}, share=0.9) == pytest.approx((0.6, 1.0))


def test_most_steps_must_show_input():
    reads, other = {WAIT: 100}, {OTHER: 400}
    assert judged(reads, reads, other, other).kind == "unknown"
    assert judged(reads, reads, reads, other).kind == "both"


@pytest.mark.parametrize(
    ("shares", "kind"),
    [
        ({"share": 0.15}, "unknown"),
        ({"share": 0.149}, "device"),
        ({"share": 0.3, "busy_share": 0.16}, "device"),
        ({"share": 0.3, "wait_share": 0.16}, "device"),
        ({"share": 0.3, "busy_share": 0.07, "wait_share": 0.07}, "unknown"),
    ],
)
def test_time_between_steps_without_an_op_leaves_the_verdict_open(shares, kind):
    between = Between(gap_ms=30, **shares)
    assert judged({WAIT: 49}, between=between).kind == kind
    assert judged({WAIT: 400}, between=between).kind == "host"  # more would change nothing


def test_two_functions_are_named_the_longest_first_and_none_below_a_twentieth():
    code = [CodeTime(name, caller, False, total, 3)
            for name, caller, total in (("a.py:1 f", "b.py:2 main", 1200), ("g", "", 150),
                                        ("h", "", 150), ("time.sleep", "", 900))]  # fmt: skip
    found = judged({OTHER: 600}, code=code)
    parts = [claim.text for claim in found.claim.parts]
    assert parts == ["40.0% is a.py:1 f, called from b.py:2 main", "5.0% is g"]
    assert [claim.value for claim in found.claim.parts] == [0.4, 0.05]
    few = judged({OTHER: 600}, code=[CodeTime("g", "", False, 149, 3)])
    assert "little was recorded there" in few.statement
    assert "nothing was recorded there" in judged({OTHER: 600}).statement


def test_the_time_between_steps_in_words():
    load, log = (CodeTime(name, "", False, total, 3) for name, total in (("load", 80), ("log", 20)))
    between = Between(30, 3, 0.5, 0.025, 0.1, longest_ms=91, after="train 7", code=(load, log))
    assert judged({WAIT: 100}, between=between).between.text == (
        "50.0% of the time lies between steps, 30.000 ms as a rule, 91.000 ms after step train 7: "
        "2.5% waiting for input, 10.0% ops that are in no step, in load and log."
    )
    short = Between(30, 3, 0.5, 0.024, 0.024, 90, code=(load, replace(log, total_ps=19)))
    assert judged({WAIT: 100}, between=short).between.text == (
        "50.0% of the time lies between steps, 30.000 ms: in load."
    )
    assert judged({}, between=Between(share=0.049)).between == NONE
    assert judged({}, between=Between(share=0.05)).between.level == "high"
    assert judged({}, between=Between(share=0.05)).between.claim.value == pytest.approx(0.05)


def test_an_annotation_is_named():
    load = CodeTime("load_batch", "", True, 1800, 3)
    found = judged({OTHER: 600}, code=[load])
    assert "60.0% is load_batch (an annotation of the program)" in found.statement


@pytest.mark.parametrize(
    "part, words", [(0.6, "it is Python, in many functions"), (0.4, "little was recorded there")]
)
def test_what_is_little_of_the_unexplained_time_explains_nothing(part, words):
    each = round(3 * 30_000 * part / 100)
    code = [CodeTime(f"f{number}", "", False, each, 3) for number in range(100)]
    assert words in judged({OTHER: 30_000}, total=100_000, code=code).statement


def test_the_reference_judges_the_first_host_and_all_steps():
    steps = run_steps_of({WAIT: 49, OTHER: 30}, classic=True)
    found = reference_bottleneck(steps)
    assert (found.kind, "POTENTIALLY" in found.statement) == ("both", True)
    assert found.all_other == NONE  # the statement has it


@pytest.mark.parametrize(
    ("amounts", "kind", "words"),
    [
        ({WAIT: 49, OTHER: 30}, "both", "POTENTIALLY input-bound: 3.0% of the step time is not"),
        ({WAIT: 49, OTHER: 29}, "device", "NOT input-bound: only 4.9%"),
        ({WAIT: 50, OTHER: 30}, "both", "MODERATELY input-bound: 5.0%"),
        ({WAIT: 200, OTHER: 30}, "host", "HIGHLY input-bound: 20.0%"),
    ],
)
def test_the_reference_at_its_thresholds(amounts, kind, words):
    found = reference_bottleneck(run_steps_of(amounts, classic=True))
    assert (found.kind, words in found.statement) == (kind, True)
    share, dark = amounts[WAIT] / 1000, amounts[OTHER] / 1000
    assert (found.claim.value, found.claim.low) == (share, share)
    assert found.claim.high == (pytest.approx(share + dark) if "POT" in words else None)
    assert found.input_percent == pytest.approx(100 * share)
    assert (found.all_other == NONE) == ("POT" in words or dark < 0.03)


def test_the_reference_judges_launches_and_communication():
    steps = run_steps_of({LAUNCH: 150, TALK: 30, OTHER: 40, WAIT: 200}, classic=True)
    assert reference_bottleneck(steps, uses_tf_data=True).remarks == (
        "15.0% of the step time goes to launching kernels. tf.data works on the same CPUs: give "
        "the GPU threads of their own with TF_GPU_THREAD_MODE=gpu_private.",
        "4.0% of the step time is not explained by recorded events.",
        "3.0% of the step time goes to communication between devices.",
    )


LEVELS = [(29, "no"), (30, "moderate"), (149, "moderate"), (150, "high")]


@pytest.mark.parametrize("amount, level", LEVELS)
def test_other_levels(amount, level):
    assert judged({LAUNCH: amount}).kernel_launch[0] == level
    assert judged({TALK: amount}).device_collectives[0] == level
    assert judged({WAIT: 50, OTHER: amount}).all_other[0] == level
    for one in (judged({LAUNCH: amount}).kernel_launch, judged({TALK: amount}).device_collectives):
        assert bool(one.text) == (level != "no")


def test_unexplained_time_is_reported_once():
    found = judged({OTHER: 300})
    assert (found.kind, found.all_other) == ("unknown", NONE)
    assert judged({OTHER: 150}).all_other == NONE
    assert judged({OTHER: 149}).all_other.level == "moderate"


def test_with_tf_data_many_launches_hint_at_the_cpus():
    assert "gpu_private" in judged({LAUNCH: 150}, uses_tf_data=True).kernel_launch.text
    assert "gpu_private" not in judged({LAUNCH: 150}).kernel_launch.text
    assert "gpu_private" not in judged({LAUNCH: 149}, uses_tf_data=True).kernel_launch.text


def test_no_steps_and_steps_of_no_length():
    assert judged() == UNKNOWN
    assert judged({}, total=0) == UNKNOWN
    assert reference_bottleneck(RunSteps((), 0, False, ())) == UNKNOWN
