"""Calls, and the runs of compiled programs on a CPU that they launch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.facts.run_steps import host_steps, run_steps
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

CALL = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"


def loop(launched, runs, *, names=None, chain=None, more=()):
    """Steps of 2 that launch, at ``launched``; runs of ``(run_id, start, duration)``.

    Args:
        names: The function of each call; by default the same for all.
        chain: Places of a call and a run that a region of the thread pool connects.
        more: Further events of the pool.
    """
    python, pool = [], [*more]
    for number, start in enumerate(launched):
        name = names[number] if names else "f"
        python += [
            event("train", start, 2, step_num=number, _r=1),
            event(f"PjitFunction({name})", start, 1.5),
            event(CALL, start + 0.5, 0.5),
        ]
        if chain and chain[0] == number:
            python.append(event("ThreadpoolListener::Record", start + 0.6, 0.0, _pt=15, _p=7))
    for place, (run_id, start, duration, *module) in enumerate(runs):
        if chain and chain[1] == place:
            pool.append(event("ThreadpoolListener::StartRegion", start, 0.0, _ct=15, _c=7))
        pool.append(
            event("dot.1", start, duration, hlo_op="dot.1", run_id=run_id, device_ordinal=0,
                  hlo_module=module[0] if module else "jit_f")
        )  # fmt: skip
    end = max(start + duration for _, start, duration, *_ in runs)
    if chain:
        pool.append(event("ThreadpoolListener::StopRegion", end + 1, 0.0))
    return opened(xspace(host(line(*python), line(*pool, id=2, name="tf_XLAPjRtCpuClient/2"))))


def found(run):
    """(start, end) of the time of each step in ns."""
    times = host_steps(run.hosts[0], 0).times
    ends = (times.start_ps + times.own_ps).tolist()
    return [(a / 1000, b / 1000) for a, b in zip(times.start_ps.tolist(), ends, strict=True)]


def test_runs_follow_one_another_in_the_order_of_the_calls():
    run = loop([0, 3, 6], [(5, 1, 10), (6, 11, 10), (7, 21, 10)])
    assert found(run) == [(0, 11), (11, 21), (21, 31)]


def test_the_last_run_belongs_to_the_last_call():
    # The first run was launched before the capture began.
    run = loop([20, 23], [(4, 1, 20), (5, 21, 10), (6, 31, 10)])
    assert found(run) == [(20, 31), (31, 41)]


@pytest.mark.parametrize(
    ("function", "module"),
    [("<lambda>", "jit__lambda"), ("<unnamed function>", "jit__unnamed_function"), ("f", "jit_f")],
)
def test_a_module_has_the_name_of_its_function_without_what_modules_cannot_have(function, module):
    # Another program's runs stand between: only the names tell whose a run is.
    names = [function, "other", function, "other"]
    runs = [(5, 1, 5, module), (6, 6, 1, "jit_other"), (7, 21, 5, module), (8, 26, 1, "jit_other")]
    assert found(loop([0, 3, 20, 23], runs, names=names)) == [(0, 6), (6, 7), (20, 26), (26, 27)]


def test_a_chain_fixes_the_order():
    # The capture ended before the last two of four runs began.
    run = loop([0, 3, 6, 9], [(5, 10, 10), (6, 20, 10)], chain=(0, 0))
    assert found(run) == [(0, 20), (20, 30), (30, 30), (30, 30)]
    cut = run_steps(run)
    assert list(cut.whole.names) == ["train 0", "train 1"]
    assert "what it launched is not in the capture" in cut.notes[-1].message


def test_few_of_many_runs_that_began_before_the_capture_ended():
    """No step waits for results: most calls come during the first run."""
    steps = run_steps(loop([3 * k for k in range(20)], [(5, 1, 58), (6, 59, 1)], chain=(0, 0)))
    assert list(steps.whole.names) == ["train 0", "train 1"]
    assert not steps.is_unusual.any()


def test_a_run_that_had_not_ended_when_the_capture_did():
    waits = [event("ThunkExecutor::Execute (wait for completion)", end, 0.1, run_id=run,
                   device_ordinal=0) for run, end in ((5, 11), (6, 21))]  # fmt: skip
    runs = [(5, 1, 10), (6, 11, 10), (7, 21, 2)]
    run = loop([0, 3, 6], runs, chain=(0, 0), more=waits)
    assert list(run_steps(run).whole.names) == ["train 0", "train 1"]


def test_calls_of_other_functions_launch_none_of_the_runs():
    run = loop([0, 3, 6], [(5, 1, 10, "jit_f"), (9, 11, 10, "jit_f")], names=["f", "g", "f"])
    assert found(run)[0] == (0, 11)
    assert found(run)[1:] == [(11, 11), (11, 21)]


def test_a_launch_alone_is_not_a_step():
    marks = [event("train", 3 * k, 2, step_num=k, _r=1) for k in range(4)]
    calls = [event(CALL, 3 * k + 0.5, 0.5) for k in range(4)]
    steps = run_steps(opened(xspace(host(line(*marks, *calls)))))
    assert steps.n_steps == 0
    assert "no computation was found in them" in steps.notes[0].message


def test_several_devices_tell_the_run():
    calls = "CommonPjRtLoadedExecutable::Execute (jit_f)"
    python, pool = [], []
    for number in range(3):
        python += [
            event("train", 3 * number, 2, step_num=number, _r=1),
            event(calls, 3 * number, 1, run_id=50 + number),
        ]
        pool += [
            event("dot.1", 1 + 20 * number + device, 15, hlo_op="dot.1", run_id=50 + number,
                  device_ordinal=device)
            for device in range(2)
        ]  # fmt: skip
    lines = [line(one, id=2 + n, name=f"tf_XLAPjRtCpuClient/{n}") for n, one in enumerate(pool)]
    run = opened(xspace(host(line(*python), *lines)))
    assert [end for _, end in found(run)] == [17, 37, 57]


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=12),
       st.integers(0, 3))  # fmt: skip
def test_each_run_is_of_its_call(rows, lost):
    """With any durations of calls and runs; the first runs were launched before the capture."""
    launched, runs, now, free = [], [], 0, 0
    for number, (pause, took) in enumerate(rows):
        launched.append(now)
        begin = max(now + 1, free)
        runs.append((100 + number, begin, took))
        free = begin + took
        now += 2 + pause
    kept = min(lost, len(rows) - 1)
    run = loop(launched[kept:], runs)
    ends = [begin + took for _, begin, took in runs[kept:]]
    marks = [start + 2 for start in launched[kept:]]
    assert [end for _, end in found(run)] == [max(pair) for pair in zip(ends, marks, strict=True)]
