"""Steps of the events of TPUs."""

import pytest

from tests.captures.tools.tpus import at, op, tpu
from tfprof.captures.events.steps.forest import build_forest
from tfprof.captures.events.steps.grouping import find_groups
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import event, host, line, timeline_of, xspace


def grouped(space, *, classic=False):
    timeline = timeline_of(space)
    return timeline, find_groups(build_forest(timeline), rules=REFERENCE if classic else OURS)


def by_name(space, *, classic=False):
    """Groups of events by plane and name, in order of time."""
    timeline, groups = grouped(space, classic=classic)
    found = {}
    for number, group in enumerate(groups.of_event.tolist()):
        plane = timeline.space.planes[timeline.lines[timeline.line_of[number]].plane].name
        found.setdefault((plane[-1], timeline.name(number)), []).append(group)
    return found


def two_cores(first, second):
    """Cores that ran steps with these numbers, each with one instruction."""
    return xspace(
        *(
            tpu(
                number,
                steps=[at(str(n), 10 * n, 8) for n in steps],
                modules=[at("jit_f(1)", 10 * n, 8) for n in steps],
                ops=[op("%fusion", "loop fusion", 10 * n + 1, 5) for n in steps],
            )
            for number, steps in enumerate((first, second))
        )
    )


@pytest.mark.parametrize("classic", [True, False])
def test_without_steps_of_the_host_those_of_the_cores_are_counted(classic):
    found = by_name(two_cores([5, 6], [5, 6]), classic=classic)
    for core in "01":
        assert found[core, "5"] == [0]
        assert found[core, "6"] == [1]
        assert found[core, "%fusion"] == [0, 1]
        assert found[core, "jit_f(1)"] == [0, 1]


def test_steps_of_cores_are_the_same_by_their_number():
    found = by_name(two_cores([5, 6], [6, 7]))
    assert found["0", "6"] == found["1", "6"] == [1]
    assert found["1", "7"] == [2]


def test_in_classic_mode_they_are_the_same_by_their_place():
    found = by_name(two_cores([5, 6], [6, 7]), classic=True)
    assert found["0", "5"] == found["1", "6"] == [0]


def test_steps_are_named_by_their_group():
    timeline, groups = grouped(two_cores([5, 6], [5, 6]))
    assert groups.names == {0: "0", 1: "1"}
    assert {timeline.name(event): name for event, name in groups.step_names.items()} == {
        "5": "0", "6": "1",
    }  # fmt: skip


def test_without_steps_runs_of_a_program_are_counted_by_how_often_it_ran():
    first = tpu(0, modules=[at("jit_init(1)", 0, 1), at("jit_f(2)", 5, 1), at("jit_f(2)", 9, 1)])
    second = tpu(1, modules=[at("jit_f(2)", 5, 1), at("jit_f(2)", 9, 1)])
    found = by_name(xspace(first, second))
    assert found["0", "jit_init(1)"] == [0]
    assert found["0", "jit_f(2)"] == found["1", "jit_f(2)"] == [1, 2]
    assert by_name(xspace(first, second), classic=True)["1", "jit_f(2)"] == [0, 1]


def touching():
    """A run that begins at the end of the previous one, and events that begin there."""
    return xspace(
        tpu(
            modules=[at("jit_f(1)", 0, 10), at("jit_f(1)", 10, 10)],
            ops=[op("%early", "copy", 10, 5), op("%late", "copy", 16, 2)],
        )
    )


def test_what_begins_where_a_run_ends_belongs_to_the_next_one():
    found = by_name(touching())
    assert found["0", "jit_f(1)"] == [0, 1]
    assert found["0", "%early"] == found["0", "%late"] == [1]


def test_in_classic_mode_it_belongs_to_the_run_that_ends():
    found = by_name(touching(), classic=True)
    assert found["0", "jit_f(1)"] == [0, 0]
    assert found["0", "%early"] == [0]
    assert found["0", "%late"] == [1]


def test_an_event_without_length_at_the_end_of_the_last_run_belongs_to_it():
    space = xspace(tpu(modules=[at("jit_f(1)", 0, 10)], ops=[op("%end", "copy", 10, 0)]))
    assert by_name(space)["0", "%end"] == [0]


def led(*, run_id, core_type=None, n_steps=2):
    """Host steps that put programs into the queue of a core; the core counts 27 bits of runs."""
    kind = {} if core_type is None else {"core_type": core_type}
    threads = host(
        line(
            event("train", 0, 100, step_num=7, _r=1),
            event("DoEnqueueProgram", 10, 5, device_ordinal=0, queue_id=3, run_id=run_id, **kind),
            event("train", 200, 100, step_num=8, _r=1),
            event("DoEnqueueProgram", 210, 5, device_ordinal=0, queue_id=3, run_id=6, **kind),
        ),
        line(event("CompleteCallbacks", 900, 5, device_ordinal=0, queue_id=3, run_id=6), id=2),
    )
    queue = {"queue_id": 3, **kind}
    device = tpu(
        steps=[at(str(n), 10 * n, 9) for n in range(n_steps)],
        modules=[at("jit_f(1)", 0, 9, run_id=5, **queue), at("jit_f(1)", 10, 9, run_id=6, **queue)],
        ops=[op("%fusion", "loop fusion", 1, 3), op("%fusion", "loop fusion", 11, 3)],
    )
    return xspace(threads, device)


@pytest.mark.parametrize("core_type", [None, 1])
def test_runs_belong_to_the_host_step_that_put_them_into_the_queue(core_type):
    space = led(run_id=5 + (1 << 27), core_type=core_type)
    found = by_name(space)
    assert found["0", "jit_f(1)"] == found["0", "%fusion"] == [0, 1]
    if core_type is None:
        assert found["U", "CompleteCallbacks"] == [1]
    timeline, groups = grouped(space)
    named = {timeline.name(number): name for number, name in groups.step_names.items()}
    assert named == {"train": "train 8", "0": "train 7", "1": "train 8"}


def test_another_run_leads_nowhere():
    found = by_name(led(run_id=4))
    assert found["0", "jit_f(1)"] == [-1, 1]
    assert found["0", "%fusion"] == [-1, 1]


def test_many_steps_in_one_run_are_a_loop_on_the_device_and_get_no_group():
    found = by_name(led(run_id=5, n_steps=3))
    assert found["0", "2"] == [-1]
    assert found["0", "%fusion"] == [-1, -1]


def test_where_nothing_leads_to_the_cores_their_steps_are_counted_after_the_hosts():
    threads = host(line(event("train", 0, 100, step_num=7, _r=1)))
    device = tpu(steps=[at("5", 0, 9)], modules=[at("jit_f(1)", 0, 9)])
    _, groups = grouped(xspace(threads, device))
    assert groups.names == {0: "train 7", 1: "1"}
    assert by_name(xspace(threads, device))["0", "5"] == [1]
    assert by_name(xspace(threads, device), classic=True)["0", "5"] == [-1]
