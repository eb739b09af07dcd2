"""Perfetto reads all slices, arrows and counters of what is written for it, at their times."""

import json
from collections import Counter

import pytest

from tests.readers.conftest import opened
from tfprof.export.formats import BY_NAME, trace_to_export
from tfprof.inputs.open_paths import opened_trace
from tfprof.options.builder import ProfileOptionBuilder

pytestmark = pytest.mark.readers

LOST = """
select name, value from stats
where value > 0 and (severity in ('error', 'data_loss') or name like 'flow%')
"""
SLICES = "select coalesce(name, ''), ts, dur from slice"
FLOWS = """
select a.ts, b.ts from flow join slice a on slice_out = a.id join slice b on slice_in = b.id
"""
VALUES = "select ts, value from counter"

CAPTURES = (
    "cpu-jax-steps", "cpu-keras-fit", "cpu-memory-bfc", "cpu-multi-worker", "cpu-while-steps",
    "gpu-rocm-jax-conv", "gpu-synthetic", "tpu-v6e-jax",
)  # fmt: skip
"""Overlapping events, arrows back in time, counters, two hosts, times below a nanosecond."""


def plain(name):
    """A name as it was meant: this release shows escapes of JSON as they are written."""
    return json.loads('"' + name.replace('"', '\\"') + '"')


def counted(rows):
    return Counter(map(tuple, rows))


def content(model):
    """Slices, arrows (from what begins first) and values of a trace, in nanoseconds."""
    slices, starts = Counter(), []
    for track in model.tracks:
        begins = track.starts + track.shift_ps
        first, last = begins // 1000, (begins + track.durations) // 1000
        names = [model.names[number] for number in track.names_of(range(len(track))).tolist()]
        slices.update(zip(names, first.tolist(), (last - first).tolist(), strict=True))
        starts.append(first)
    columns = (column.tolist() for column in model.flows)
    flows = Counter(
        tuple(sorted((int(starts[track][at]), int(starts[to_track][to]))))
        for track, at, to_track, to in zip(*columns, strict=True)
    )
    values = Counter()
    for counter in model.counters:
        for series in counter.series():
            known = [value == value for value in series.values.tolist()]
            pairs = zip((series.times_ps // 1000).tolist(), series.values.tolist(), strict=True)
            values.update(pair for pair, is_known in zip(pairs, known, strict=True) if is_known)
    return slices, flows, values


def check(trace_processor, path, expected):
    lost, *found = trace_processor.ask(path, LOST, SLICES, FLOWS, VALUES)
    assert lost == []
    for own, other in zip(expected, map(counted, found), strict=True):
        assert own.total() == other.total()
        assert own - other == Counter()


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
@pytest.mark.parametrize("capture", CAPTURES)
def test_captures(trace_processor, converted, capture, form):
    model = trace_to_export(opened(capture), BY_NAME[form])
    expected = content(model)
    assert sum(part.total() for part in expected) > 500
    check(trace_processor, converted(capture, form), expected)


def test_a_host_in_a_tar(trace_processor, converted):
    path = converted("cpu-jax-steps", "perfetto-tar")
    model = trace_to_export(opened("cpu-jax-steps"), BY_NAME["perfetto"])
    check(trace_processor, path, content(model))


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
def test_a_trace_that_was_read_again(trace_processor, converted, tmp_path, form):
    """As those of other programs are."""
    from tfprof.export.formats import export_chunks

    again = opened_trace(converted("cpu-while-steps", "chrome"))
    path = tmp_path / f"again{BY_NAME[form].endings[0]}"
    path.write_bytes(b"".join(export_chunks([again], BY_NAME[form])))
    check(trace_processor, path, content(again.trace()))


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
def test_a_profile(trace_processor, converted, form):
    model = trace_to_export(opened("profile"), BY_NAME[form])
    expected = content(model)
    assert expected[0].total() > 5000 and expected[1].total() > 2000
    lost, slices, flows, values = trace_processor.ask(
        converted("profile", form), LOST, SLICES, FLOWS, VALUES
    )
    assert lost == []
    assert counted(slices) == expected[0]
    assert counted(flows).total() == expected[1].total()
    assert counted(values).total() == expected[2].total()


@pytest.mark.parametrize("view", ["graph", "scope", "code"])
def test_timelines_of_views(trace_processor, tmp_path, view):
    options = ProfileOptionBuilder().with_timeline_output(str(tmp_path / "t.json")).build()
    [file] = opened("profile").profiler().output_files(view, options)
    path = tmp_path / "timeline.json"
    path.write_bytes(b"".join(file.chunks))
    events = json.loads(path.read_bytes())["traceEvents"]
    slices = Counter(
        (e["name"], round(e["ts"] * 1000), round(e.get("dur", 0) * 1000))
        for e in events if e["ph"] in "Xi"
    )  # fmt: skip
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    values = [len(e["args"]) for e in events if e["ph"] == "C"]
    lost, found, flows, numbers = trace_processor.ask(path, LOST, SLICES, FLOWS, VALUES)
    assert lost == []
    assert counted((plain(name), *times) for name, *times in found) == slices
    assert len(flows) == len(begins) == len(ends)
    assert len(numbers) == sum(values)
