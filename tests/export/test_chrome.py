"""Traces of other programs as Chrome's JSON."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from tests.ui.pages.trace.traces import model, slices, track
from tfprof.captures.trace.model import Counter, Series
from tfprof.export.chrome import chrome_chunks

pytestmark = pytest.mark.one_engine

NS = 1000


def written(trace):
    found = json.loads(b"".join(chrome_chunks(trace)))["traceEvents"]
    return {phase: [e for e in found if e["ph"] == phase] for phase in "MXisfC"}


def test_what_overlaps_in_part_is_in_two_rows():
    own = track([(0, 10 * NS), (5 * NS, 10 * NS), (6 * NS, 2 * NS)])
    found = written(model(own, track([(0, NS)], name="other"), flows=[(1, 0, 0, 1)]))
    assert [(e["tid"], e["name"], e["ts"], e["dur"]) for e in found["X"]] == [
        (1, "a", 0.0, 0.01), (1, "c", 0.006, 0.002), (3, "b", 0.005, 0.01), (2, "a", 0.0, 0.001),
    ]  # fmt: skip
    titles = {e["tid"]: e["args"]["name"] for e in found["M"] if e["name"] == "thread_name"}
    assert titles == {1: "thread", 3: "thread (row 2)", 2: "other"}
    [begin], [end] = found["s"], found["f"]
    assert (begin["tid"], begin["ts"], end["tid"], end["ts"]) == (2, 0.0, 3, 0.005)
    assert begin["id"] == end["id"] == "0x1"


def test_a_trace_that_begins_before_0_is_moved():
    """Perfetto drops what has a negative time."""
    trace = model(track([(-3 * NS, NS), (2 * NS, NS)]), flows=[(0, 1, 0, 0)])
    series = Series("used", "bytes", np.array([-2 * NS]), np.array([1.0]))
    trace.counters = [Counter(0, "memory", lambda: [series])]
    found = written(trace)
    assert [e["ts"] for e in found["X"]] == [0.0, 0.005]
    assert [e["ts"] for e in found["C"]] == [0.001]
    arrow = [(e["name"], e["ts"]) for e in (*found["s"], *found["f"])]
    assert arrow == [("comes from", 0.0), ("comes from", 0.005)]  # forward in time


@settings(max_examples=60, deadline=None)
@given(slices)
def test_nothing_overlaps_in_part_in_whole_nanoseconds(pairs):
    pairs = [(start * 300, lasting * 300) for start, lasting in pairs]
    found = written(model(track(pairs)))
    assert len(found["X"]) + len(found["i"]) == len(pairs)
    open_ends = {}
    for e in found["X"]:
        start, end = round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)
        stack = open_ends.setdefault(e["tid"], [])
        while stack and stack[-1] <= start:
            stack.pop()
        assert not stack or end <= stack[-1]
        stack.append(end)
