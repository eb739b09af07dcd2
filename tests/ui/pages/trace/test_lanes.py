import numpy as np
import pytest
from hypothesis import given

from tests.ui.pages.trace.traces import slices, track
from tfprof.captures.trace.lanes import Lanes, depths


@given(slices)
def test_no_two_slices_of_a_lane_overlap_and_each_is_on_one(pairs):
    made = track(pairs)
    ends = made.starts + made.durations
    seen = []
    for lane in range(len(made.lanes)):
        chosen = made.lanes.slices(lane)
        chosen = np.arange(len(made)) if chosen is None else chosen
        assert (made.starts[chosen[1:]] >= ends[chosen[:-1]]).all()
        assert all(made.lanes.lane_of(int(place)) == lane for place in chosen)
        seen += chosen.tolist()
    assert sorted(seen) == list(range(len(made)))


@given(slices)
def test_what_is_inside_another_slice_is_drawn_below_it(pairs):
    made = track(pairs)
    for place, (start, lasting) in enumerate(
        zip(made.starts.tolist(), made.durations.tolist(), strict=True)
    ):
        for other in range(place):
            around = int(made.starts[other]), int(made.starts[other] + made.durations[other])
            if around[0] <= start and start + lasting < around[1]:
                assert made.lanes.lane_of(place) > made.lanes.lane_of(other)


def test_calls_inside_calls_take_as_many_lanes_as_they_are_deep():
    lanes = track([(0, 100), (10, 20), (12, 5), (40, 20), (110, 5)]).lanes
    assert (len(lanes), lanes.depth, lanes.n_tangled) == (3, 3, 0)
    assert lanes.of_slice.tolist() == [0, 1, 2, 1, 0]


def test_slices_that_overlap_in_part_get_lanes_of_their_own():
    lanes = track([(0, 10), (5, 10), (9, 10), (16, 20)]).lanes
    assert lanes.of_slice.tolist() == [0, 1, 2, 0]
    assert lanes.n_tangled == 4


def test_instants_at_one_time_stand_on_one_lane():
    assert len(track([(5, 0)] * 100).lanes) == 1
    assert len(track([(0, 10), *[(5, 0)] * 100]).lanes) == 2


@pytest.mark.parametrize("n_slices", [0, 1])
def test_no_slice_or_one(n_slices):
    nothing = np.zeros(n_slices, np.int64)
    lanes = Lanes.of(nothing, nothing)
    assert (len(lanes), lanes.depth) == (1, n_slices)


def test_depths_count_what_is_around():
    from tfprof.captures.events.timeline.nesting import nest

    starts, ends = np.array([0, 1, 2, 5, 20]), np.array([10, 4, 3, 9, 30])
    assert depths(nest(np.array([0, 5]), starts, ends)).tolist() == [0, 1, 2, 1, 0]
