"""Rules of counting: a run by the reference's rules shares its events with the original run."""

import gc
import pickle
import weakref
from dataclasses import fields, replace

import pytest

from tfprof.captures.facts.device_op_db import device_ops
from tfprof.captures.facts.environment import planes
from tfprof.captures.facts.host_op_db import host_ops
from tfprof.captures.rules import OURS, REFERENCE, Rules
from tfprof.captures.run import run as run_module
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

STEP = event("train", 0, 100, step_num=7, _r=1)
LOST = line(STEP, event("a:Outer", 0, 100), event("b:Inner", 60, 40))


def small():
    return opened(xspace(host(LOST)))


def test_the_reference_departs_from_ours_in_every_rule():
    names = [one.name for one in fields(Rules) if one.name != "name"]
    assert not any(getattr(OURS, name) for name in names)
    assert all(getattr(REFERENCE, name) for name in names)
    assert pickle.loads(pickle.dumps(REFERENCE)) == REFERENCE != OURS


def test_both_modes_are_made_of_the_same_events(monkeypatch):
    built = []
    build = run_module.build_timeline
    monkeypatch.setattr(run_module, "build_timeline", lambda s: built.append(s) or build(s))
    run = small()
    classic = run.in_mode(classic=True)
    for one in (run, classic):
        assert len(one.hosts[0].forest().timeline) == 3
    assert len(built) == 1
    assert classic.hosts[0].timeline is run.hosts[0].timeline


def test_a_mode_is_one_run():
    run = small()
    classic = run.in_mode(classic=True)
    assert run.in_mode(classic=False) is run
    assert run.in_mode(classic=True) is classic is classic.in_mode(classic=True)
    assert classic.in_mode(classic=False) is classic, "a run in classic mode stays in it"
    assert (run.rules, classic.rules) == (OURS, REFERENCE)
    assert classic.hosts[0].by(OURS) is run.hosts[0]
    assert run.hosts[0].by(REFERENCE) is classic.hosts[0]
    assert replace(run, hosts=()).rules is OURS


def test_facts_by_rules_are_two_and_others_one():
    run = small()
    one, other = run.hosts[0], run.in_mode(classic=True).hosts[0]
    assert {op.name for op in host_ops(one).ops} == {"a", "b"}
    assert [op.name for op in host_ops(other).ops] == ["a"]
    assert host_ops.together([other]).ops == host_ops(other).ops
    assert planes(one) is planes(other)
    assert device_ops(one) is not device_ops(other)


@pytest.mark.parametrize("classic", [False, True])
def test_what_is_forgotten_does_not_wait_for_the_collector(classic):
    run = small()
    host_ops(run.in_mode(classic=classic).hosts[0])
    one = run.hosts[0]
    gone = weakref.ref(one)
    gc.disable()
    try:
        one.memo.forget()
        del run, one
        assert gone() is None
    finally:
        gc.enable()
