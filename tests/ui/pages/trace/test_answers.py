"""Details, search, time of a range, arrows and counters, against slice by slice."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.pages.trace.traces import model, slices, track
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.trace.model import Series, TraceTrack
from tfprof.core.columns.arrow import Coded
from tfprof.errors import UsageError
from tfprof.ui.pages.trace import details, marks_between, search, spent
from tfprof.ui.pages.trace.data import trace_data


def rows(table):
    def values(cells):
        if isinstance(cells, dict):
            return [cells["texts"][at] for at in values(cells["at"])]
        return cells

    return list(zip(*map(values, table["cells"]), strict=True))


@settings(max_examples=80)
@given(slices, st.integers(-100, 400), st.integers(0, 300))
def test_time_by_name_within_a_range(pairs, first, span):
    made, last = track(pairs), first + span
    ends = made.starts + made.durations
    parents = nest(np.array([0, len(made)]), made.starts, ends).parents
    times, own, counts = Counter(), Counter(), Counter()

    def part(place):
        return max(0, min(int(ends[place]), last) - max(int(made.starts[place]), first))

    for place in range(len(made)):
        start, end = int(made.starts[place]), int(ends[place])
        if not (start < last and (end > first or start >= first)):
            continue
        name = "abc"[int(made.kinds[place])]
        inside = sum(part(other) for other in range(len(made)) if parents[other] == place)
        counts[name] += 1
        times[name] += part(place)
        own[name] += max(0, part(place) - inside)
    found = spent.names_in_range(model(made), first, last, [0])
    assert {row[0]: row[1] for row in rows(found["table"])} == counts
    assert {row[0]: round(row[2] * 1e6) for row in rows(found["table"])} == own
    assert {row[0]: round(row[3] * 1e6) for row in rows(found["table"])} == times
    assert (found["n_events"], found["busy_ps"]) == (counts.total(), own.total())


@given(slices, st.integers(-100, 400), st.integers(0, 300))
def test_events_of_a_range_are_all_of_it(pairs, first, span):
    made = track(pairs)
    found = spent.events_in_range(model(made), first, first + span, [0])
    ends = made.starts + made.durations
    wanted = np.flatnonzero(
        (made.starts < first + span) & ((ends > first) | (made.starts >= first))
    )
    ids = {row[-1] for row in rows(found["table"])}
    assert ids == {f"0.{place}" for place in wanted.tolist()}
    assert found["n_events"] == len(wanted)


def test_only_the_longest_events_are_listed_and_the_table_says_so(monkeypatch):
    monkeypatch.setattr(spent, "MOST_EVENTS", 2)
    found = spent.events_in_range(model(track([(0, 5), (10, 9), (20, 7)])), 0, 100, [0])
    assert [row[-1] for row in rows(found["table"])] == ["0.1", "0.2"]
    assert found["table"]["title"] == "The longest 2 of 3 events"


def test_details_of_an_event():
    first = TraceTrack(
        0, "python", 1, np.array([0, 10, 12, 40]), np.array([100, 20, 5, 20]),
        np.array([0, 1, 2, 1]), np.arange(3),
        lambda places: [json.dumps({"shape": "2x3", "place": int(at)}) for at in places],
        shift_ps=1000, steps=lambda places: Coded(np.zeros(len(places), np.int64), ["train 7"]),
    )  # fmt: skip
    second = track([(50, 10)], name="stream")
    made = model(first, second, names=("run", "$train.py:12 step", "c"), flows=[(0, 1, 1, 0)])
    found = details.event(made, "0.1")
    assert (found["name"], found["start"], found["end"]) == ("$train.py:12 step", 1010, 1030)
    assert (found["self"], found["n_inside"], found["lane"]) == (15, 1, 1)
    assert [each["id"] for each in found["around"]] == ["0.0"]
    assert (found["step"], found["source"]) == ("train 7", "train.py:12")
    assert found["args"] == [["shape", "2x3"], ["place", 1]]
    assert [each["id"] for each in found["outgoing"]] == ["1.0"]
    assert (found["n_incoming"], found["n_outgoing"]) == (0, 1)
    assert details.event(made, "1.0")["incoming"][0]["name"] == "$train.py:12 step"
    assert details.event(made, "0.0")["self"] == 60


@pytest.mark.parametrize("event", ["", "0", "9.0", "0.9", "0.-1", "x.y", "²."])
def test_there_is_no_such_event(event):
    with pytest.raises(UsageError, match="there is no event"):
        details.event(model(track([(0, 1)])), event)


def test_search_counts_by_name_without_regard_to_case():
    made = model(
        track([(0, 5), (10, 9), (20, 7)], kinds=[0, 1, 0]), track([(3, 2)], kinds=[2]),
        names=("MatMul", "Conv2D", "matmul_grad"),
    )  # fmt: skip
    found = search.search(made, "matmul")
    assert (found["n_events"], found["n_names"], found["total_ps"]) == (3, 2, 14)
    assert [row[:2] for row in rows(found["table"])] == [("MatMul", 2), ("matmul_grad", 1)]
    assert search.search(made, "^conv.d$", regex=True)["n_events"] == 1
    assert search.search(made, "")["n_events"] == 0
    with pytest.raises(UsageError, match="regular expression"):
        search.search(made, "(", regex=True)


@given(st.lists(slices, min_size=1, max_size=3))
def test_from_one_find_to_the_next_all_are_seen_in_order_of_time(many):
    tracks = [track(pairs) for pairs in many]
    made = model(*tracks)
    wanted = sorted(
        (each.start_ps(place), number, place)
        for number, each in enumerate(tracks)
        for place in range(len(each))
        if each.kinds[place] != 1
    )
    for backwards in (False, True):
        at, seen = "", []
        start = -(10**6) if not backwards else 10**6
        for rank in range(len(wanted)):
            found = search.find(
                made, "[ac]", regex=True, start_ps=start, event_id=at, backwards=backwards
            )
            at = found["event"]["id"]
            seen.append(at)
            assert found["rank"] == (len(wanted) - rank if backwards else rank + 1)
            assert found["n_events"] == len(wanted)
        order = wanted[::-1] if backwards else wanted
        assert seen == [f"{number}.{place}" for _, number, place in order]
        again = search.find(
            made, "[ac]", regex=True, start_ps=start, event_id=at, backwards=backwards
        )
        assert again["event"]["id"] == seen[0]  # behind the last comes the first


def test_nothing_is_found():
    found = search.find(model(track([(0, 1)])), "zzz", start_ps=0)
    assert found == {"n_events": 0, "rank": 0, "event": None}


def test_arrows_of_a_range_and_of_some_tracks(monkeypatch):
    made = model(
        track([(0, 5), (100, 5)]), track([(10, 5), (300, 5)]),
        flows=[(0, 0, 1, 0), (0, 1, 1, 1), (1, 0, 0, 1)],
    )  # fmt: skip
    found = marks_between.flows(made, 0, 50, [0, 1])
    assert (found["n_flows"], found["from_ps"], found["to_ps"]) == (2, [0, 10], [10, 100])
    assert marks_between.flows(made, 0, 1000, [0])["n_flows"] == 0
    assert marks_between.flows(made, 150, 200, [0, 1])["from_ps"] == [100]  # across the range
    monkeypatch.setattr(marks_between, "MOST_ARROWS", 2)
    found = marks_between.flows(made, 0, 1000, [0, 1])
    assert (found["n_flows"], found["n_shown"]) == (3, 2)


def test_counters_keep_the_highest_value_of_each_pixel():
    times = np.arange(1000) * 10
    values = np.where(times == 5050, 99.0, 1.0)
    series = Series("allocated", "bytes", times, values)
    found = marks_between._series(series, 5000, 9000, 10)
    assert (found["n_values"], max(found["most"])) == (400, 99.0)
    assert set(found["values"]) == {1.0}
    assert len(found["times"]) <= 12
    assert found["times"][0] < 5000  # what holds when the range begins


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("what", {}), ("tiles", {}), ("tiles", {"k": "x", "number": "0"}),
        ("tiles", {"k": "0", "number": "0", "tracks": "7"}),
        ("tiles", {"k": "0", "number": "0", "tracks": "0-"}),
        ("tiles", {"k": "0", "number": "9" * 30}),
        ("range", {"t0": "5", "t1": "4"}), ("counters", {"t0": "0", "t1": "1", "counters": "3"}),
        ("range", {"t0": "0", "t1": "1", "tracks": "3-0"}),
    ],
)  # fmt: skip
def test_questions_that_make_no_sense_are_refused(path, params):
    with pytest.raises(UsageError):
        trace_data(model(track([(0, 1)])), path, params)


def test_every_question_has_an_answer_in_json():
    made = model(track([(0, 10), (2, 3)]), flows=[(0, 0, 0, 1)])
    times = {"t0": "0", "t1": "10"}
    for path, params in {
        "tiles": {"k": "0", "number": "0", "tracks": "0-0"}, "event": {"id": "0.1"}, "range": times,
        "events": times, "search": {"text": "a"}, "find": {"text": "a"}, "flows": times,
        "counters": times,
    }.items():  # fmt: skip
        assert isinstance(json.loads(trace_data(made, path, params)), dict)
