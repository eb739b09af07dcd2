"""Calls of allocators, and memory in use at the peak."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.captures.events.made import change
from tfprof.captures.events.ops.memory import dtype_name, live_at, memory_events, peak_of, sampled
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import Unsigned, event, host, line, opened, xspace


def events_of(*lines, classic=False):
    one = opened(xspace(host(*lines))).hosts[0]
    return memory_events(
        one.timeline, one.groups(classic=classic), rules=REFERENCE if classic else OURS
    )


def live_addresses(events, place, **how):
    live = live_at(events, place, **how)
    return [(int(events.address[r]), int(events.allocated_bytes[r])) for r in live.rows], (
        live.unknown_bytes
    )


def test_allocators_by_name_or_number():
    found = events_of(
        line(
            change("+", 0, 1, 10, 10), change("+", 5, 1, 10, 10, allocator_name="cpu"),
            event("MemoryAllocation", 9, 0, addr=3, device_ordinal=2),
            event("MemoryAllocation", 9, 0, addr=3, index_on_host=1, device_ordinal=2),
            event("MemoryAllocation", 9, 0, addr=3),
        )
    )  # fmt: skip
    assert {name: len(events) for name, events in found.items()} == {
        "1": 1, "2": 1, "cpu": 1, "gpu": 1,
    }  # fmt: skip


def test_columns():
    [events] = events_of(
        line(
            change(
                "+", 7, Unsigned(2**64 - 16), 32, 32, tf_op="a/b:Conv2D", region_type="output",
                shape="[2,4]", data_type=19,
            )
        )
    ).values()  # fmt: skip
    assert (events.time_ps[0], events.allocated_bytes[0], events.requested_bytes[0]) == (
        7000, 32, 31,
    )  # fmt: skip
    assert int(events.address[0]) % 2**64 == 2**64 - 16
    assert [events.texts[n] for n in events.text[0]] == ["a/b", "output", "[2,4]"]
    assert (dtype_name(int(events.dtype[0])), events.fragmentation[0]) == ("half", 0.5)


@pytest.mark.parametrize(
    "number, name",
    [(1, "float"), (101, "float_ref"), (14, "bfloat16"), (0, "INVALID"), (100, "INVALID"),
     (-5, "INVALID"), (99, "INVALID"), (2**40, "INVALID")],
)  # fmt: skip
def test_names_of_types(number, name):
    assert dtype_name(number) == name


def test_types_may_be_written_as_names():
    [events] = events_of(line(change("+", 0, 1, 8, 8, data_type="int64"))).values()
    assert dtype_name(int(events.dtype[0])) == "int64"


def test_deallocations_are_named_after_what_they_free():
    [events] = events_of(
        line(
            change("-", 0, 1, 8, 0),
            change("+", 1, 1, 8, 8, tf_op="a:X"), change("+", 2, 1, 8, 8, tf_op="again:X"),
            change("-", 3, 1, 8, 0), change("-", 4, 1, 8, 0),
            change("+", 5, 1, 8, 8, tf_op="b:X"), change("+", 5, 2, 8, 8, tf_op="c:X"),
            change("-", 6, 1, 8, 0),
        )
    ).values()  # fmt: skip
    ops = [events.texts[n] for n in events.text[:, 0].tolist()]
    assert ops == ["", "a", "again", "a", "", "b", "c", "b"]


def test_what_is_in_no_step_is_in_the_one_behind_the_last():
    [events] = events_of(
        line(
            change("+", 0, 1, 8, 8),
            event("train", 10, 20, step_num=1, _r=1), change("+", 15, 2, 8, 16),
            change("+", 40, 3, 8, 24),
            event("train", 50, 20, step_num=2, _r=1), change("+", 55, 4, 8, 32),
        )
    ).values()  # fmt: skip
    assert events.step.tolist() == [0, 0, 1, 1]


TIES = (
    line(change("+", 5, 1, 50, 50), change("+", 30, 1, 50, 20), id=1),
    line(change("+", 9, 2, 50, 50, peak_bytes_in_use=70), change("+", 20, 2, 50, 10), id=2),
    line(change("+", 3, 3, 50, 50), id=3),
)


def test_of_equal_peaks_the_last_in_time_counts_and_in_the_reference_the_last_line():
    [events] = events_of(*TIES).values()
    peak = peak_of(events)
    assert (events.time_ps[peak.place], peak.lifetime_bytes, peak.capacity_bytes) == (
        9000, 70, 1000,
    )  # fmt: skip
    peak = peak_of(events, rules=REFERENCE)
    assert (events.time_ps[peak.place], peak.lifetime_bytes) == (3000, 50)


def test_what_is_in_use():
    [events] = events_of(
        line(
            change("+", 0, 1, 100, 300), change("+", 1, 2, 50, 350), change("-", 2, 1, 100, 250),
            change("+", 3, 1, 70, 320), change("-", 4, 9, 20, 300),
            change("+", 5, 3, 5, 999),
        )
    ).values()  # fmt: skip
    # 300 in use at the end. 70 and 50 are known, so 180 are from before the capture: 200 that
    # were in use at first, less 20 that were freed without an event.
    assert live_addresses(events, 4) == ([(2, 50), (1, 70)], 180)
    assert live_addresses(events, 1) == ([(1, 100), (2, 50)], 200)


def test_what_another_step_allocated_is_only_unknown_in_the_reference():
    [events] = events_of(
        line(
            event("train", 0, 20, step_num=1, _r=1), change("+", 5, 1, 100, 100),
            event("train", 30, 20, step_num=2, _r=1), change("+", 35, 2, 60, 160),
        )
    ).values()  # fmt: skip
    assert live_addresses(events, 1) == ([(1, 100), (2, 60)], 0)
    assert live_addresses(events, 1, only_step=1) == ([(2, 60)], 100)


def test_sizes_beyond_all_memory_do_not_wrap_around():
    rows = [change("+", n, n, 2**63 - 1, 2**63 - 1) for n in range(9)]
    [events] = events_of(line(*rows)).values()
    assert (events.used_bytes > 0).all()
    assert live_at(events, 8).unknown_bytes == 2**60 - 9 * 2**60


def test_sampling_keeps_the_first_largest_of_each_box():
    # Five values in three boxes: one box with one value, then two boxes with two.
    assert sampled(np.array([5, 1, 1, 3, 9]), 3).tolist() == [0, 1, 4]
    assert sampled(np.array([5, 1, 3]), 3).tolist() == [0, 1, 2]
    assert sampled(np.zeros(0, np.int64), 3).tolist() == []


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 9))
def test_sampling_keeps_the_largest_of_all(values, most):
    found = sampled(np.array(values, np.int64), most).tolist()
    assert len(found) == min(len(values), most)
    assert found == sorted(set(found))
    if values:
        assert max(values) in [values[place] for place in found]


changes = st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(1, 50)), max_size=20)


@given(changes)
def test_what_is_in_use_is_what_a_table_of_addresses_holds(rows):
    heap, known = 1000, {}
    made = []
    for time, (is_allocation, address, size) in enumerate(rows):
        if is_allocation:
            heap += size
        else:
            size = known.get(address, size)
            heap -= size
        made.append(change("+" if is_allocation else "-", time, address, size, heap))
        if is_allocation:
            known[address] = size
        else:
            known.pop(address, None)
    if not made:
        return
    [events] = events_of(line(*made)).values()
    live, unknown = live_addresses(events, len(events) - 1)
    assert dict(live) == known
    # Known and unknown memory add up to the allocator's own number.
    assert unknown == heap - sum(known.values())
