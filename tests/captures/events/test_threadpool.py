import pytest

from tfprof.captures.events.steps.forest import build_forest
from tfprof.captures.events.timeline.threadpool import cut_regions, with_regions
from tfprof.testing.xspace_builders import event, gpu, host, line, timeline_of, xspace

WORK = event("work", 50, 20)


def start(at):
    return event("ThreadpoolListener::StartRegion", at, 0, _ct=15, _c=at)


def stop(at):
    return event("ThreadpoolListener::StopRegion", at, 0)


@pytest.mark.parametrize(
    ("events", "cut"),
    [
        ([start(1), WORK], [(1, 70)]),
        ([start(1), stop(9), start(10), WORK], [(10, 70)]),
        ([start(1), start(10), WORK, event("later", 90, 5)], [(10, 95)]),
        ([start(1), WORK, stop(80)], []),
        ([start(1), stop(9), WORK], []),
        ([stop(9), WORK], []),
        ([start(60)], [(60, 60)]),
        ([WORK], []),
    ],
)
def test_a_start_without_a_stop_lasts_until_its_thread_ends(events, cut):
    timeline = timeline_of(
        xspace(host(line(start(2), stop(3), id=1), line(*events, id=2), line(WORK, id=3)))
    )
    starts, ends = cut_regions(timeline)
    begins = timeline.starts_ps[starts] // 1000
    assert list(zip(begins.tolist(), (ends // 1000).tolist(), strict=True)) == cut


def test_devices_have_none():
    assert not len(cut_regions(timeline_of(xspace(gpu(line(start(1), WORK)))))[0])


def test_what_follows_lies_in_it_but_in_the_reference():
    timeline, regions = with_regions(timeline_of(xspace(host(line(start(1), WORK)))))
    assert build_forest(timeline, regions).nesting.parents.tolist() == [-1, 0]
    assert build_forest(timeline).nesting.parents.tolist() == [-1, -1]
    assert timeline.durations_ps[0] == 0


def test_stats_move_with_their_events():
    listed = xspace(
        host(
            line(
                event("ThreadpoolListener::StartRegion", 5, 0, _c=1),
                event("inside", 5, 9, _c=2),
                event("ThreadpoolListener::StopRegion", 9, 0),
                event("ThreadpoolListener::StartRegion", 20, 0, _c=3),
                event("ThreadpoolListener::StopRegion", 30, 0),
                event("after", 40, 1, _c=4),
            )
        )
    )
    timeline, regions = with_regions(timeline_of(listed))
    moved = timeline.stat("_c")
    timeline._stats.clear()
    assert moved.events.tolist() == timeline.stat("_c").events.tolist()
    assert moved.values.tolist() == timeline.stat("_c").values.tolist()
    assert len(regions.events) == 2
