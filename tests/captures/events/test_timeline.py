"""Events of a host in order of time, and those without a place in it."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.timeline.clocks import MOST_NS
from tfprof.core.columns import columns
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import (
    START_NS,
    Reference,
    Unsigned,
    aggregated,
    event,
    gpu,
    host,
    line,
    plane,
    timeline_of,
    xspace,
)


def shown(timeline):
    """Name, start and duration (ns) of each event."""
    columns = (timeline.starts_ps.tolist(), timeline.durations_ps.tolist())
    return [
        (timeline.name(e), start / 1000, length / 1000)
        for e, (start, length) in enumerate(zip(*columns, strict=True))
    ]


def test_events_are_in_order_of_start_and_longer_ones_first():
    timeline = timeline_of(
        xspace(host(line(event("c", 9, 1), event("b", 5, 1), event("a", 5, 3), event("A", 5, 3))))
    )
    assert shown(timeline) == [("a", 5, 3), ("A", 5, 3), ("b", 5, 1), ("c", 9, 1)]


def test_lines_begin_where_they_say():
    timeline = timeline_of(
        xspace(host(line(event("a", 5), start_ns=100), line(event("b", 5), id=2, start_ns=40)))
    )
    assert shown(timeline) == [("a", 65, 1), ("b", 5, 1)]


def test_aggregated_events_are_left_out():
    timeline = timeline_of(xspace(host(line(aggregated("sum", 50), event("a", 5)))))
    assert shown(timeline) == [("a", 5, 1)]


def test_threads_that_other_tracers_saw_are_one_line():
    timeline = timeline_of(
        xspace(
            plane("/host:CUPTI", line(event("launch", 5, 2), id=7)),
            host(line(event("a", 4, 9), id=7), line(event("b", 4), id=8)),
            plane("/host:python-tracer", line(event("py", 1, 50), id=7)),
            plane("/host:NVTX-CUPTI", line(event("range", 1, 50), id=7)),
        )
    )
    assert [(own.id, timeline.events_of(n)) for n, own in enumerate(timeline.lines)] == [
        (7, slice(0, 3)), (8, slice(3, 4)), (2**32, slice(4, 5)),
    ]  # fmt: skip
    assert [name for name, _, _ in shown(timeline)] == ["py", "a", "launch", "b", "range"]


def test_of_equal_stats_the_last_counts_and_ones_own_before_the_shared():
    space = xspace(
        host(
            line(event("a", 0, id=3), event("a", 1), event("b", 2)),
            metadata={"a": {"id": 7, "tf_op": "x:Y"}},
        )
    )
    extra = space.planes[0].lines[0].events[0].stats.add()
    extra.metadata_id, extra.int64_value = (
        space.planes[0].lines[0].events[0].stats[0].metadata_id,
        4,
    )
    timeline = timeline_of(space)
    assert timeline.stat("id").dense(3, missing=-1).tolist() == [4, 7, -1]
    assert [timeline.stat("tf_op").texts[n] for n in timeline.stat("tf_op").values] == ["x:Y"] * 2
    assert timeline.stats_of(0) == {"id": 4, "tf_op": "x:Y"}


def test_kinds_of_stats():
    timeline = timeline_of(
        xspace(
            host(
                line(
                    event("int", 0, s=-1), event("unsigned", 1, s=Unsigned(2**64 - 1)),
                    event("double", 2, s=1.5), event("text", 3, s="t"), event("bytes", 4, s=b"t"),
                    event("reference", 5, s=Reference("t")), event("nothing", 6, s=None),
                )
            )
        )
    )  # fmt: skip
    stat = timeline.stat("s")
    assert stat.is_integer().tolist() == [True, True] + [False] * 5
    assert stat.is_text().tolist() == [False] * 3 + [True] * 3 + [False]
    np.testing.assert_array_equal(stat.floats(), [-1, 2.0**64, 1.5] + [np.nan] * 4)
    assert stat.texts == ["t"]
    assert stat.at(np.array([6, 0, 2, 7])).tolist() == [0, -1, 0, 0]
    assert stat.has(np.array([0, 6, 7])).tolist() == [True, True, False]
    assert stat.among(np.array([1, 7])).values.view(np.uint64).tolist() == [2**64 - 1]
    assert stat.text_ids(7).tolist() == [-1, -1, -1, 0, 0, 0, -1]


def test_a_stat_that_no_event_has():
    timeline = timeline_of(xspace(host(line(event("a", 0)))))
    assert len(timeline.stat("nowhere")) == 0
    assert timeline.stat("nowhere").dense(1, missing=5).tolist() == [5]
    assert timeline.stat("nowhere").at(np.array([0]), missing=5).tolist() == [5]
    assert len(timeline.stat("nowhere").among(np.array([0]))) == 0


def test_what_is_out_of_order_is_found_where_pieces_meet(monkeypatch):
    starts = [5, 1, 2, 3, 3, 2, 9, 0]
    for size in range(1, 9):
        monkeypatch.setattr(columns, "_BLOCK_ROWS", size)
        timeline = timeline_of(
            xspace(
                host(
                    line(*[event(str(n), n, 5) for n in range(3)]),
                    line(*[event("a", n, 10 - n) for n in starts], id=2),
                )
            )
        )
        assert (timeline.starts_ps // 1000).tolist() == [0, 1, 2, *sorted(starts)]
        assert timeline.stat("nowhere").events.tolist() == []


@pytest.mark.parametrize("space", [xspace(), xspace(host()), xspace(host(line()))])
def test_nothing(space):
    timeline = timeline_of(space)
    assert len(timeline) == 0
    assert len(timeline.stat("x")) == 0


@pytest.mark.parametrize(
    "start, duration",
    [(0, -1), (0, 2**62), (2**63 - 1, 5), (-(2**63), 5), (0, -(2**63)), (2**61, 2**61)],
)
def test_events_with_times_that_cannot_be_are_left_out(start, duration):
    space = xspace(host(line(event("good", 10, 5), event("bad", 0), event("good", 20, 5))))
    bad = space.planes[0].lines[0].events[1]
    bad.offset_ps, bad.duration_ps = start, duration
    timeline = timeline_of(space)
    assert shown(timeline) == [("good", 10, 5), ("good", 20, 5)]
    assert timeline.axis.n_impossible == 1
    assert timeline.stat("x").events.tolist() == []


def test_durations_that_together_are_months_are_left_out():
    space = xspace(host(line(*[event("long", n, 1) for n in range(9)], event("short", 9, 1))))
    for happened in space.planes[0].lines[0].events[:9]:
        happened.duration_ps = (1 << 60) - 1
    assert shown(timeline_of(space)) == [("short", 9, 1)]


def test_events_before_their_line_are_where_they_say():
    assert shown(timeline_of(xspace(host(line(event("a", -40, 5), event("b", 0)))))) == [
        ("a", -40, 5), ("b", 0, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("stamp", [0, -(2**63), 2**63 - 1, START_NS + 2 * MOST_NS])
def test_lines_with_a_clock_of_their_own_begin_with_the_others(stamp):
    space = xspace(
        host(line(event("a", 5), event("b", 9)), line(event("c", 7), id=2)),
        gpu(line(event("k", 3, 4), name="Stream")),
    )
    space.planes[1].lines[0].timestamp_ns = stamp
    timeline = timeline_of(space)
    assert timeline.axis.base_ns == START_NS
    assert timeline.axis.far_lines == ["/device:GPU:0 Stream"]
    assert shown(timeline) == [("a", 5, 1), ("b", 9, 1), ("c", 7, 1), ("k", 3, 4)]


def test_the_clock_is_that_of_most_events():
    space = xspace(host(line(event("a", 5)), line(event("b", 7), event("c", 9), id=2)))
    space.planes[0].lines[0].timestamp_ns = 0
    assert timeline_of(space).axis.base_ns == START_NS


def test_lines_hours_apart_are_still_on_one_clock():
    hours = 5 * 3600 * 10**9
    timeline = timeline_of(
        xspace(host(line(event("a", 0)), line(event("b", 0), id=2, start_ns=hours)))
    )
    assert shown(timeline) == [("a", 0, 1), ("b", hours, 1)]
    assert timeline.axis.far_lines == []


events = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 9), st.integers(0, 2)),
    min_size=1, max_size=12, unique_by=lambda one: one[1:3],
)  # fmt: skip


@given(events, st.randoms(use_true_random=False))
def test_the_order_in_a_file_does_not_matter(spans, chance):
    def timeline(order):
        return timeline_of(
            xspace(
                host(line(*[event(name, start, length, n=n) for name, start, length, n in order]))
            )
        )

    shuffled = list(spans)
    random.Random(chance.random()).shuffle(shuffled)
    one, other = timeline(spans), timeline(shuffled)
    assert shown(one) == shown(other)
    assert one.stat("n").values.tolist() == other.stat("n").values.tolist()


def test_unknown_metadata_is_an_event_without_a_name():
    space = pb.XSpace()
    space.planes.add(name="/host:CPU").lines.add(id=1).events.add(metadata_id=99, duration_ps=5)
    timeline = timeline_of(space)
    assert [timeline.name(0), timeline.ops[int(timeline.kinds[0])].name] == ["", ""]
