"""The last collective of snapshots, and the one that goes on."""

import pytest

from tests.remote.flight.snapshots import snapshot
from tfprof.remote.hangs.collectives import last_collectives, n_worked
from tfprof.testing.xspace_builders import event, host, line

pytestmark = pytest.mark.one_engine


def op(name, start, run):
    """An op of a run, whose number may be negative."""
    return event(name, start, 5, hlo_op=name, hlo_module="jit_train", run_id=run - 1000)


def run_of(number, *, has_ended=True):
    events = [op("dot.1", number * 100, number), op("tanh.2", number * 100 + 10, number)]
    return [*events, op("psum.3", number * 100 + 20, number)] if has_ended else events


def of(*events):
    return snapshot(host(line(*events)))


def test_a_collective_of_xla_that_goes_on():
    waits = run_of(5, has_ended=False)
    found = last_collectives([of(*run_of(3), *run_of(4)), of(*waits), of()])
    assert found == ("psum.3 of jit_train", "psum.3 of jit_train")
    assert last_collectives([of(*run_of(3), *run_of(4))]) == ("psum.3 of jit_train", "")


def test_one_earlier_run_of_the_program_shows_what_follows():
    other = event("dot.9", 0, 5, hlo_op="dot.9", hlo_module="jit_other", run_id=9)
    waits = run_of(5, has_ended=False)
    assert last_collectives([of(other, *run_of(4), *waits)]).entered == "psum.3 of jit_train"
    assert last_collectives([of(other, *waits)]).entered == ""


def test_ops_that_do_not_reach_the_collective():
    early = [op("dot.1", 500, 5)]
    assert last_collectives([of(*run_of(3), *run_of(4), *early)]).entered == ""


def test_a_collective_that_the_border_of_a_snapshot_has_cut():
    """What follows shows that it has ended."""
    cut = run_of(5, has_ended=False)
    found = last_collectives([of(*run_of(3), *run_of(4), *cut), of(event("train", 0, 9))])
    assert found.entered == ""


def begins(flow, start):
    return event("CollectiveOpV2Kernel::Run", start, 1, name="CollectiveReduceV2", _p=flow)


def ends(flow, start):
    done = event("CollectiveExecutor::ExecuteAsync::Done", start, 1, _c=flow)
    return [done, event("CollectiveReduceV2", start - 5, 6)]


def test_a_collective_of_tensorflow_that_goes_on():
    snapshots = [of(begins(1, 0), *ends(1, 20), begins(2, 40)), of(event("Prefetch", 0, 5))]
    assert last_collectives(snapshots) == ("CollectiveReduceV2", "CollectiveReduceV2")
    assert last_collectives([snapshots[0], of(*ends(2, 10))]).entered == ""


def test_each_beginning_belongs_to_its_end():
    other = event("CollectiveOpV2Kernel::Run", 50, 1, name="CollectiveGatherV2", _p=2)
    assert last_collectives([of(begins(1, 0), other, *ends(1, 60))]).entered == "CollectiveGatherV2"
    assert last_collectives([of(begins(1, 0), other, *ends(2, 60))]).entered == "CollectiveReduceV2"


def test_the_last_is_what_ended_last():
    run = [event(name, start, length, hlo_op=name, hlo_module="jit_f", run_id=7)
           for name, start, length in (("psum.1", 0, 100), ("psum.2", 50, 5))]  # fmt: skip
    assert last_collectives([of(*run)]).completed == "psum.1 of jit_f"


def test_ops_outside_of_compiled_programs_follow_no_run():
    eager = event("CollectiveReduceV2", 530, 5)
    found = last_collectives([of(*run_of(3), *run_of(4), *run_of(5, has_ended=False), eager)])
    assert found == ("CollectiveReduceV2", "psum.3 of jit_train")


def test_what_shows_work():
    noise = [event("ThreadpoolListener::Record", 0, 1), event("end: dot.1", 2, 1)]
    assert n_worked(of(*noise)) == 0
    assert n_worked(of(*noise, event("MatMul", 0, 5))) == 1
    assert n_worked(b"no capture") == 0
    assert last_collectives([b"no capture", of()]) == ("", "")
