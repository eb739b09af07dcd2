"""Laws of the comparison of hosts, on columns alone."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tfprof.captures.events.steps.collectives import CollectiveKind
from tfprof.captures.events.steps.step_times import SPENT, StepTimes
from tfprof.captures.facts import communication
from tfprof.captures.facts.communication import Communication, JointRuns, _kept
from tfprof.captures.facts.host_work import HostWork
from tfprof.captures.facts.joint_collectives import clock_offsets, joint_collectives
from tfprof.captures.facts.slow_hosts import compared, gains, without_own
from tfprof.captures.facts.slow_once import SlowOnce, slow_once

KIND = (CollectiveKind("all-reduce.1"), 0)


def a_work(name, own_ps, *, base_ns=10**18, length_ps=2000):
    """A host with the time of its own work in each step, at whose end a collective ends."""
    own = np.array(own_ps, np.int64)
    steps = np.arange(len(own))
    spent = np.zeros((len(own), len(SPENT)), np.int64)
    spent[:, 2] = own
    wait = length_ps - own
    joint = JointRuns([KIND], steps * 0, steps, steps * length_ps + own, (steps + 1) * length_ps)
    took = np.full(len(own), length_ps)
    times = StepTimes.of_columns(steps, steps * length_ps, took, spent, (0, 0))
    return HostWork(
        name, [f"train {n}" for n in steps], base_ns, took, [times],
        Communication(steps, wait, wait, wait, joint, 0),
    )  # fmt: skip


OWN = arrays(
    np.int64, st.tuples(st.integers(2, 6), st.integers(3, 9)), elements=st.integers(1, 1900)
)


@given(OWN)
def test_the_median_of_the_others(own):
    amounts = own.astype(np.float64)
    plain = [np.median(np.delete(amounts, row, axis=0), axis=0) for row in range(len(own))]
    assert without_own(amounts).tolist() == np.array(plain).tolist()
    by_step = np.sort(amounts, axis=0)
    assert gains(amounts).tolist() == (by_step[-1] - np.median(by_step[:-1], axis=0)).tolist()


def answers(works):
    places = np.arange(len(works[0].duration_ps))
    slow, joint = compared(works, places), joint_collectives(works)
    counts = np.bincount(joint.last, minlength=len(works))
    return {
        work.name: (
            slow.excess_ps(at), slow.interval_ps(at), slow.causes(at),
            joint.waited_ps[at].tolist(), int(counts[at]),
        )
        for at, work in enumerate(works)
    } | {"slowest": works[slow.slowest].name, "straggles": slow.straggles}  # fmt: skip


@settings(max_examples=40)
@given(OWN.filter(lambda own: all(len(set(step)) == len(step) for step in own.T.tolist())),
       st.randoms())  # fmt: skip
def test_the_order_of_hosts_does_not_matter(own, chance):
    works = [a_work(f"w{at}", row) for at, row in enumerate(own.tolist())]
    mixed = list(works)
    chance.shuffle(mixed)
    assert answers(mixed) == answers(works)


@settings(max_examples=40)
@given(OWN, st.integers(-(10**12), 10**12))
def test_a_shifted_clock_changes_only_its_offset(own, ahead_ns):
    works = [a_work(f"w{at}", row) for at, row in enumerate(own.tolist())]
    moved = [*works[:-1], dataclasses.replace(works[-1], unix_base_ns=10**18 + ahead_ns)]
    assert answers(moved) == answers(works)
    before, after = (clock_offsets(each, joint_collectives(each)) for each in (works, moved))
    assert before[:-1] == after[:-1]
    assert after[-1].ahead_ns - before[-1].ahead_ns == pytest.approx(ahead_ns)
    assert after[-1].error_ns == before[-1].error_ns


def test_a_clock_without_a_date_cannot_be_compared():
    works = [a_work("a", [1, 2, 3]), a_work("b", [3, 2, 1], base_ns=None)]
    assert [one.ahead_ns for one in clock_offsets(works, joint_collectives(works))] == [0.0, None]


def test_the_slowest_of_many_is_not_slow_by_chance():
    chance = np.random.default_rng(3)
    works = [a_work(f"w{at:03}", chance.integers(900, 1100, 20)) for at in range(256)]
    slow = compared(works, np.arange(20))
    assert not slow.straggles
    works[17] = a_work("w017", chance.integers(1300, 1500, 20))
    slow = compared(works, np.arange(20))
    assert (slow.straggles, slow.slowest) == (True, 17)
    assert slow.excess_ps(17) == pytest.approx(400, rel=0.1)


def test_of_too_many_collectives_all_hosts_keep_the_same(monkeypatch):
    monkeypatch.setattr(communication, "MOST_COLLECTIVES", 100)
    kinds = [(CollectiveKind(f"all-reduce.{n}"), nth) for n in range(20) for nth in range(3)]
    kept = _kept(kinds, np.full(60, 10))
    assert 1 <= kept.sum() <= 10
    mixed = np.random.default_rng(1).permutation(60)
    assert _kept([kinds[at] for at in mixed], np.full(60, 10)).tolist() == kept[mixed].tolist()
    assert _kept(kinds, np.full(60, 1)).all()
    assert _kept(kinds[:1], np.array([1000])).tolist() == [True]


def slow_in(*hosts, places=None):
    """Single slow steps of hosts, whose steps take 300 as a rule."""
    works = [a_work(f"w{at}", own, length_ps=300) for at, own in enumerate(hosts)]
    return slow_once(works, np.arange(len(hosts[0])) if places is None else places)


def steps_with(slow, n_steps=20, usual=(100,)):
    own = np.resize(usual, n_steps)
    for step, amount in slow.items():
        own[step] = amount
    return own.tolist()


def test_a_step_is_slow_once_if_a_host_loses_more_than_a_step():
    even = steps_with({})
    assert slow_in(even, steps_with({7: 401}), even) == [SlowOnce(1, 7, 401.0, 100.0)]
    assert slow_in(even, steps_with({7: 401}))[0].excess_ps == 301.0
    assert slow_in(even, steps_with({7: 400}), even) == []


def test_noise_is_not_slow_once():
    """The deviation from the usual excess, 50, is 50 as a rule: more than 400 stands out."""
    even = steps_with({})
    noisy = [steps_with({7: 100 + excess}, usual=(100, 200)) for excess in (450, 451)]
    assert [len(slow_in(even, own, even)) for own in noisy] == [0, 1]


def test_what_happens_often_does_not_happen_once():
    even = steps_with({})
    assert slow_in(steps_with({3: 500}), steps_with({7: 500})) == []
    assert len(slow_in(steps_with({3: 500}), even, even, steps_with({3: 600}))) == 2  # one step
    found = slow_in(steps_with({3: 500}, 40), steps_with({7: 600}, 40))
    assert [(one.host, one.step) for one in found] == [(1, 7), (0, 3)]
    assert slow_in(steps_with({3: 500}, 39), steps_with({7: 600}, 39)) == []


def test_few_steps_and_one_host_show_nothing():
    slow = steps_with({1: 900}, 5)
    assert slow_in(slow) == []
    assert len(slow_in(slow, steps_with({}, 5))) == 1
    assert slow_in(slow[:4], steps_with({}, 4)) == []
    assert slow_in(steps_with({9: 900}), steps_with({}), places=np.arange(5, 20))[0].step == 9
