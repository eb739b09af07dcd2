"""Links between events of different threads and devices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.timeline.links import all_matches, find_links, last_match
from tfprof.captures.events.timeline.threadpool import with_regions
from tfprof.testing.xspace_builders import Unsigned, event, gpu, host, line, timeline_of, xspace


def named_links(*planes, regions=False):
    """Pairs of names of linked events."""
    timeline, found = with_regions(timeline_of(xspace(*planes)))
    links = find_links(timeline, found if regions else None)
    pairs = zip(links.sources.tolist(), links.targets.tolist(), strict=True)
    return [(timeline.name(source), timeline.name(target)) for source, target in pairs]


def test_producers_lead_to_all_consumers_of_the_same_type_and_id():
    found = named_links(
        host(
            line(event("P", 0, 10, _pt=1, _p=7), event("Q", 20, 10, _pt=1, _p=7)),
            line(
                event("C", 5, 1, _ct=1, _c=7),
                event("D", 7, 1, _ct=2, _c=7),
                event("E", 9, 1, _ct=1, _c=7),
                id=2,
            ),
        )
    )
    assert found == [("P", "C"), ("P", "E"), ("Q", "C"), ("Q", "E")]


def test_signed_and_unsigned_ids_are_one():
    found = named_links(
        host(
            line(event("P", 0, 10, _pt=1, _p=-1)),
            line(event("C", 5, 1, _ct=1, _c=Unsigned(2**64 - 1)), id=2),
        )
    )
    assert found == [("P", "C")]


def test_a_text_is_not_an_id():
    found = named_links(
        host(line(event("P", 0, 10, _pt=1, _p="7")), line(event("C", 5, 1, _ct=1, _c="7"), id=2))
    )
    assert found == []


def many(n_producers, n_consumers):
    producers = [event(f"P{n}", n, 1, _pt=1, _p=7) for n in range(n_producers)]
    consumers = [event(f"C{n}", n, 1, _ct=1, _c=7) for n in range(n_consumers)]
    return named_links(host(line(*producers), line(*consumers, id=2)))


def test_an_id_of_64_producers_and_64_consumers_ties_nothing():
    assert len(many(63, 64)) == 63 * 64
    assert len(many(64, 63)) == 64 * 63
    assert many(64, 64) == []


def test_the_last_executor_of_a_step_leads_to_its_input_op():
    executors = [
        event("ExecutorState::Process", start, 5, id=3, iter_num=0, mark=start) for start in (0, 9)
    ]
    timeline = timeline_of(
        xspace(
            host(
                line(*executors, event("ExecutorState::Process", 20, 5, id=3, iter_num=1)),
                line(
                    event("IteratorGetNextOp::DoCompute", 2, 1, id=3, iter_num=0),
                    event("IteratorGetNextAsOptionalOp::DoCompute", 4, 1, id=3, iter_num=1),
                    event("IteratorGetNextOp::DoCompute", 6, 1, id=3),
                    id=2,
                ),
            )
        )
    )
    links = find_links(timeline)
    assert links.sources.tolist() == [1, 2]
    assert links.targets.tolist() == [3, 4]


EXECUTORS = (
    line(event("ExecutorState::Process", 10, 9, id=3, iter_num=0, mark=0), id=1),
    line(event("ExecutorState::Process", 14, 9, id=3, iter_num=0, mark=4), id=2),
    line(event("ExecutorState::Process", 14, 5, id=3, iter_num=0, mark=5), id=3),
    line(event("ExecutorState::Process", 14, 5, id=3, iter_num=0, mark=6), id=4),
    line(event("ExecutorState::Process", 18, 5, id=3, iter_num=0, mark=8), id=5),
    line(event("ExecutorState::Process", 0, 1, id=9, iter_num=0, mark=9), id=6),
)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (2, 0, 5, 4, 3, 1)])
@pytest.mark.parametrize(("start", "mark"), [(9, 0), (10, 0), (13, 0), (14, 6), (17, 6), (18, 8)])
def test_the_executor_that_began_last_leads_to_its_input_op(order, start, mark):
    """In any order of threads; of equal starts the shortest, then the highest thread."""
    consumer = event("IteratorGetNextOp::DoCompute", start, 1, id=3, iter_num=0)
    threads = [*(EXECUTORS[place] for place in order), line(consumer, id=7)]
    timeline, regions = with_regions(timeline_of(xspace(host(*threads))))
    links = find_links(timeline, regions)
    source = dict(zip(links.targets.tolist(), links.sources.tolist(), strict=True))
    (target,) = np.flatnonzero(timeline.named("IteratorGetNextOp::DoCompute".__eq__)).tolist()
    assert timeline.stat("mark").at(np.array([source[target]])).tolist() == [mark]


def test_launches_lead_to_kernels_by_correlation():
    found = named_links(
        host(line(event("launch", 0, 5, correlation_id=3), event("other", 6, 1))),
        gpu(
            line(event("kernel", 9, 5, correlation_id=3), event("orphan", 20, 1, correlation_id=4))
        ),
    )
    assert found == [("launch", "kernel")]


REGION = (
    event("ThreadpoolListener::StartRegion", 10, 0, _ct=15, _c=3),
    event("work", 11, 2),
    event("ThreadpoolListener::StopRegion", 20, 0),
)


def test_regions_are_tied_to_who_gave_the_work():
    planes = host(line(event("P", 0, 10, _pt=15, _p=3)), line(*REGION, id=2))
    start = "ThreadpoolListener::StartRegion"
    assert named_links(planes) == [("P", start)]  # as in the reference
    assert named_links(planes, regions=True) == [
        ("P", start), ("P", "ThreadpoolListener::Region"),
    ]  # fmt: skip


def test_a_region_goes_from_the_last_start_to_the_stop():
    timeline = timeline_of(
        xspace(
            host(
                line(
                    event("ThreadpoolListener::StartRegion", 5, 0, _c=1),
                    *REGION,
                    event("ThreadpoolListener::StopRegion", 30, 0),
                )
            )
        )
    )
    with_them, regions = with_regions(timeline)
    spans = [
        (int(with_them.starts_ps[e]), int(with_them.ends_ps[e])) for e in regions.events.tolist()
    ]
    assert spans == [(10_000, 30_000), (10_000, 20_000)]
    assert regions.consumers.tolist() == [3, 3]
    assert (np.diff(with_them.starts_ps) >= 0).all()


def test_no_region_without_a_consumer_or_across_threads():
    timeline = timeline_of(
        xspace(
            host(
                line(event("ThreadpoolListener::StartRegion", 5, 0)),
                line(event("ThreadpoolListener::StartRegion", 5, 0, _c=1), id=2),
                line(event("ThreadpoolListener::StopRegion", 9, 0), id=3),
            )
        )
    )
    with_them, regions = with_regions(timeline)
    assert not len(regions.events)
    assert len(with_them) == len(timeline)


def test_devices_have_no_regions():
    timeline = timeline_of(xspace(gpu(line(*REGION))))
    with_them, regions = with_regions(timeline)
    assert not len(regions.events)
    assert len(with_them) == 3


ids = st.sampled_from((0, 1, 2, -(2**63), 2**63 - 1))  # next to each other, or far apart
keyed = st.lists(st.tuples(ids, st.integers(0, 2)), max_size=8)


def side(keys):
    return np.arange(len(keys)), np.array(keys, np.int64).reshape(-1, 2).T


@given(keyed, keyed, st.integers(0, 3))
def test_matches_are_those_of_two_loops(above, below, most):
    found = all_matches(side(above), side(below), most)
    pairs = [
        (p, c)
        for p, key in enumerate(above)
        for c, other in enumerate(below)
        if key == other and not (most and min(above.count(key), below.count(key)) >= most)
    ]
    assert sorted(zip(*(column.tolist() for column in found), strict=True)) == pairs
    last = {key: p for p, key in enumerate(above)}
    expected = [(last[key], c) for c, key in enumerate(below) if key in last]
    found = last_match(side(above), side(below))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
