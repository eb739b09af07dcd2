"""Statements in SQL from the timeline: rows, and the events that they name."""

import json

import pytest

from tfprof import tools
from tfprof.errors import UsageError
from tfprof.inputs.open_paths import opened_trace
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace
from tfprof.ui.pages.site import Site

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def site():
    memory = event("MemoryAllocation", 5, 0, allocator_name="bfc", bytes_allocated=64)
    ops = [event("dot", 0, 50), memory, event("add", 60, 20), event("dot", 90, 30)]
    kernels = line(event("sgemm", 70, 40), id=14, name="Stream #14")
    return Site([opened_run(tools.open_run(xspace(host(line(*ops)), gpu(kernels))), "x")])


def asked(site, statement):
    return json.loads(site.data("trace/sql", {"statement": statement}))


def named(site, ids):
    events = [json.loads(site.data("trace/event", {"id": each})) for each in ids]
    return [(each["name"], each["duration"]) for each in events]


def test_rows_of_events_are_found_in_the_timeline(site):
    answer = asked(
        site, "select host, event_id, name from events where duration_ps > 20000 order by start_ps"
    )
    assert named(site, answer["ids"]) == [("dot", 50_000), ("sgemm", 40_000), ("dot", 30_000)]
    assert (answer["n_events"], answer["remarks"]) == (3, [])
    # Of one host, its name is not needed; what is drawn as a counter cannot be found.
    answer = asked(site, "select event_id from events order by duration_ps desc")
    assert answer["ids"].count("") == 1
    assert (answer["n_events"], answer["table"]["n_rows"]) == (4, 5)


def test_rows_that_name_no_event_are_a_table(site):
    answer = asked(site, "select name, count(*) as n from events group by name order by n desc")
    assert (answer["n_events"], answer["table"]["n_rows"]) == (0, 4)
    assert answer["ids"] == [""] * 4
    assert "select host and event_id" in answer["remarks"][0]
    assert asked(site, "select 99 as event_id")["ids"] == [""]


def test_rows_with_a_start_are_times(site):
    answer = asked(site, "select name, start_ps, duration_ps from events where name = 'add'")
    assert (answer["spans"], answer["ids"], answer["remarks"]) == ([[60_000, 80_000]], [""], [])
    assert asked(site, "select 5 as start_ps")["spans"] == [[5, 5]]
    assert asked(site, "select 'x' as start_ps")["spans"] == [None]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("", "there is no statement"),
        ("drop table events", "only reads"),
        ("select select", "syntax"),
    ],
)
def test_what_is_wrong_with_a_statement(site, statement, message):
    with pytest.raises(UsageError, match=message):
        asked(site, statement)


def test_whether_there_are_answers(site):
    assert json.loads(site.data("trace/sql/here", {})) == {"is_here": True}
    with pytest.raises(UsageError, match="no data"):
        site.data("trace/sql/there", {})


def test_events_of_another_programs_trace(tmp_path):
    path = tmp_path / "other.json"
    slices = [("a", 1, 5), ("b", 2, 7), ("c", 2, 9)]
    path.write_text(json.dumps([
        {"ph": "X", "name": name, "ts": at * 10, "dur": dur, "pid": 1, "tid": tid}
        for at, (name, tid, dur) in enumerate(slices)
    ]))  # fmt: skip
    site = Site([opened_trace(path)])
    answer = asked(site, "select * from events where duration_ps > 6e6 order by duration_ps desc")
    assert named(site, answer["ids"]) == [("c", 9_000_000), ("b", 7_000_000)]
