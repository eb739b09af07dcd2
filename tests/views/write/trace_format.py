"""Checks that a trace is in Chrome's trace-event format, and that viewers show all of it."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from typing import Any

Event = dict[str, Any]
NUMBER = (int, Decimal)
REQUIRED = {
    "M": {"name", "pid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "t": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
    "C": {"name", "cat", "pid", "ts", "args"},
    "i": {"name", "cat", "pid", "tid", "ts", "s", "args"},
}
METADATA = {
    "process_name": ("name", str),
    "thread_name": ("name", str),
    "process_sort_index": ("sort_index", int),
    "thread_sort_index": ("sort_index", int),
}


def parse_trace(data: bytes) -> dict[str, Any]:
    """The JSON object, decimals exact, no key twice in an object, all in ASCII."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    trace: dict[str, Any] = json.loads(
        data.decode("ascii"), parse_float=Decimal, object_pairs_hook=unique
    )
    return trace


def validate(data: bytes) -> list[Event]:
    """The events of a trace that is found to be right."""
    trace = parse_trace(data)
    assert set(trace) <= {"traceEvents", "displayTimeUnit", "otherData"}
    assert trace.get("displayTimeUnit", "ns") in {"ms", "ns"}
    events: list[Event] = trace["traceEvents"]
    for event in events:
        check_keys(event)
    check_metadata(events)
    regions = check_regions(events)
    check_flows(events, regions)
    return events


def check_keys(event: Event) -> None:
    missing = REQUIRED[event["ph"]] - set(event)
    assert not missing, (missing, event)
    assert isinstance(event["name"], str)
    assert isinstance(event.get("cat", ""), str)
    for key in ("pid", "tid", "id"):
        assert isinstance(event.get(key, 0), int), event
    for key in ("ts", "dur"):
        assert isinstance(event.get(key, 0), NUMBER), event
        assert event.get(key, 0) >= 0, event
        assert Decimal(event.get(key, 0)).as_tuple().exponent >= -3, event
    if event["ph"] == "C":
        assert event["args"], event
        assert all(isinstance(value, NUMBER) for value in event["args"].values()), event


def check_metadata(events: list[Event]) -> None:
    """Every process and thread that is used has one name; no thread is in two processes."""
    named: dict[str, set[Any]] = {"process_name": set(), "thread_name": set()}
    for event in events:
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            assert isinstance(event["args"][key], kind)
            if event["name"] in named:
                place = (event["pid"], event.get("tid"))
                assert place not in named[event["name"]], event
                named[event["name"]].add(place)
    threads = [tid for _, tid in named["thread_name"]]
    assert len(threads) == len(set(threads))
    for event in events:
        assert (event["pid"], None) in named["process_name"], event
        if "tid" in event:
            assert (event["pid"], event["tid"]) in named["thread_name"], event


def check_regions(events: list[Event]) -> dict[tuple[int, int], list[Event]]:
    """Regions by thread; in each they nest."""
    regions = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            regions[event["pid"], event["tid"]].append(event)
    for thread in regions.values():
        thread.sort(key=lambda event: (event["ts"], -event["dur"]))
        open_ends: list[Any] = []
        for event in thread:
            while open_ends and open_ends[-1] <= event["ts"]:
                open_ends.pop()
            assert not open_ends or event["ts"] + event["dur"] <= open_ends[-1], event
            open_ends.append(event["ts"] + event["dur"])
    return regions


def check_flows(events: list[Event], regions: dict[tuple[int, int], list[Event]]) -> None:
    """Each flow has a start and an end, and each of these lies in a region."""
    flows = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            flows[event["cat"], event["id"]].append(event)
    for start, end in flows.values():
        assert (start["ph"], end["ph"]) == ("s", "f")
        assert start["name"] == end["name"]
        for event in (start, end):
            at = event["ts"]
            assert any(
                region["ts"] <= at < region["ts"] + region["dur"]
                for region in regions[event["pid"], event["tid"]]
            ), event
