"""Nesting of events: partial overlaps, asynchronous events, ties; native code equals NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps import eager, grouping
from tfprof.captures.events.steps.eager import _followed
from tfprof.captures.events.steps.grouping import spread_each
from tfprof.captures.events.timeline import nesting
from tfprof.captures.events.timeline.links import joined
from tfprof.captures.events.timeline.nesting import Nesting, nest, nest_pure
from tfprof.core.wire.compiled import native_module

NATIVE = native_module("nesting")
needs_native = pytest.mark.skipif(NATIVE is None, reason="the extension is not built")


def nested(*spans, first=None, alone=()):
    starts, ends = (np.array(column, np.int64) for column in zip(*spans, strict=True))
    is_alone = np.isin(np.arange(len(spans)), alone)
    found = nest(np.array(first or [0, len(spans)]), starts, ends, is_alone)
    return found.parents.tolist(), found.ends.tolist()


def test_parents_are_the_innermost_that_enclose():
    assert nested((0, 100), (10, 50), (20, 30), (60, 70)) == ([-1, 0, 1, 0], [4, 3, 3, 4])


def test_an_event_that_reaches_out_closes_what_it_reaches_out_of():
    # The second overlaps with the first only partially, so they are siblings. The third lies in
    # both, and is a child of the second.
    assert nested((0, 50), (40, 90), (42, 48)) == ([-1, -1, 1], [1, 3, 3])


def test_what_was_closed_encloses_nothing_more():
    # The last one lies in the first by time, but the second has closed the first.
    assert nested((0, 50), (40, 90), (45, 95), (46, 49)) == ([-1, -1, -1, 2], [1, 2, 4, 4])


def test_equal_spans_nest_in_their_order():
    assert nested((0, 10), (0, 10), (0, 10)) == ([-1, 0, 1], [3, 3, 3])


def test_events_that_touch_are_beside_each_other():
    assert nested((0, 10), (10, 20)) == ([-1, -1], [1, 2])


def test_an_event_of_no_length_lies_in_what_ends_there():
    assert nested((0, 10), (10, 10)) == ([-1, 0], [2, 2])


def test_lines_do_not_enclose_each_other():
    assert nested((0, 100), (10, 20), first=[0, 1, 2]) == ([-1, -1], [1, 2])


def test_asynchronous_events_enclose_nothing_and_lie_in_nothing():
    found = nested((0, 100), (5, 90), (10, 20), alone=[1])
    assert found == ([-1, -1, 0], [3, 2, 3])


def test_asynchronous_events_at_the_end_of_a_line_belong_to_no_other():
    found = nested((0, 10), (5, 9), (0, 8), first=[0, 2, 3], alone=[1])
    assert found == ([-1, -1, -1], [2, 2, 3])


def test_sums_of_children_are_those_of_direct_ones():
    found = nest(np.array([0, 3]), np.array([0, 10, 20]), np.array([100, 50, 30]))
    assert found.sums_of_children(np.array([100, 40, 10])).tolist() == [40, 10, 0]


def test_the_nearest_value_is_ones_own_or_that_of_what_is_around():
    found = nest(np.array([0, 4]), np.array([0, 1, 2, 200]), np.array([100, 50, 30, 300]))
    assert found.nearest(np.array([7, -1, -1, -1])).tolist() == [7, 7, 7, -1]
    assert found.nearest(np.array([7, 0, -1, 3])).tolist() == [7, 0, 0, 3]
    some = np.array([2, -1, 3, 2])
    assert found.nearest_of(some, np.array([7, -1, -1, -1])).tolist() == [7, -1, -1, 7]
    assert found.nearest_among(some, np.array([1, 3])).tolist() == [1, -1, 3, 1]


def test_nearest_of_events_that_are_nested_deeply():
    deep = Nesting(np.arange(-1, 199), np.full(200, 200))
    values = np.where(np.arange(200) == 3, 5, -1)
    events = np.array([199, 2, 3, 150])
    assert deep.nearest_of(events, values).tolist() == [5, -1, 5, 5]
    assert deep.nearest_of(events, np.full(200, -1)).tolist() == [-1] * 4


@st.composite
def lines(draw):
    """Lines of events in order of time, and which of the events stand alone."""
    columns, first = [], [0]
    for _ in range(draw(st.integers(0, 3))):
        line = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=12))
        line = sorted(line, key=lambda event: (event[0], -event[1]))
        columns += [(start, start + length) for start, length in line]
        first.append(len(columns))
    alone = draw(st.lists(st.booleans(), min_size=len(columns), max_size=len(columns)))
    starts, ends = (np.array([c[side] for c in columns], np.int64) for side in (0, 1))
    return np.array(first), starts, ends, np.array(alone, np.bool_)


def by_definition(first, starts, ends, is_alone):
    """The stack of the reference (``ConnectIntraThread``)."""
    parents, behind = [-1] * len(starts), list(range(1, len(starts) + 1))
    for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        stack = []
        for event in range(begin, end):
            if is_alone[event]:
                continue
            while stack and not ends[event] <= ends[stack[-1]]:
                behind[stack.pop()] = event
            parents[event] = stack[-1] if stack else -1
            stack.append(event)
        for event in stack:
            behind[event] = end
    return parents, behind


@pytest.mark.parametrize("rounds", [0, 1, 500])
@given(columns=lines())
def test_numpy_does_as_the_reference(rounds, columns):
    """With few rounds it takes events one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "_MOST_ROUNDS", rounds)
        found = nest_pure(*columns)
    assert (found.parents.tolist(), found.ends.tolist()) == by_definition(*columns)


@needs_native
@pytest.mark.parametrize("width", [np.int32, np.int64])
@given(columns=lines())
def test_the_extension_does_as_the_reference(width, columns):
    first, starts, ends, is_alone = columns
    parents, behind = np.empty(len(starts), width), np.empty(len(starts), width)
    NATIVE.nest(first, starts, ends, is_alone.view(np.uint8), parents, behind)
    assert (parents.tolist(), behind.tolist()) == by_definition(*columns)


def filled_from(found, values):
    """Marks of events; all events inside a marked one have a mark."""
    return found.nearest(np.minimum(values, 1).astype(np.int8))


WIDTHS = (np.int8, np.int16, np.int32, np.int64)


@given(lines(), st.data())
def test_both_ways_fill_and_spread_the_same(columns, data):
    found = nest(*columns)
    size = len(found.parents)
    values = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size)))
    values = values.astype(np.int64)
    places = st.integers(0, max(size - 1, 0))
    pairs = data.draw(st.lists(st.tuples(places, places), max_size=10 if size else 0))
    sources, targets = (np.array([p[side] for p in pairs], np.int64) for side in (0, 1))
    links = joined([(sources, targets)], size)
    groups = np.where(columns[3], -2, -1).astype(np.int64)
    answers = []
    for is_native in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nesting, "is_native", lambda on=is_native: on)
            for module in (grouping, eager):
                patch.setattr(module, "is_native", lambda on=is_native: on)
            spread_to = groups.copy()
            begins = spread_each(found.ends, links, range(0, size, 2), spread_to)
            followed = _followed(found, links, filled_from(found, values))
            filled = [found.nearest(values.astype(width)).tolist() for width in WIDTHS]
            assert filled[0] == found.nearest_of(np.arange(size), values).tolist()
            assert filled == filled[:1] * len(WIDTHS)
            answers.append((filled[0], begins, spread_to.tolist(), followed.tolist()))
    assert answers[0] == answers[1]


@needs_native
@pytest.mark.parametrize(
    "first, starts, ends",
    [([0, 3], [0], [1]), ([0, 2, 1], [0], [1]), ([1, 1], [0], [1]), ([0, 1], [0], [1, 2])],
)
def test_the_extension_refuses_columns_that_do_not_fit(first, starts, ends):
    columns = [np.array(column, np.int64) for column in (first, starts, ends)]
    with pytest.raises(ValueError, match=r"columns|lines"):
        NATIVE.nest(*columns, np.zeros(len(starts), np.uint8), *np.zeros((2, 1), np.int64))


@needs_native
def test_the_extension_refuses_parents_behind_their_children():
    with pytest.raises(ValueError, match="parent"):
        NATIVE.fill_from_parents(np.array([1, -1]), np.array([-1, -1]))


@needs_native
def test_the_extension_refuses_events_that_are_not_there():
    ends, groups = np.array([1, 2]), np.array([-1, -1])
    for targets, roots in ([9], [0]), ([0], [9]):
        with pytest.raises(ValueError, match="not there"):
            NATIVE.spread_each(ends, np.array([0]), np.array(targets), np.array(roots), groups)
