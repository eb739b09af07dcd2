"""Collectives of devices, and the part of their time that computation hides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.captures.tools.tpus import at, op, tpu
from tfprof.captures.events.steps.collectives import (
    CollectiveKind,
    DeviceSpans,
    DeviceWork,
    communication_times,
    exposed,
)
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.events.timeline.collective_names import (
    is_collective_instruction,
    is_collective_op,
    n_replica_groups,
)
from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.device_work import device_work
from tfprof.core.columns.numerals import LARGEST
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.tools import pod


@pytest.mark.parametrize(
    "name",
    ["all-reduce.3", "all-reduce-start", "psum.7", "psum_invariant.7", "psum_scatter.1",
     "all_gather.2", "ppermute", "ragged-all-to-all.1", "reduce-scatter.1"],
)  # fmt: skip
def test_instructions_that_are_collectives(name):
    assert is_collective_instruction(name)


@pytest.mark.parametrize("name", ["dot.1", "psummary.1", "reduce.4", "all", "gather.1", "pmaxpool"])
def test_instructions_that_are_none(name):
    assert not is_collective_instruction(name)


def test_types_of_ops():
    assert all(map(is_collective_op, ("CollectiveReduceV2", "CollectiveGather", "NcclAllReduce")))
    assert not any(map(is_collective_op, ("CollectiveInitializeCommunicator", "MatMul")))


def test_groups_of_devices():
    texts = {"{{0,1},{2,3}}": 2, "{{0,1,2,3}}": 1, "[4,2]<=[2,4]T(1,0)": 4, "[1,8]<=[8]": 1,
             "{}": 1, "": 1, "[99999999999999999999,1]<=[8]": LARGEST, "[²,1]<=[2]": 1,
             "[x": 1}  # fmt: skip
    assert {text: n_replica_groups(text) for text in texts} == texts


def spans(rows):
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    return DeviceSpans(*(columns or [np.zeros(0, np.int64)] * 4))


def work(together, alone):
    return DeviceWork(
        (CollectiveKind("a"),), np.zeros(len(together), np.int64), spans(together), spans(alone)
    )


SPAN = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 30), st.integers(0, 12)).map(
    lambda row: (row[0], row[1], row[1] * 50 + row[2], row[1] * 50 + row[2] + row[3])
)


def covered(rows):
    return {moment for row in rows for moment in range(row[2], row[3])}


@given(st.lists(SPAN, max_size=6), st.lists(SPAN, max_size=6))
def test_exposed_is_what_no_computation_covers(together, alone):
    found = exposed(work(together, alone))
    pieces = zip(found.group.tolist(), found.start_ps.tolist(), found.end_ps.tolist(), strict=True)
    by_group = {(group, moment) for group, start, end in pieces for moment in range(start, end)}
    bare = covered(together) - covered(alone)
    assert by_group == {(moment // 50, moment) for moment in bare}


@given(st.lists(SPAN, min_size=1, max_size=6), st.lists(SPAN, max_size=6))
def test_times_of_devices_in_steps(together, alone):
    steps = np.array([0, 1])
    times = StepTimes.of_columns(
        steps, steps * 50 + 5, np.array([20, 30]), np.zeros((2, 1), np.int64), (0, 0)
    )
    found = communication_times(work(together, alone), times)
    for row, device in enumerate(sorted({one[0] for one in together})):
        for step, inside in enumerate((set(range(5, 25)), set(range(55, 85)))):

            def own(rows, device=device, step=step, inside=inside):
                return covered([one for one in rows if one[:2] == (device, step)]) & inside

            assert found.together_ps[row, step] == len(own(together))
            assert found.exposed_ps[row, step] == len(own(together) - own(alone))


def test_a_collective_that_a_tpu_starts_and_waits_for_later():
    start = "%all-reduce-start.1 = f32[8] all-reduce-start(f32[8] %g), replica_groups={{0,1}}"
    done = "%all-reduce-done.2 = f32[8] all-reduce-done(f32[8] %all-reduce-start.1)"
    run = opened(
        xspace(
            tpu(
                steps=[at("0", 0, 100), at("1", 100, 100)],
                modules=[at("jit_f(1)", 0, 100), at("jit_f(1)", 100, 100)],
                ops=[
                    each
                    for begin in (0, 100)
                    for each in (
                        op(start, "all-reduce-start", begin + 10, 5),
                        op("%fusion.1 = f32[8] fusion()", "loop fusion", begin + 15, 60),
                        op(done, "all-reduce-done", begin + 75, 20),
                    )
                ],
            )
        )
    )
    found = device_work(run.hosts[0])
    assert [kind.name for kind in (found.kinds[at] for at in found.which)] == [
        "all-reduce-start.1"
    ] * 2
    assert (found.together.start_ps // 10**6).tolist() == [10, 110]
    assert (found.together.end_ps // 10**6).tolist() == [95, 195]
    bare = exposed(found)
    assert int((bare.end_ps - bare.start_ps).sum()) == 2 * 25 * 10**6


def test_a_cpu_that_waits_in_a_collective_does_not_compute():
    def of(name, start, duration):
        return event(name, start, duration, hlo_op=name)

    run = opened(
        xspace(
            host(
                line(event("train", 0, 1000, step_num=1, _r=1), of("while.1", 100, 500),
                     of("dot.1", 100, 200), of("psum.2", 300, 300)),
                line(event("train", 0, 10), of("dot.2", 350, 50)),
            )
        )
    )  # fmt: skip
    [row] = pod(run).to_rows("workers")
    times = {one.key: row[f"{one.key}_us"] for one in CATEGORIES if row[f"{one.key}_us"]}
    # The ops in `while.1` count, not the loop itself; `dot.2` is outside of steps.
    assert times["device_collectives"] == pytest.approx(0.25)
    [classic] = pod(run, classic=True).to_rows("workers")
    assert classic["device_collectives_us"] == 0
