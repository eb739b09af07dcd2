"""Call stacks of other programs."""

import gzip
import json
import random

import pytest

from tests.files.stack_files import PPROF, SPEEDSCOPE, closed, go_profile, opened, speedscope
from tfprof.core.columns.stacks import SampleType, StackFrame
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError
from tfprof.export.callgrind import callgrind_chunks
from tfprof.export.collapsed import collapsed_chunks
from tfprof.export.pprof import pprof_chunks
from tfprof.export.speedscope import speedscope_chunks
from tfprof.files.collapsed import stacks_of_collapsed
from tfprof.files.pprof import stacks_of_pprof
from tfprof.files.sniff import Format, sniff
from tfprof.files.speedscope import stacks_of_speedscope

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_profile_of_go(pack):
    found = stacks_of_pprof(pack(go_profile().SerializeToString()), "cpu.pprof")
    assert found.types == [SampleType("samples", "count"), SampleType("cpu", "nanoseconds")]
    stacks = [[found.frames[at] for at in path] for path in found.paths(found.nodes.tolist())]
    main = StackFrame("main", "m.go", 10)
    assert stacks == [
        [main, StackFrame("main", "m.go", 20), StackFrame("inner", "m.go", 30)],
        [main, StackFrame("0xabc")],
        [StackFrame("?")],
    ]
    assert found.default == 1  # the last one, as pprof does
    assert found.numbers["key"].tolist() == [9, -1, -1]


@pytest.mark.parametrize(
    "damage",
    [
        lambda profile: profile.sample.add(location_id=[7], value=[1, 1]),
        lambda profile: profile.sample.add(location_id=[1], value=[1]),
        lambda profile: profile.location.add(id=9).line.add(function_id=77),
        lambda profile: profile.sample_type.add(type=500),
        lambda profile: profile.sample[0].label.add(key=500, str=1),
    ],
)
def test_a_profile_that_refers_to_nothing(damage):
    profile = go_profile()
    damage(profile)
    with pytest.raises(MalformedProfileError, match=r"^p\.pb: the profile refers to something"):
        stacks_of_pprof(profile.SerializeToString(), "p.pb")


PACKED = gzip.compress(b"x" * 99, mtime=0)  # without the time, which would be in the name


@pytest.mark.parametrize("data", [b"\x1f\x8b broken", PACKED[:-9], b"\xff" * 9])
def test_a_damaged_profile(data):
    with pytest.raises(MalformedProfileError, match=r"p\.pb"):
        stacks_of_pprof(data, "p.pb")


def test_frames_of_py_spy_and_of_cpython():
    data = b'process 7:"python a.py";run (lib/a.py:12) 5\nlib/a.py:run:12;~:<GC>:0 7\r\n\n'
    found = stacks_of_collapsed(data, "x")
    frames = [[found.frames[at] for at in path] for path in found.paths(found.nodes.tolist())]
    assert frames == [
        [StackFrame('process 7:"python a.py"'), StackFrame("run", "lib/a.py", 12)],
        [StackFrame("run", "lib/a.py", 12), StackFrame("~:<GC>:0")],
    ]
    assert found.values.tolist() == [[5, 7]]


@pytest.mark.parametrize("text", ["main;a", "main;a x", "main;a -3", "a 1\nmain;a 1.5"])
def test_lines_that_are_not_stacks(text):
    with pytest.raises(MalformedProfileError, match=r"line [12] is not a stack"):
        stacks_of_collapsed(text.encode(), "x.folded")


@pytest.mark.parametrize(
    ("text", "looks"),
    [("a;b 1\n", True), ("a;b 1\na 2\n", True), ("a;b", False), ("a 1\nb 2", False), ("", False)],
)
def test_what_looks_like_stacks(text, looks):
    assert (sniff(text.encode()).format is Format.COLLAPSED) is looks


def test_speedscope_with_events():
    """main from 1 to 4 s, and run inside it from 1.5 to 2 s."""
    events = [opened(0, 1), opened(1, 1.5), closed(1, 2), closed(0, 4)]
    data = json.dumps(speedscope(type="evented", events=events)).encode()
    assert sniff(data).format is Format.SPEEDSCOPE
    found = stacks_of_speedscope(data, "x")
    assert found.types == [SampleType("time", "nanoseconds")]
    assert found.own(0).tolist() == [2_500_000_000, 500_000_000]
    assert found.frames[1] == StackFrame("run", "a.py", 12)


@pytest.mark.parametrize(
    "profile",
    [
        {"type": "evented", "events": [closed(0, 2)]},
        {"type": "evented", "events": [opened(0, 1), closed(1, 2)]},
        {"type": "sampled", "samples": [[7]], "weights": [1]},
        {"type": "sampled", "samples": [[-1]], "weights": [1]},
        {"type": "sampled", "samples": [[0]], "weights": []},
        {"type": "sampled", "samples": [[0]], "weights": [float("inf")]},
        {"type": "sampled", "samples": [[0]], "weights": [1e300]},
        {"type": "sampled", "unit": "parsecs", "samples": [], "weights": []},
        {"type": "sampled"},
    ],
)
def test_speedscope_that_is_damaged(profile):
    with pytest.raises(MalformedProfileError, match=r"^s\.json: not a speedscope profile, or d"):
        stacks_of_speedscope(json.dumps(speedscope(**profile)).encode(), "s.json")


COLLAPSED = b"main;run (a.py:12) 5\nmain 9223372036854775807\n"


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (stacks_of_pprof, PPROF),
        (stacks_of_speedscope, SPEEDSCOPE),
        (stacks_of_collapsed, COLLAPSED),
    ],
)
def test_damage_is_an_error_of_ours_or_can_be_written_again(reader, data):
    chance = random.Random(7)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            found = reader(
                bytes(damaged[: chance.choice([None, chance.randrange(len(data))])]), "x"
            )
        except MalformedProfileError:
            continue
        for write in (pprof_chunks, collapsed_chunks, callgrind_chunks):
            assert all(isinstance(chunk, bytes) for chunk in write(found))
        json.loads(b"".join(speedscope_chunks(found, "x")))


def test_sums_that_no_number_holds():
    found = stacks_of_collapsed(b"a;b 999999999999999999\n" * 20, "x")
    assert found.totals(0).tolist() == [(1 << 63) - 1] * 2


@pytest.mark.parametrize("n_samples", [0, 1])
def test_a_pprof_without_sample_types_measures_nothing(n_samples):
    profile = pb.Profile(string_table=[""], sample=[pb.Sample()] * n_samples)
    with pytest.raises(MalformedProfileError, match="has no sample type"):
        stacks_of_pprof(profile.SerializeToString(), "x")


def test_a_column_for_each_label_does_not_fill_the_memory():
    profile = go_profile()
    for at in range(3000):
        profile.string_table.append(f"label {at}")
        profile.sample.add(location_id=[1], value=[1, 5]).label.add(key=9 + at, num=at)
    with pytest.raises(MalformedProfileError, match="3,001 different labels in 3,003 samples"):
        stacks_of_pprof(profile.SerializeToString(), "file")
