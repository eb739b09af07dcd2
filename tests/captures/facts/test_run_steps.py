"""Steps of all hosts together, and notes on hosts whose steps do not match."""

import itertools

import numpy as np
import pytest

from tests.captures.tools.oracle import folder
from tests.captures.tools.small_captures import capture
from tfprof import tools
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import kinds_of
from tfprof.captures.rules import OURS
from tfprof.captures.tools.pod_viewer import pod
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import START_NS, event, gpu, host, line, opened, plane, xspace


def notes(run, **how):
    return [(note.severity, note.host) for note in run_steps(run, **how).notes]


def test_steps_of_one_number_are_the_same():
    run = opened(capture(5, first=10), capture(4, first=12))
    steps = run_steps(run)
    assert (steps.n_steps, steps.names) == (3, ["train 12", "train 13", "train 14"])
    assert [one.names for one in steps.hosts] == [steps.names, steps.names]


def test_in_the_reference_times_decide():
    run = opened(capture(5, first=10), capture(4, first=12))
    steps = run_steps(run.in_mode(classic=True))
    assert steps.hosts[0].names == ["train 10", "train 11", "train 12", "train 13"]
    assert steps.hosts[1].names == ["train 12", "train 13", "train 14", "train 15"]


def test_clocks_that_are_hours_apart_have_a_note():
    late = capture(3)
    late.planes[0].lines[0].timestamp_ns = START_NS + 2 * 3600 * 10**9
    steps = run_steps(opened(capture(3), late))
    assert steps.n_steps == 3
    [note] = steps.notes
    assert (note.severity, note.host) == ("warning", "host 1")
    assert "7,200.000 s later than on host 0" in note.message


@pytest.mark.parametrize("classic", [True, False])
def test_clocks_that_are_decades_apart_do_no_harm(classic):
    spaces = [capture(3), capture(3), capture(3)]
    spaces[1].planes[0].lines[0].timestamp_ns = 0
    spaces[2].planes[0].lines[0].timestamp_ns = 2**63 - 1
    assert run_steps(opened(*spaces).in_mode(classic=classic)).n_steps == 3


def test_hosts_with_other_numbers_of_steps():
    run = opened(capture(5), capture(3))
    steps = run_steps(run)
    assert steps.n_steps == 3
    assert [(n.severity, n.host, n.message[:7]) for n in steps.notes] == [
        ("info", "host 0", "2 steps")
    ]


def test_a_host_without_steps_has_a_note():
    empty = xspace(host(line(event("a:B", 0, 5))))
    assert notes(opened(capture(2), empty)) == [("warning", "host 1")]


def test_no_steps_at_all():
    assert notes(opened(xspace(host(line(event("a:B", 0, 5)))))) == [("warning", "")]


def test_a_host_without_devices_among_others_gives_orders_only():
    device = xspace(
        host(line(event("train", 0, 50, step_num=1, _r=1), event("go", 1, 1, correlation_id=1))),
        gpu(line(event("k", 10, 5, correlation_id=1))),
    )
    run = opened(capture(2), device)
    assert [one.host.name for one in run_steps(run).hosts] == ["host 1"]
    assert notes(run) == [("info", "host 0")]
    assert run_steps(run).hosts[0].core_id == 1001


def test_gpus_without_events_have_a_note():
    space = capture(2)
    space.planes.add(name="/device:GPU:0")
    steps = run_steps(opened(space))
    assert (steps.n_steps, steps.has_device) == (2, False)
    assert [(note.severity, note.message[:8]) for note in steps.notes] == [("warning", "has GPUs")]
    assert run_steps(opened(space).in_mode(classic=True)).n_steps == 0


def test_calls_of_functions_that_count_as_steps_have_a_note():
    space = xspace(host(line(event("FunctionRun", 0, 50, _r=1), event("a:B", 5, 10))))
    steps = run_steps(opened(space))
    assert steps.n_steps == 1
    assert [(note.severity, note.message[:18]) for note in steps.notes] == [
        ("info", "no step was marked")
    ]
    assert run_steps(opened(space).in_mode(classic=True)).n_steps == 0


@pytest.mark.parametrize("n_steps, kept", [(5, 5), (6, 4)])
def test_the_reference_leaves_out_the_ends_of_more_than_five_steps(n_steps, kept):
    run = opened(capture(n_steps))
    assert run_steps(run.in_mode(classic=True), inner_only=True).n_steps == kept
    assert run_steps(run).n_steps == n_steps


@pytest.mark.parametrize(
    "names", [["train " + "9" * 400] * 2, ["train ²"] * 2, ["train -7"] * 2, ["", ""]]
)
def test_odd_numbers_of_steps(names):
    spaces = [
        xspace(
            host(
                line(
                    event("train", 0, 50, group_id=0, step_name=name),
                    event("a:B", 5, 10, group_id=0),
                )
            )
        )
        for name in names
    ]
    assert run_steps(opened(*spaces)).n_steps == 1


def test_steps_by_number():
    run = opened(capture(12, first=100))
    assert [row["step"] for row in pod(run, step=103).to_rows()] == ["train 103"]
    with pytest.raises(UsageError, match="no step 3 in this run; it has: 100, 101, 102, 103, …,"):
        pod(run, step=3)


def test_copies_on_the_host_are_computation_but_in_the_reference():
    step = [event("train", 0, 100, _r=1), event("MemcpyHToH", 0, 30), event("a:B", 40, 10)]
    run = opened(xspace(host(line(*step))))
    for classic, total in ((False, 100), (True, 70)):
        [one] = run_steps(run.in_mode(classic=classic)).hosts
        amounts = [int(one.of(category)[0]) for category in CATEGORIES]
        assert sum(amounts) == total * 1000
    assert {kind for c in CATEGORIES for kind in kinds_of(c, OURS)} == set(Spent)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_hosts_does_not_matter(order):
    spaces = [capture(5, first=3), capture(4, first=5, length=2000), capture(6, first=1)]
    steps = run_steps(opened(*[spaces[place] for place in order]))
    assert steps.names == ["train 5", "train 6"]
    durations = {
        place: one.times.own_ps.tolist() for place, one in zip(order, steps.hosts, strict=True)
    }
    assert durations == {0: [990_000] * 2, 1: [1_990_000] * 2, 2: [990_000] * 2}


def test_recorders_that_began_at_different_moments_have_no_other_clocks():
    def steps_of(began_us, *numbers):
        events = [
            one
            for number in numbers
            for one in (
                event("train", (number * 1000 - began_us) * 1000, 600_000, _r=1, step_num=number),
                event("a:MatMul", (number * 1000 - began_us) * 1000, 500_000),
            )
        ]
        return xspace(
            plane("/host:CPU", line(*events), began_ns=0),
            plane("Task Environment", stats={"profile_start_time": START_NS + began_us * 1000}),
        )

    found = run_steps(opened(steps_of(0, 5, 6, 7, 8), steps_of(4900, 6, 7, 8)))
    first, second = (one.times.start_ps // 10**6 for one in found.hosts)
    assert (first.tolist(), second.tolist()) == ([6000, 7000, 8000], [1100, 2100, 3100])
    assert not any("by its clock" in note.message for note in found.notes)


def test_steps_of_hosts_that_take_turns_in_being_slow_are_those_of_one_host():
    """Both take 15 a step; no host takes 20, the mean of the slowest in each step."""

    def worker(name, *lengths_us):
        events, at = [], 0
        for number, length_us in enumerate(lengths_us):
            events.append(event("train", at, 1000 * length_us, step_num=number, _r=1))
            events.append(event("a:MatMul", at, 1000 * length_us - 10))
            at += 1000 * length_us
        return xspace(host(line(*events)), hostname=name)

    run = opened(worker("a", 10, 20, 10, 20), worker("b", 20, 10, 20, 10))
    assert run_steps(run).slowest_ps().mean() / 1e6 == 15.0
    assert run_steps(run.in_mode(classic=True)).slowest_ps().mean() / 1e6 == 20.0


def test_chosen_steps_of_one_host_are_one_host():
    (steps,) = run_steps(tools.open_run(str(folder("cpu-xla")))).take(np.arange(2)).hosts
    assert len(steps.times) == 2
