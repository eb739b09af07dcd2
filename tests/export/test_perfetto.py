import io
import json
import subprocess
import sys
import tarfile
from collections import Counter as Tally

import numpy as np
import pytest
from hypothesis import given, settings

import tfprof
from tests.export.perfetto_reader import fields, message, read
from tests.ui.pages.trace.traces import model, slices, track
from tfprof.captures.events.timeline.layers import layers_of, rows_of
from tfprof.captures.trace.from_run import model_of_run
from tfprof.captures.trace.model import Counter, Series
from tfprof.core.columns.arrow import Coded
from tfprof.demo import demo_capture
from tfprof.export.archive import MANIFEST, archive_chunks, trace_of_host
from tfprof.export.nested import marks_of
from tfprof.export.perfetto import Written, perfetto_chunks
from tfprof.export.perfetto_packets import event_packets
from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = pytest.mark.one_engine

NS = 1000


def written(trace):
    counted: list[Written] = []
    made = read(b"".join(perfetto_chunks(trace, counted)))
    return made, counted[0]


def test_slices_within_slices_end_in_order():
    trace = model(track([(0, 10 * NS), (0, 4 * NS), (4 * NS, 6 * NS), (12 * NS, 0)]))
    made, counted = written(trace)
    assert sorted(made.slices) == [
        (2, "a", 0, 10, 0),
        (2, "a", 12, 12, 0),
        (2, "b", 0, 4, 1),
        (2, "c", 4, 10, 1),
    ]
    assert made.processes == {1: "host"}
    assert (made.tracks[2].name, made.tracks[2].parent) == ("thread", 1)
    assert counted == Written(slices=4, values=0, flows=0, split=0)


def test_what_overlaps_in_part_is_split_into_tracks_that_are_drawn_as_one():
    trace = model(track([(0, 10 * NS), (5 * NS, 10 * NS), (6 * NS, 2 * NS), (20 * NS, NS)]))
    made, counted = written(trace)
    assert sorted(made.slices) == [
        (2, "a", 0, 10, 0),
        (2, "a", 20, 21, 0),
        (2, "c", 6, 8, 1),
        (3, "b", 5, 15, 0),
    ]
    assert made.tracks[2].merge_key == made.tracks[3].merge_key > 0
    assert counted == Written(slices=4, values=0, flows=0, split=1)


@settings(max_examples=60, deadline=None)
@given(slices)
def test_no_slice_is_dropped_or_moved(pairs):
    trace = model(track([(start * NS, lasting * NS) for start, lasting in pairs]))
    made, counted = written(trace)
    first = min(0, *(start for start, _ in pairs))
    found = Tally((start, end - start) for _, _, start, end, _ in made.slices)
    assert found == Tally((start - first, lasting) for start, lasting in pairs)
    assert counted.slices == len(pairs)


@settings(max_examples=60, deadline=None)
@given(slices)
def test_in_a_layer_nothing_overlaps_in_part(pairs):
    own = track(pairs)
    seen = []
    layer = layers_of(own.starts, own.starts + own.durations)
    for places in rows_of(layer, len(own)):
        seen += places.tolist()
        marks = marks_of(own.starts[places], own.durations[places])
        assert (np.diff(marks.times_ns) >= 0).all()
        stack = []
        for at, is_end in zip(marks.slices.tolist(), marks.is_end.tolist(), strict=True):
            if is_end:
                assert stack.pop() == at
            elif own.durations[places[at]]:
                stack.append(at)
        assert not stack
    assert sorted(seen) == list(range(len(pairs)))


def test_arrows_join_two_slices():
    trace = model(
        track([(0, NS), (5 * NS, NS)]), track([(9 * NS, NS)]), flows=[(0, 0, 1, 0), (0, 1, 1, 0)]
    )
    made, counted = written(trace)
    assert made.flows == {1: [(2, 0), (3, 9)], 2: [(2, 5), (3, 9)]}
    assert counted.flows == 2


def test_counters_leave_out_what_is_unknown():
    trace = model(track([(-NS, NS)]))
    values = np.array([1.5, np.nan, -3.0])
    series = Series("used", "bytes", np.array([0, NS, 2 * NS]), values)
    trace.counters = [Counter(0, "memory", lambda: [series])]
    made, counted = written(trace)
    assert made.values == [(3, 1, 1.5), (3, 3, -3.0)]  # from -1 ns on
    assert (made.tracks[3].name, made.tracks[3].is_counter) == ("memory: used", True)
    assert counted.values == 2


def test_packets_of_all_sizes():
    """Lengths with one and two bytes, times with one to nine, events with many arrows."""
    times = np.array([0, 127, 128, 1 << 20, 1 << 62])
    n_flows = np.array([0, 1, 40, 0, 2])
    flows = np.arange(n_flows.sum()) + (1 << 40)
    names = np.array([1, 200, 1, 1 << 20, 3])
    steps = np.array([0, 5, 0, 300, 1])
    data = event_packets(300, times, np.full(5, 3), names, steps, n_flows, flows)
    packets = [message(content) for _, content in fields(data)]
    events = [message(packet[11][0]) for packet in packets]
    assert [packet[8][0] for packet in packets] == times.tolist()
    assert [each[10][0] for each in events] == names.tolist()
    assert [len(each[47]) for each in events] == n_flows.tolist()
    assert all(each[11] == [300] for each in events)
    assert [[message(one)[17][0] for one in each[4]] for each in events] == [
        [],
        [5],
        [],
        [300],
        [1],
    ]


def test_slices_tell_their_step():
    own = track([(0, NS), (NS, NS), (2 * NS, NS)])
    own.steps = lambda places: Coded(places - 1, ["train 0", "train 1"])
    other = track([(0, NS)])
    other.steps = lambda places: Coded(places, ["train 1"])
    made, _ = written(model(own, other))
    assert made.steps == [("b", "train 0"), ("c", "train 1"), ("a", "train 1")]


def test_hostile_names_stay_as_they_are():
    names = ('a\n"\0\u202e', "", "\ud800")
    made, _ = written(model(track([(0, NS), (NS, NS), (2 * NS, NS)]), names=names))
    assert [name for _, name, *_ in made.slices] == ['a\n"\0\u202e', "", "?"]


@pytest.fixture(scope="module")
def recorded():
    return model_of_run(tfprof.open_run(demo_capture("gpu")))


def test_of_a_recorded_run_nothing_is_dropped(recorded):
    made, counted = written(recorded)
    assert recorded.shown.dropped == 0
    assert len(made.slices) == recorded.shown.as_slices + recorded.shown.derived == counted.slices
    assert len(made.flows) == len(recorded.flows.from_track) == counted.flows
    assert {len(ends) for ends in made.flows.values()} == {2}


def test_perfettos_own_messages_know_every_field(recorded, tmp_path):
    """In a process of its own: the package brings another release of protobuf."""
    path = tmp_path / "run.pftrace"
    path.write_bytes(b"".join(perfetto_chunks(recorded)))
    program = """
import sys
try:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
except ImportError:
    sys.exit(77)
from google.protobuf.unknown_fields import UnknownFieldSet
trace = Trace.FromString(open(sys.argv[1], "rb").read())
parts = [p for p in trace.packet] + [p.track_event for p in trace.packet]
parts += [p.track_descriptor for p in trace.packet]
assert not any(len(UnknownFieldSet(part)) for part in parts)
print(sum(p.track_event.type in (1, 3) for p in trace.packet))
"""
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("the package perfetto is not installed")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == recorded.shown.as_slices + recorded.shown.derived


@pytest.fixture
def two_hosts(tmp_path):
    for name, start in (("one", 0), ("../two", 5)):
        spent = line(event("train", start, 100), event("y:MatMul", start + 10, 30))
        path = tmp_path / f"{name.strip('./')}.xplane.pb"
        path.write_bytes(xspace(host(spent)).SerializeToString())
    return model_of_run(tfprof.open_run(tmp_path))


def test_a_tar_has_a_trace_of_each_host_and_a_manifest(two_hosts):
    data = b"".join(archive_chunks(two_hosts))
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
        names = archive.getnames()
    assert names == [MANIFEST, "1_one.pftrace", "2_two.pftrace"]  # the manifest comes first
    manifest = json.loads(files[MANIFEST])["perfetto_manifest"]
    assert manifest["version"] == 1
    assert [(each["path"], each["machine"]["name"]) for each in manifest["files"]] == [
        ("1_one.pftrace", "one"),
        ("2_two.pftrace", "two"),
    ]
    assert manifest["files"][1]["clocks"]["is"]["file"] == "1_one.pftrace"
    traces = [read(files[name]) for name in names[1:]]
    assert [len(trace.slices) for trace in traces] == [2, 2]
    assert data == b"".join(archive_chunks(two_hosts))


def test_a_host_keeps_the_time_of_all(two_hosts):
    own = [trace_of_host(two_hosts, name) for name in ("one", "two")]
    assert sum(len(each.tracks) for each in own) == len(two_hosts.tracks)
    begins = {track.start_ps(0) for track in two_hosts.tracks}
    assert {track.start_ps(0) for each in own for track in each.tracks} == begins
