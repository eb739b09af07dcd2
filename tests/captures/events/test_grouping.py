"""Steps: the events that begin and belong to each, and its name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps.eager import ran_eagerly
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.links import joined
from tfprof.captures.events.timeline.nesting import Nesting
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace


def grouped(*planes, classic=False):
    """Group of each event by name (all groups for several events), and the names of the groups."""
    one = opened(xspace(*planes)).hosts[0]
    groups = one.groups(classic=classic)
    found = {}
    for number, group in enumerate(groups.of_event.tolist()):
        found.setdefault(one.timeline.name(number), []).append(group)
    return {name: of[0] if len(of) == 1 else of for name, of in found.items()}, groups.names


def step(name, start, length, number, **stats):
    return event(name, start, length, step_num=number, _r=1, **stats)


def test_a_marker_takes_what_lies_in_it():
    found, names = grouped(
        host(line(step("train", 0, 100, 7), event("a:B", 10, 10), event("c:D", 200, 10)))
    )
    assert found == {"train": 0, "a:B": 0, "c:D": -1}
    assert names == {0: "train 7"}


def test_the_body_of_a_loop_over_a_dataset_is_in_the_step_of_the_loop():
    """Other threads of tf.data run the body; only the id of the run connects them to the loop."""
    loop = "ReduceIterator::Root::Prefetch::Scan"
    found, _ = grouped(
        host(
            line(step("train", 0, 100, 7), step("train", 200, 100, 8)),
            line(
                event(loop, 10, 60), event("InstantiatedCapturedFunction::Run", 15, 50, id=3),
                event(f"{loop}::Map", 70, 20),
                event("InstantiatedCapturedFunction::Run", 72, 10, id=4), id=2,
            ),
            line(
                event("ExecutorState::Process", 20, 40, id=3), event("a/MatMul:MatMul", 22, 30),
                event("ExecutorState::Process", 74, 8, id=4), event("b/Decode:DecodePng", 75, 5),
                id=3,
            ),
        )
    )  # fmt: skip
    assert (found["a/MatMul:MatMul"], found["b/Decode:DecodePng"]) == (0, -1)


def test_a_step_goes_on_on_other_threads_and_devices():
    found, _ = grouped(
        host(
            line(step("train", 0, 100, 1), event("give", 5, 10, _pt=1, _p=9)),
            line(event("take", 20, 200, _ct=1, _c=9), event("op", 30, 5, correlation_id=4), id=2),
        ),
        gpu(
            line(
                event("before", 1, 1), event("kernel", 300, 5, correlation_id=4),
                event("after", 310, 5),
            )
        ),
    )  # fmt: skip
    assert found == {
        "train": 0, "give": 0, "take": 0, "op": 0, "kernel": 0, "before": -1, "after": 0,
    }  # fmt: skip


def test_asynchronous_events_are_reached_by_links_only():
    found, _ = grouped(
        host(
            line(
                step("train", 0, 100, 1), event("give", 5, 10, _pt=1, _p=9),
                event("alone", 20, 5, _a=1),
            ),
            line(event("linked", 20, 5, _ct=1, _c=9, _a=1), id=2),
        )
    )  # fmt: skip
    assert found["alone"] == -1
    assert found["linked"] == 0


def test_roots_of_a_lower_level_lie_in_the_step_of_a_higher_one():
    found, names = grouped(
        host(
            line(
                event("BatchingSessionRun", 50, 10), event("ProcessBatch", 0, 100),
                event("SessionRun", 60, 5, _r=1), event("BatchingSessionRun", 200, 10),
            )
        )
    )  # fmt: skip
    # The batch has level 2 and comes first; then the runs in it already have a group.
    assert found == {"ProcessBatch": 0, "BatchingSessionRun": [0, 1], "SessionRun": 0}
    assert names == {0: "ProcessBatch 0", 1: "BatchingSessionRun 1"}


def test_a_root_inside_another_of_its_level_begins_no_step():
    found, names = grouped(
        host(line(step("train", 0, 100, 1), step("inner", 10, 20, 5)), line(event("x", 0, 1), id=2))
    )
    assert found == {"train": 0, "inner": 0, "x": -1}
    assert names == {0: "train 1"}


def test_a_root_that_a_link_leads_to_begins_no_step_either():
    found, names = grouped(
        host(
            line(step("train", 0, 100, 1), event("give", 5, 10, _pt=1, _p=9)),
            line(event("FunctionRun", 1, 50, _r=1, _ct=1, _c=9), id=2),
        )
    )
    assert found["FunctionRun"] == 0
    assert names == {0: "train 1"}


def test_of_two_steps_the_first_keeps_what_both_lead_to():
    found, _ = grouped(
        host(
            line(
                step("train", 0, 100, 1), event("give", 5, 1, _pt=1, _p=9),
                step("train", 100, 100, 2), event("give", 105, 1, _pt=1, _p=9),
            ),
            line(event("take", 1, 50, _ct=1, _c=9), id=2),
        )
    )  # fmt: skip
    assert found["train"] == [0, 1]
    assert found["take"] == 0


def test_functions_of_input_pipelines_begin_no_step():
    found, names = grouped(
        host(
            line(event("InstantiatedCapturedFunction::Run", 0, 50, id=5)),
            line(event("FunctionRun", 0, 50, _r=1, id=5), event("FunctionRun", 60, 5, _r=1, id=6),
                 id=2),
        )
    )  # fmt: skip
    assert found["FunctionRun"] == [-1, 0]
    assert names == {0: "0"}


def test_iterations_of_loops_are_steps_only_in_the_reference():
    def process(start, iteration):
        return event("ExecutorState::Process", start, 8, id=3, iter_num=iteration)

    planes = host(
        line(step("train", 0, 90, 1), process(10, 0), process(30, 1)),
        line(process(20, 0), event("op", 21, 2), process(40, 1), id=2),
        line(event("ExecutorState::Process", 50, 8, id=4, iter_num=0), id=3),
    )
    assert grouped(planes)[1] == {0: "train 1"}
    found, names = grouped(planes, classic=True)
    assert found["ExecutorState::Process"] == [0, 1, 0, 1, -1]
    assert found["op"] == 0
    assert found["train"] == -1  # roots of all other kinds do not count
    assert names == {0: "0", 1: "1"}


@pytest.mark.parametrize("classic, expected", [(True, {}), (False, {0: "train 1"})])
def test_one_loop_of_the_other_runtime_hides_all_steps_only_in_the_reference(classic, expected):
    _, names = grouped(
        host(line(step("train", 0, 100, 1), event("WhileOp-StartBody", 10, 5))), classic=classic
    )
    assert names == expected


def test_names_of_steps():
    _, names = grouped(
        host(
            line(
                event("train", 0, 10, _r=1),
                event("SessionRun", 20, 10, _r=1),
                event("SessionRun", 40, 10, _r=1, graph_type="Train"),
                event("test", 60, 10, _r=1, step_num=4, iter_num=9),
                event("TraceContext", 80, 10, graph_type="Eval"),
            )
        )
    )
    assert names == {0: "train 0", 1: "1", 2: "Train 2", 3: "test 9", 4: "Eval 4"}


def test_groups_in_a_file_are_taken():
    found, names = grouped(
        host(
            line(
                step("train", 0, 100, 1), event("a:B", 10, 5, group_id=5, step_name="train 5"),
                event("c:D", 20, 5, group_id=6), event("e:F", 30, 5, group_id="7"),
            )
        )
    )  # fmt: skip
    assert found == {"train": -1, "a:B": 5, "c:D": 6, "e:F": -1}
    assert names == {5: "train 5", 6: "6"}


@given(st.data())
def test_all_go_up_as_each_does_alone(data):
    n_events = data.draw(st.integers(1, 12))
    # Parents come before their children; links lead anywhere, also in cycles.
    parents = [data.draw(st.integers(-1, event - 1)) for event in range(n_events)]
    place = st.integers(0, n_events - 1)
    pairs = data.draw(st.lists(st.tuples(place, place), max_size=20))
    sources, targets = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    forest = Forest(
        range(n_events),
        Nesting(np.array(parents), np.zeros(n_events, np.int64)),
        joined([(sources, targets)], n_events),
    )
    is_wanted = np.array(data.draw(st.lists(st.booleans(), min_size=n_events, max_size=n_events)))
    events = np.array(data.draw(st.lists(place, max_size=5)), np.int64)
    found = forest.nearest_of_each(events, lambda _, above: is_wanted[above])
    assert found.tolist() == [
        forest.nearest(event, is_wanted.__getitem__, itself=False) for event in events.tolist()
    ]


def test_no_events_no_steps():
    assert grouped(host()) == ({}, {})


def eager(*planes):
    one = opened(xspace(*planes)).hosts[0]
    found = ran_eagerly(one.forest())
    return {one.timeline.name(e): bool(is_eager) for e, is_eager in enumerate(found.tolist())}


def test_the_nearest_eager_call_decides_whether_an_op_ran_eagerly():
    found = eager(
        host(
            line(
                event("EagerExecute", 0, 50, is_func=0), event("one:Op", 5, 10),
                event("give", 20, 5, _pt=1, _p=3), event("none:Op", 60, 5),
            ),
            line(event("take", 30, 10, _ct=1, _c=3), event("other:Op", 31, 2), id=2),
        )
    )  # fmt: skip
    assert found == {
        "EagerExecute": True, "one:Op": True, "give": True, "none:Op": False, "take": True,
        "other:Op": True,
    }  # fmt: skip


def test_ops_of_a_function_did_not_run_eagerly():
    found = eager(
        host(
            line(
                event("EagerExecute", 0, 100, is_func=1), event("f:Op", 5, 10),
                event("EagerKernelExecute", 20, 50),
            )
        )
    )  # fmt: skip
    assert found["f:Op"] is False
