import gzip
import json
import random
from dataclasses import replace

import pytest

from tests.ui.pages.trace import traces
from tests.ui.pages.trace.traces import marks, model, numbers
from tfprof import tools
from tfprof.captures.trace.from_run import model_of_run
from tfprof.captures.trace.model import Step
from tfprof.captures.trace.track_kinds import track_kind
from tfprof.errors import UsageError
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.trace import embedded
from tfprof.ui.pages.trace.embedded import trace_documents
from tfprof.ui.pages.trace.page import trace_block, trace_page
from tfprof.ui.web.report import report


def memory(start, held, **more):
    return event(
        "MemoryAllocation", start, 0, allocator_name="GPU_0_bfc", bytes_allocated=held,
        bytes_reserved=10, **more,
    )  # fmt: skip


@pytest.fixture
def run():
    steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(3)]
    launches = [
        event("dense/MatMul:MatMul", 100 * at + 10, 30, correlation_id=at) for at in range(3)
    ]
    kernels = [event("sgemm", 100 * at + 50, 20, correlation_id=at) for at in range(3)]
    return tools.open_run(
        xspace(
            host(
                line(*steps, *launches, memory(20, 64), memory(120, 128)),
                line(event("requests", 5, 0, sent=7), event("requests", 9, 0, sent=9), id=9,
                     name="_counters_"),
            ),
            gpu(line(*kernels, id=14, name="Stream #14")),
        )
    )  # fmt: skip


def test_every_event_of_a_capture_is_somewhere(run):
    made = model_of_run(run)
    assert made.shown.in_capture == 13
    assert (made.shown.as_slices, made.shown.as_counters, made.shown.dropped) == (9, 4, 0)
    assert made.shown.derived == sum(map(len, made.tracks)) - 9


def test_slices_are_those_of_the_trace_for_other_viewers(run):
    made = model_of_run(run)
    written = json.loads(b"".join(tools.trace(run).pieces()))["traceEvents"]
    threads = {
        (each["pid"], each["tid"]): each["args"]["name"]
        for each in written
        if each.get("name") == "thread_name"
    }
    wanted = sorted(
        (threads[each["pid"], each["tid"]] or "thread 1", each["name"], round(each["ts"] * 1e6),
         round(each.get("dur", 0) * 1e6), json.dumps(each.get("args", {}), sort_keys=True))
        for each in written
        if each["ph"] in "Xi"
    )  # fmt: skip
    found = sorted(
        (track.name, made.names[int(track.names_of([place])[0])], track.start_ps(place),
         track.duration_ps(place), json.dumps(track.arguments(place), sort_keys=True))
        for track in made.tracks
        for place in range(len(track))
    )  # fmt: skip
    assert found == wanted


def test_steps_arrows_and_counters(run):
    made = model_of_run(run)
    assert [step.name for step in made.steps] == ["train 0", "train 1", "train 2"]
    ends = [
        (made.tracks[from_track].name, made.tracks[to_track].name)
        for from_track, to_track in zip(made.flows.from_track, made.flows.to_track, strict=True)
    ]
    assert ends == [("thread 1", "Stream #14")] * 3
    series = {
        (counter.name, each.name): each.values.tolist()
        for counter in made.counters
        for each in counter.series()
    }
    assert series["memory of GPU_0_bfc", "allocated"] == [64, 128]
    assert series["_counters_", "requests: sent"] == [7, 9]


def test_the_page_says_what_is_shown(run):
    page = trace_page(model_of_run(run)).to_dict()
    [block] = [each for each in page["blocks"] if each["kind"] == "trace"]
    assert "9 events, 4 values of counters" in block["about"]
    assert "dropped: 0 of 13" in block["about"]
    assert block["overview"]["n_rows"] == len(block["tracks"])
    assert sum(track["n"] for track in block["tracks"]) == 9 + block["shown"]["derived"]
    assert block["steps"]["names"] == ["train 0", "train 1", "train 2"]


def test_the_slowest_step_is_a_whole_one():
    steps = [Step("0", 0, 90, False), Step("1", 90, 120), Step("2", 120, 130), Step("3", 130, 160)]
    made = replace(model(traces.track([(0, 5)])), steps=steps)
    assert trace_block(made)["slowest"] == 1
    assert trace_block(replace(made, steps=steps[:1]))["slowest"] is None
    assert trace_block(replace(made, steps=[]))["slowest"] is None


@pytest.mark.parametrize(
    ("process", "name", "kind"),
    [
        ("/device:GPU:0", "Stream #14(Compute)", "device"),
        ("worker0_6009 /device:TPU:1", "python", "device"),
        ("/host:CPU", "tf_data_private_threadpool/7", "input"),
        ("/host:CPU", "python", "python"),
        ("/host:CPU", "python-XLA Modules", "python"),
        ("/host:CPU", "python3.11/123", "python"),
        ("/host:CPU", "pythonic", "host"),
        ("/host:python-tracer", "MainThread", "python"),
        ("/host:CPU", "tf_Compute/1", "host"),
        ("", "", "host"),
    ],
)
def test_kinds_of_tracks(process, name, kind):
    assert track_kind(process, name) == kind


def test_an_empty_capture_says_why():
    page = trace_page(model_of_run(tools.open_run(xspace(host())))).to_dict()
    assert [block["kind"] for block in page["blocks"]] == ["words", "empty"]


def test_the_site_answers_questions_of_the_page(run):
    site = Site([opened_run(run, "x")])
    found = json.loads(site.data("trace/tiles", {"k": "4", "number": "0", "tracks": "all"}))
    assert sum(each[4] for each in marks(found)) > 0
    with pytest.raises(UsageError):
        site.data("other/tiles", {})


def documents(made, most_bytes=embedded.MOST_BYTES):
    return {
        (path, params.get("t0"), params.get("t1")): json.loads(content)
        for path, params, content in trace_documents(made, most_bytes)
    }


def test_a_report_holds_every_slice_with_its_arguments_where_that_fits(run):
    made = model_of_run(run)
    found = documents(made)
    everything = found["trace/all", None, None]
    assert (everything["k"], everything["remark"]) == (-1, "")
    shown = {(each[0], each[6]): each[2:6] for each in marks(everything)}
    details = found["trace/details", None, None]
    args = [details["args"]["texts"][at] for at in numbers(details["args"]["at"])]
    row = 0
    for number, track in enumerate(made.tracks):
        for place in range(len(track)):
            start = track.start_ps(place)
            name = made.names[int(track.names_of([place])[0])]
            assert shown[number, place] == (start, start + track.duration_ps(place), 1, name)
            assert json.loads(args[row]) == track.arguments(place)
            row += 1
    assert len(shown) == row
    first, last = map(str, made.range_ps)
    # What was made of them would count the same time again.
    n_recorded = sum(len(track) for track in made.tracks if not track.is_derived)
    assert found["trace/range", first, last]["n_events"] == n_recorded < row


def test_a_report_of_a_large_trace_merges_and_says_so():
    chance = random.Random(3)
    pairs = [(at * 1000 + chance.randrange(500), chance.randrange(900)) for at in range(20_000)]
    found = documents(model(traces.track(pairs)), 20_000)
    everything = found["trace/all", None, None]
    n_marks = sum(n for _, _, n in everything["rows"])
    assert everything["k"] >= 0
    assert n_marks < 20_000 == sum(each[4] for each in marks(everything))
    assert f"shows 20,000 events as {n_marks:,} marks" in everything["remark"]
    assert ("trace/details", None, None) not in found
    packed = [gzip.compress(json.dumps(each).encode()) for each in found.values()]
    assert sum(map(len, packed)) * 4 / 3 < 24_000


def test_the_report_is_the_same_each_time(run):
    site = Site([opened_run(run, "x")])
    assert report(site, ["trace"]) == report(site, ["trace"])
    assert b'id="trace/all?"' in report(site, ["trace"])
