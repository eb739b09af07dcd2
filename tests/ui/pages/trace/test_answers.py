"""Details, search, time of a range, arrows and counters, against slice by slice."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.pages.trace.traces import model, numbers, slices, track
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.trace.model import Flows, Series, Shown, TraceModel, TraceTrack
from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import no_rows
from tfprof.errors import UsageError
from tfprof.ui.pages.packed_columns import unpacked
from tfprof.ui.pages.trace import calls, details, marks_between, search, spent
from tfprof.ui.pages.trace.busy import busy
from tfprof.ui.pages.trace.data import trace_data
from tfprof.ui.pages.trace.range_difference import range_difference


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


def found(made, text, **options):
    """Ids of what a search finds, in its order."""
    answer = search.search(made, text, **options)
    tracks, places = numbers(answer["tracks"]), numbers(answer["places"])
    return [f"{track}.{place}" for track, place in zip(tracks, places, strict=True)]


def test_search_looks_for_names_in_upper_and_lower_case():
    made = model(
        track([(0, 5), (10, 9), (20, 7)], kinds=[0, 1, 0]), track([(3, 2)], kinds=[2]),
        names=("MatMul", "Conv2D", "matmul_grad"),
    )  # fmt: skip
    answer = search.search(made, "matmul")
    assert (answer["n_events"], answer["n_names"], answer["n_marked"]) == (3, 2, 3)
    assert [(row[0], row[-1]) for row in rows(answer["table"])] == [
        ("MatMul", "0.0"), ("matmul_grad", "1.0"), ("MatMul", "0.2")
    ]  # fmt: skip
    assert found(made, "matmul") == ["0.0", "1.0", "0.2"]  # in order of time
    assert found(made, "^conv.d$", regex=True) == ["0.1"]
    assert found(made, "") == []
    with pytest.raises(UsageError, match="regular expression"):
        search.search(made, "(", regex=True)


@given(st.lists(slices, min_size=1, max_size=3))
def test_search_gives_all_in_order_of_time_with_their_lanes(many):
    tracks = [track(pairs) for pairs in many]
    wanted = sorted(
        (each.start_ps(place), number, place, each.lanes.lane_of(place))
        for number, each in enumerate(tracks)
        for place in range(len(each))
        if each.kinds[place] != 1 and each.duration_ps(place) >= 3
    )
    answer = search.search(model(*tracks), "[ac] dur>=3ps", regex=True)
    starts = np.cumsum(numbers(answer["gaps"])).tolist()
    columns = [numbers(answer[name]) for name in ("tracks", "places", "lanes")]
    assert list(zip(starts, *columns, strict=True)) == wanted
    assert answer["n_events"] == len(wanted)


CASES = json.loads((Path(__file__).parent / "searches.json").read_text("utf-8"))


def searched_model():
    """The trace of ``searches.json``, which the front end searches as well."""
    tracks = []
    for name, events in CASES["tracks"].items():
        starts, durations = (np.array([e[at] for e in events], np.int64) for at in (1, 2))
        names = np.array([CASES["names"].index(e[0]) for e in events], np.int64)
        texts = [e[3] for e in events]
        tracks.append(
            TraceTrack(
                0, name, 1, starts, durations, np.arange(len(events), dtype=np.int32), names,
                lambda places, texts=texts: [texts[at] for at in places.tolist()],
            )
        )  # fmt: skip
    n = sum(map(len, tracks))
    return TraceModel(
        ["/host:CPU"], tracks, [], CASES["names"], [], Shown(n, n, 0, 0),
        lambda: Flows(*[no_rows()] * 4),
    )  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), CASES["found"].items())
def test_terms_find_what_has_all_of_them(text, wanted):
    assert found(searched_model(), text) == wanted


@pytest.mark.parametrize(("text", "message"), CASES["refused"].items())
def test_a_wrong_term_is_named_with_what_to_write(text, message):
    with pytest.raises(UsageError) as refused:
        search.search(searched_model(), text)
    assert str(refused.value) == message


def test_a_search_reads_the_arguments_of_so_many_events(monkeypatch):
    monkeypatch.setattr(search, "MOST_READ", 2)
    with pytest.raises(UsageError, match="arguments of 4 events, and reads 2 at most; add name:"):
        search.search(searched_model(), "arg:f32")
    assert found(searched_model(), "arg:f32 copy") == ["1.0"]


def test_only_the_first_events_are_marked_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(search, "MOST_MARKED", 2)
    answer = search.search(model(track([(0, 5), (10, 9), (20, 7)])), "dur>0ps")
    assert (answer["n_events"], answer["n_marked"]) == (3, 2)
    assert numbers(answer["places"]) == [0, 1]


def test_the_nearest_event_is_the_innermost_around_a_time_or_beside_it():
    made = model(track([(0, 100), (10, 20), (200, 10)], shift=1000))
    at = {time: details.nearest(made, 0, time)["id"] for time in (0, 1000, 1015, 1050, 1120, 1180)}
    assert at == {0: "0.0", 1000: "0.0", 1015: "0.1", 1050: "0.0", 1120: "0.2", 1180: "0.2"}


def test_two_ranges_and_their_difference_by_name():
    made = model(track([(0, 10), (20, 30), (60, 5), (70, 40)], kinds=[0, 1, 0, 2]))
    answer = range_difference(made, (0, 50), (50, 110), [0])
    assert [
        (row[0], *(round(each * 1e6) for each in row[1:4]), *row[4:])
        for row in rows(answer["table"])
    ] == [("c", 0, 40, 40, 0, 1), ("b", 30, 0, -30, 1, 0), ("a", 10, 5, -5, 1, 1)]
    assert (answer["a_ps"], answer["b_ps"]) == (50, 60)
    assert (answer["a_busy_ps"], answer["b_busy_ps"]) == (40, 45)


def tree_of(answer):
    """Rows of a tree as (path, time in ps, own time in ps, events)."""
    tree = answer["tree"]
    names, parent = unpacked(tree["names"]), unpacked(tree["parent"])
    time, events = tree["measures"]
    columns = [unpacked(each) for each in (time["totals"], time["own"], events["totals"])]
    paths = []
    for name, above in zip(names, parent, strict=True):
        paths.append(name if above < 0 else f"{paths[int(above)]}/{name}")
    times, own, counts = columns
    return [
        (path, round(times[at] * 1e6), round(own[at] * 1e6), round(counts[at]))
        for at, path in enumerate(paths)
    ]


def test_what_runs_inside_what_is_joined_by_names_over_all_tracks():
    first = track([(0, 100), (10, 20), (12, 5), (40, 10), (200, 50)], kinds=[0, 1, 2, 1, 0])
    second = track([(5, 30), (6, 4)], kinds=[0, 1], shift=1000)
    assert tree_of(calls.calls_in_range(model(first, second), 0, 2000, [0, 1])) == [
        ("2 tracks", 180, 0, 3), ("2 tracks/a", 180, 146, 3), ("2 tracks/a/b", 34, 29, 3),
        ("2 tracks/a/b/c", 5, 5, 1),
    ]  # fmt: skip
    # Only what is within the range counts.
    assert tree_of(calls.calls_in_range(model(first, second), 15, 45, [0])) == [
        ("1 track", 30, 0, 1), ("1 track/a", 30, 10, 1), ("1 track/a/b", 20, 18, 2),
        ("1 track/a/b/c", 2, 2, 1),
    ]  # fmt: skip
    assert tree_of(calls.calls_in_range(model(first, second), 300, 400, [0])) == [
        ("1 track", 0, 0, 0)
    ]


def test_of_many_rows_the_longest_are_kept_and_the_others_are_counted(monkeypatch):
    monkeypatch.setattr(calls, "MOST_ROWS", 3)
    made = track([(0, 100), (0, 50), (60, 30), (90, 1)], kinds=[0, 1, 2, 0])
    answer = calls.calls_in_range(model(made), 0, 100, [0])
    assert [row[0] for row in tree_of(answer)] == ["1 track", "1 track/a", "1 track/a/b"]
    assert tree_of(answer)[1][2] == 100 - 50 - 30 - 1  # own time is that of the whole
    assert unpacked(answer["tree"]["left_out"]) == [0, 2, 0]


@given(slices, st.integers(-100, 400), st.integers(0, 300))
def test_the_tree_of_a_range_has_the_times_of_its_names(pairs, first, span):
    made = model(track(pairs))
    by_name, events = Counter(), Counter()
    for path, time, _, count in tree_of(calls.calls_in_range(made, first, first + span, [0]))[1:]:
        by_name[path[-1]] += time
        events[path[-1]] += count
    found = rows(spent.names_in_range(made, first, first + span, [0])["table"])
    assert {row[0]: row[1] for row in found} == events
    assert {row[0]: round(row[3] * 1e6) for row in found} == by_name


@settings(max_examples=60)
@given(st.lists(slices, min_size=1, max_size=3), st.integers(-60, 300), st.integers(1, 200))
def test_a_process_is_busy_where_at_least_one_event_runs(many, first, span):
    tracks = [track(pairs) for pairs in many]
    runs = set()
    for each in tracks:
        for start, duration in zip(each.starts.tolist(), each.durations.tolist(), strict=True):
            runs.update(range(start, start + duration))
    found = busy(model(*tracks), first, first + span, span, [0])["processes"]
    shares = [10_000 * (time in runs) for time in range(first, first + span)]
    assert [numbers(each["shares"]) for each in found] == [shares]


def test_each_track_is_busy_by_itself_at_any_zoom():
    made = model(track([(0, 40), (10, 20)]), track([(30, 20), (95, 10)], shift=5), track([]))
    found = busy(made, 0, 100, 2, [], [0, 1, 2])
    assert found["processes"] == []
    assert {each["number"]: numbers(each["shares"]) for each in found["tracks"]} == {
        0: [8000, 0], 1: [3000, 1000],
    }  # fmt: skip
    assert busy(made, 0, 100, 2, [0])["tracks"] == []


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
        ("difference", {"t0": "0", "t1": "1", "a0": "3", "a1": "2"}),
        ("nearest", {"tracks": "0"}), ("nearest", {"tracks": "4", "time": "0"}),
        ("busy", {"t0": "0", "t1": "1", "processes": "1"}),
        ("busy", {"t0": "0", "t1": "1", "tracks": "7"}), ("search", {"text": "dur>"}),
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
        "events": times, "search": {"text": "a"}, "flows": times,
        "counters": times, "busy": times, "nearest": {"tracks": "0", "time": "3"},
        "difference": {**times, "a0": "0", "a1": "5"}, "calls": times,
    }.items():  # fmt: skip
        assert isinstance(json.loads(trace_data(made, path, params)), dict)
