"""The source in the capture of each timeline event, also with added and left out events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.timeline.sources import Sources
from tfprof.core.columns import columns


@given(st.data(), st.integers(0, 12))
def test_numbers_and_places_are_those_of_a_list(data, n_sources):
    every = list(range(n_sources))
    order = None
    if data.draw(st.booleans()):  # some events in another order
        order = data.draw(st.permutations(every))[: data.draw(st.integers(0, n_sources))]
    timeline = list(every if order is None else order)
    for place in data.draw(st.lists(st.integers(0, 12), max_size=5)):
        timeline.insert(place, -1)
    added = np.array([place for place, number in enumerate(timeline) if number < 0], np.int64)
    sources = Sources.in_order(n_sources, None if order is None else np.array(order, np.int32))
    sources = sources.with_added(added) if len(added) else sources
    assert sources.of(np.arange(len(timeline))).tolist() == timeline
    expected = [timeline.index(number) if number in timeline else -1 for number in every]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_BLOCK_ROWS", data.draw(st.integers(1, 4)))
        places = sources.places
    assert (every if places is None else places.tolist()) == expected
