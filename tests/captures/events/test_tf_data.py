"""Input pipelines: calls, the times of iterators in them, and their bottlenecks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.captures.events.made import get_next
from tfprof.captures.events.ops import tf_data
from tfprof.captures.events.ops.tf_data import _Walker, find_pipelines
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.core.wire.compiled import native_module
from tfprof.testing.xspace_builders import Unsigned, event, gpu, host, line, opened, xspace

BIG = 2**63 + 5


def pipelines(*lines, classic=False):
    forest = opened(xspace(host(*lines))).hosts[0].forest(classic=classic)
    return find_pipelines(forest, rules=REFERENCE if classic else OURS)


def reported(call):
    """Self time, total time, calls and whether it blocks, by iterator."""
    return {
        number: (t.self_ps // 1000, t.duration_ps // 1000, t.n_calls, t.is_blocking)
        for number, t in call.times.items()
    }


def test_iterators_that_call_each_other():
    found = pipelines(
        line(
            get_next("Root", 0, 100, 1), get_next("Root::Map", 10, 80, 2, 1),
            get_next("Root::Map::TFRecordV2", 20, 30, 3, 2),
            get_next("Root::Map::TFRecordV2", 60, 10, 3, 2),
        )
    )  # fmt: skip
    [pipeline] = found.pipelines
    assert (pipeline.name, pipeline.root, pipeline.feeds_device) == ("Host:0", 1, False)
    [call] = pipeline.calls
    assert reported(call) == {
        1: (20, 100, 1, True), 2: (40, 80, 1, True), 3: (40, 40, 2, True),
    }  # fmt: skip
    assert call.bottleneck == 2  # for equal ones the smaller id
    assert [found.iterators[n].type for n in (1, 2, 3)] == ["Root", "Map", "TFRecord"]


def test_the_slowest_call_comes_first_and_50_micros_are_not_slow():
    found = pipelines(
        line(
            get_next("Root", 0, 50_000, 1), get_next("Root", 60_000, 50_001, 1),
            get_next("Root", 200_000, 10, 1),
        )
    )  # fmt: skip
    [pipeline] = found.pipelines
    assert [call.duration_ps // 1000 for call in pipeline.calls] == [50_001, 50_000, 10]
    assert pipeline.n_slow == 1
    assert (pipeline.min_ps, pipeline.max_ps) == (10_000, 50_001_000)
    assert pipeline.mean_ps == 100_011_000 // 3


ASYNCHRONOUS = (
    line(
        get_next("Root", 0, 100, 1), get_next("Root::Prefetch", 5, 90, 2, 1),
        event("PrefetchConsume", 10, 80, element_id=7),
    ),
    line(
        event("PrefetchProduce", -50, 120, element_id=7),
        get_next("Root::Prefetch::Generator2", -40, 100, 3, 2),
        event("PrefetchProduce", 80, 10, element_id=8),
        get_next("Root::Prefetch::Generator2", 81, 5, 3, 2),
        id=2,
    ),
)  # fmt: skip


def test_what_another_thread_produced_counts_for_the_call_that_consumed_it():
    [pipeline] = pipelines(*ASYNCHRONOUS).pipelines
    # It worked from -40 to 60; the consumer waited from 5 to 60. It is not cut.
    assert reported(pipeline.calls[0]) == {
        1: (10, 100, 1, True), 2: (35, 90, 1, True), 3: (100, 100, 1, True),
    }  # fmt: skip
    assert pipeline.calls[0].bottleneck == 3


def test_what_was_ready_before_held_up_nothing():
    early = line(
        event("PrefetchProduce", -150, 120, element_id=7),
        get_next("Root::Prefetch::Map", -140, 100, 3, 2),
        id=2,
    )
    [pipeline] = pipelines(ASYNCHRONOUS[0], early).pipelines
    assert reported(pipeline.calls[0]) == {
        1: (10, 100, 1, True), 2: (90, 90, 1, True), 3: (100, 100, 1, False),
    }  # fmt: skip
    assert pipeline.calls[0].bottleneck == 2


UNSIGNED = line(
    get_next("Root", 0, 100, Unsigned(BIG)),
    get_next("Root::Map", 10, 50, Unsigned(BIG + 1), Unsigned(BIG)),
)


def test_large_ids_stay_apart_and_are_one_only_in_the_reference():
    found = pipelines(UNSIGNED)
    assert reported(found.pipelines[0].calls[0]) == {
        BIG: (50, 100, 1, True), BIG + 1: (50, 50, 1, True),
    }  # fmt: skip
    assert found.iterators[BIG + 1].parent_id == BIG
    assert reported(pipelines(UNSIGNED, classic=True).pipelines[0].calls[0]) == {
        0: (100, 150, 2, True)
    }  # fmt: skip


def test_negative_ids_are_large_ones():
    found = pipelines(line(get_next("Root", 0, 100, -1)))
    assert found.pipelines[0].root == 2**64 - 1


def test_the_reference_keeps_versions_in_types():
    lines = line(
        get_next("Root", 0, 100, 1), get_next("Root::ParallelInterleaveV4[0]", 10, 50, 2, 1)
    )
    assert pipelines(lines).iterators[2].type == "ParallelInterleave"
    assert pipelines(lines, classic=True).iterators[2].type == "ParallelInterleaveV4[0]"


def test_pipelines_to_devices():
    found = pipelines(
        line(
            get_next("Prefetch", 0, 10, 1),
            get_next("Prefetch", 20, 10, 4),
            event("Iterator::Prefetch::Generator", 40, 5, id=2, parent_id=1),
        )
    )
    assert [(p.name, p.root, p.feeds_device) for p in found.pipelines] == [
        ("Device:0", 1, True), ("Host:0", 4, False),
    ]  # fmt: skip


def test_iterators_without_an_id_are_none():
    assert not pipelines(line(event("Iterator::Root", 0, 100))).pipelines
    assert not pipelines(line(event("Iterator::Root", 0, 100, id="x"))).pipelines
    assert not pipelines(line(event("a:B", 0))).pipelines


def test_circles_end():
    # Each element has its consumer as its producer, which makes two paths at every level.
    circle = [
        one
        for n in range(2)
        for one in (
            event("PrefetchProduce", n * 10, 9, element_id=7),
            get_next("Root::Prefetch", n * 10, 8, 2, 2),
            event("PrefetchConsume", n * 10 + 1, 2, element_id=7),
        )
    ]
    found = pipelines(
        line(get_next("Root", 0, 100, 1)),
        line(*circle, id=2),
        line(get_next("Root", 0, 100, 2), event("PrefetchConsume", 1, 2, element_id=7), id=3),
    )
    cut = {p.root: p.calls[0].is_cut for p in found.pipelines}
    assert cut == {1: False, 2: True}


def test_events_of_devices_are_not_iterators():
    forest = (
        opened(xspace(host(), gpu(line(event("Iterator::Root", 0, 9, id=1))))).hosts[0].forest()
    )
    assert not find_pipelines(forest).pipelines


def test_memory_does_not_grow_with_the_pairs_of_an_element_that_comes_again_and_again():
    n = 1000
    reading = [
        one
        for k in range(n)
        for one in (
            get_next("Root::Prefetch", k * 10, 9, 2, 1),
            event("PrefetchConsume", k * 10 + 1, 2, element_id=7),
        )
    ]
    making = [
        one
        for k in range(n)
        for one in (
            event("PrefetchProduce", k * 10, 9, element_id=7),
            get_next("Root::Prefetch::Generator", k * 10 + 1, 2, 3, 2),
        )
    ]
    [pipeline] = pipelines(
        line(get_next("Root", -1, 10 * n, 1)), line(*reading, id=2), line(*making, id=3)
    ).pipelines
    walker = pipeline.calls[0]._take.func.__self__
    assert len(walker._children) + len(walker._members) == 2 * n


@st.composite
def walks(draw):
    """Events of iterators, some unknown, with children anywhere, even before themselves."""
    n = draw(st.integers(1, 8))
    times = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=n, max_size=n))
    lists = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=3), max_size=2))
    child = st.integers(0, n + len(lists) - 1)
    children = draw(st.lists(st.lists(child, max_size=2), min_size=n, max_size=n))
    walker = object.__new__(_Walker)
    starts, lengths = np.array(times, np.int64).T
    walker._events = np.arange(n)
    walker._starts, walker._ends = starts.copy(), starts + lengths
    walker._iterators = np.array([draw(st.integers(-1, 2)) for _ in range(n)], np.int32)
    walker._ids = [2**63 + 5, 7, 0]
    walker._first_child = np.cumsum([0, *map(len, children)])
    walker._children = np.array([child for own in children for child in own], np.int64)
    walker._first_member = np.cumsum([0, *map(len, lists)])
    walker._members = np.array([member for own in lists for member in own], np.int64)
    walker._times = np.zeros((3, 5), np.int64)
    return walker


@pytest.mark.skipif(native_module("calls") is None, reason="the extension is not built")
@given(walks(), st.integers(1, 60), st.integers(0, 12))
def test_both_ways_take_calls_apart_alike(walker, most_visits, most_levels):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf_data, "_MOST_VISITS", most_visits)
        patch.setattr(tf_data, "_MOST_LEVELS", most_levels)
        for root in range(len(walker._events)):
            patch.setattr(tf_data, "is_native", lambda: True)
            compiled = walker.taken(root)
            patch.setattr(tf_data, "is_native", lambda: False)
            assert compiled == walker.taken(root)
            assert list(compiled.times) == list(walker.taken(root).times)
            assert not walker._times.any()


@pytest.mark.skipif(native_module("calls") is None, reason="the extension is not built")
def test_the_extension_refuses_calls_that_do_not_fit():
    take = native_module("calls").taken
    one, first, none = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(0, np.int64)
    known, order = np.zeros(1, np.int32), np.zeros(1, np.int32)
    no_list = (one, none)
    good = (one, one + 5, known, first, none, *no_list, 0, 9, 9, np.zeros((1, 5), np.int64), order)
    assert take(*good) == (1, False)
    for place, wrong in (
        (1, first), (2, known + 1), (3, one), (3, np.array([0, 1])), (7, 1), (9, 255),
        (10, np.zeros((1, 4), np.int64)), (11, np.zeros(2, np.int32)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"column|room|not there"):
            take(*good[:place], wrong, *good[place + 1 :])
    with pytest.raises(ValueError, match="not there"):
        take(one, one + 5, known, np.array([0, 1]), np.array([3]), *good[5:])
    for first_member, members in (([0, 2], [0]), ([1, 0], [0]), ([0, 1], [3])):
        lists = np.array(first_member), np.array(members)
        with pytest.raises(ValueError, match="not there"):
            take(one, one + 5, known, np.array([0, 1]), np.array([1]), *lists, *good[7:])
