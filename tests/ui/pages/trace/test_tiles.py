import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.pages.trace.traces import marks, model, numbers, slices, track
from tfprof.captures.trace import pyramid as pyramids
from tfprof.errors import UsageError
from tfprof.ui.pages.trace.packing import packed
from tfprof.ui.pages.trace.tiles import TILE_PIXELS, marks_between, tile


@pytest.fixture(params=[2, 10**6], ids=["levels", "no levels"], autouse=True)
def few(request, monkeypatch):
    """Both with kept levels, and with all marks made of the slices themselves."""
    monkeypatch.setattr(pyramids, "_FEW", request.param)


def expected(made, k):
    """The marks of a track at a level, by the rule itself: places of the slices of each."""
    groups = []
    for lane in range(len(made.lanes)):
        chosen = made.lanes.slices(lane)
        before = None
        for place in range(len(made)) if chosen is None else chosen.tolist():
            start = int(made.starts[place]) + made.shift_ps
            key = None if made.durations[place] >= 1 << k else start >> k
            if key is None or key != before:
                groups.append((lane, []))
            before = key
            groups[-1][1].append(place)
    return groups


@settings(max_examples=60)
@given(slices, st.integers(0, 10), st.integers(-600, 600), st.integers(1, 500), st.integers(-9, 9))
def test_each_slice_of_a_range_is_in_exactly_one_mark_at_any_zoom(pairs, k, first, span, shift):
    made = track(pairs, shift=shift)
    last = first + span
    found = marks(marks_between(model(made), k, first, last, [0]))
    wanted = []
    for lane, places in expected(made, k):
        begin = made.start_ps(places[0])
        end = made.start_ps(places[-1]) + made.duration_ps(places[-1])
        if begin < last and (end > first or begin >= first):
            busy = int(made.durations[places].sum())
            longest = max(places, key=lambda place: (made.durations[place], -place))
            name = "abc"[int(made.kinds[longest])]
            wanted.append((0, lane, begin, end, len(places), name, places[0], busy))
    assert found == wanted


@settings(max_examples=40)
@given(slices, st.integers(0, 6))
def test_counts_of_tiles_side_by_side_add_up_to_all_slices(pairs, k):
    many = [(start * 40, lasting * 30) for start, lasting in pairs]
    made = track(many)
    width = TILE_PIXELS << k
    first, last = (int(made.starts.min()) // width, int(made.starts.max()) // width)
    begun = 0
    for number in range(first, last + 1):
        for _, _, start, _, count, *_ in marks(tile(model(made), k, number, [0])):
            if start >= number * width:  # the others are in the tile before
                begun += count
    assert begun == len(made)


def test_levels_are_kept_where_they_save_much(monkeypatch):
    monkeypatch.setattr(pyramids, "_FEW", 8)
    made = track([(at * 10, 3) for at in range(4000)])
    [lane] = made.pyramids
    sizes = [len(level.longest) for level in lane.levels]
    assert sizes and all(2 * b <= a for a, b in itertools.pairwise([4000, *sizes]))
    assert lane.n_bytes <= 12 * 4000 + 1000
    assert sum(lane.marks(20, 0, 50_000).counts) == 4000


def test_a_merged_mark_has_the_name_of_its_longest_slice():
    made = track([(0, 1), (2, 4), (8, 1)], kinds=[0, 2, 1])
    [mark] = marks(marks_between(model(made), 6, 0, 64, [0]))
    assert mark == (0, 0, 0, 9, 3, "c", 0, 6)


def test_several_tracks_and_names_of_their_own():
    first = track([(0, 10), (2, 3)])
    second = track([(5, 10)], kinds=[2])
    second = type(second)(
        0, "steps", 2, second.starts, second.durations, second.kinds, second.name_ids,
        renamed={0: 3},
    )  # fmt: skip
    made = model(first, second, names=("a", "b", "c", "train 7"))
    found = marks(marks_between(made, 0, 0, 100, [0, 1]))
    assert [(each[0], each[1], each[5]) for each in found] == [
        (0, 0, "a"), (0, 1, "b"), (1, 0, "train 7"),
    ]  # fmt: skip


def test_names_are_escaped():
    made = model(track([(0, 1)], kinds=[0]), names=("\x1b[31m<b>",))
    assert marks_between(made, 0, 0, 10, [0])["texts"] == ["\\x1b[31m<b>"]


@pytest.mark.parametrize(("k", "tracks"), [(-1, [0]), (63, [0]), (0, [1]), (0, [-1])])
def test_what_is_not_there_is_refused(k, tracks):
    with pytest.raises(UsageError):
        tile(model(track([(0, 1)])), k, 0, tracks)


@given(st.lists(st.integers(-(1 << 60), 1 << 60), max_size=30))
def test_packed_numbers_are_the_same_again(values):
    assert numbers(packed(np.array(values, np.int64), signed=True)) == values
    sizes = [abs(value) for value in values]
    assert numbers(packed(np.array(sizes, np.int64))) == sizes
