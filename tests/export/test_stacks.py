import gzip
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from tests.ui.pages.trace.traces import model, track
from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.stacks import SampleType, StackFrame, StackTree
from tfprof.core.wire import messages as pb
from tfprof.export.callgrind import callgrind_chunks
from tfprof.export.collapsed import collapsed_chunks
from tfprof.export.otlp import otlp_chunks
from tfprof.export.pprof import pprof_chunks
from tfprof.export.profiles import stacks_of_profile
from tfprof.export.speedscope import speedscope_chunks
from tfprof.export.stacks import stacks_of_trace
from tfprof.files.collapsed import stacks_of_collapsed
from tfprof.files.pprof import stacks_of_pprof
from tfprof.files.speedscope import stacks_of_speedscope

pytestmark = pytest.mark.one_engine

US = 10**6
HOSTILE = 'a;b\n"c" \x1b[31m\u202e'


@pytest.fixture
def stacks():
    """main (7 of its own) calls work (5) from line 12, which calls itself (1); two types."""
    tree = StackTree()
    main = tree.node(-1, StackFrame("main", "a.py", 3))
    work = tree.node(main, StackFrame("work", "a.py", 12))
    again = tree.node(work, StackFrame("work", "a.py", 12))
    hostile = tree.node(-1, StackFrame(HOSTILE))
    return tree.stacks(
        [SampleType("events", "count"), SampleType("time", "nanoseconds")],
        [main, work, again, hostile, work],
        np.array([[1, 1, 1, 1, 1], [7, 2, 1, 4, 3]]),
        {"step": Coded(np.array([0, 1, -1, 0, 0]), ["train 1", "train 2"])},
        {"bytes": np.array([-1, 5, -1, 0, 7])},
        default=1,
    )


def content(chunks):
    return b"".join(chunks)


def test_own_weights_and_totals(stacks):
    assert stacks.own(1).tolist() == [7, 5, 1, 4]
    assert stacks.totals(1).tolist() == [13, 6, 1, 4]
    assert stacks.totals(0).tolist() == [4, 3, 1, 1]


def test_collapsed_lines(stacks):
    assert content(collapsed_chunks(stacks)).decode().splitlines() == [
        "main (a.py:3) 7",
        "main (a.py:3);work (a.py:12) 5",
        "main (a.py:3);work (a.py:12);work (a.py:12) 1",
        'a:b\\n"c" \\x1b[31m\\u202e 4',
    ]


def test_collapsed_lines_are_read_back(stacks):
    again = stacks_of_collapsed(content(collapsed_chunks(stacks)), "x")
    assert again.frames[:2] == stacks.frames[:2]
    assert again.own(0).tolist() == stacks.own(1).tolist()


def test_speedscope_as_its_schema_says(stacks):
    made = json.loads(content(speedscope_chunks(stacks, HOSTILE)))
    frames = made["shared"]["frames"]
    assert frames[1] == {"name": "work", "file": "a.py", "line": 12}
    assert frames[2] == {"name": HOSTILE}
    assert (made["name"], made["activeProfileIndex"]) == (HOSTILE, 1)
    assert [each["unit"] for each in made["profiles"]] == ["none", "nanoseconds"]
    for profile in made["profiles"]:
        assert profile["type"] == "sampled"
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        assert all(0 <= at < len(frames) for stack in profile["samples"] for at in stack)
    assert made["profiles"][1]["samples"] == [[0], [0, 1], [0, 1, 1], [2]]
    assert made["profiles"][1]["weights"] == [7, 5, 1, 4]


def test_speedscope_is_read_back(stacks):
    again = stacks_of_speedscope(content(speedscope_chunks(stacks, "x")), "x")
    assert again.types == [SampleType("samples", "count"), SampleType("time", "nanoseconds")]
    assert again.values.sum(axis=1).tolist() == stacks.values.sum(axis=1).tolist()
    assert again.own(1).tolist() == stacks.own(1).tolist()
    assert again.labels["profile"].texts == ["events (count)", "time (nanoseconds)"]


def test_pprof_holds_everything(stacks):
    data = content(pprof_chunks(stacks, "note"))
    profile = pb.Profile.FromString(gzip.decompress(data))
    texts = profile.string_table
    assert texts[profile.default_sample_type] == "time"
    assert [texts[one] for one in profile.comment] == ["note"]
    again = stacks_of_pprof(data, "x")
    assert [frame.name for frame in again.frames] == [frame.name for frame in stacks.frames]
    assert again.frames == stacks.frames
    assert again.types == stacks.types
    assert again.values.tolist() == stacks.values.tolist()
    assert (again.parents.tolist(), again.nodes.tolist(), again.default) == (
        stacks.parents.tolist(),
        stacks.nodes.tolist(),
        1,
    )
    step = again.labels["step"]
    known = [step.texts[at] if at >= 0 else None for at in step.places.tolist()]
    assert known == ["train 1", "train 2", None, "train 1", "train 1"]
    assert again.numbers["bytes"].tolist() == [-1, 5, -1, 0, 7]
    assert data == content(pprof_chunks(stacks, "note"))


def callgrind(text):
    """A small reader: own costs and calls by function, names by number."""
    names, own, calls, totals = {}, {}, {}, None
    function = called = None
    for row in text.splitlines():
        if found := re.match(r"(fl|fn|cfi|cfn)=\((\d+)\)(?: (.*))?$", row):
            key, number, name = found.groups()
            space = "file" if key in ("fl", "cfi") else "function"
            if name is not None:
                assert (space, number) not in names
                names[space, number] = name
            if key == "fn":
                function = names[space, number]
            if key == "cfn":
                called = names[space, number]
        elif found := re.match(r"calls=(\d+) \d+$", row):
            count = int(found[1])
        elif found := re.match(r"\d+((?: \d+)+)$", row):
            costs = [int(each) for each in found[1].split()]
            if called is None:
                own[function] = costs
            else:
                calls[function, called] = (count, costs)
                called = None
        elif row.startswith("totals:"):
            totals = [int(each) for each in row.split()[1:]]
    return own, calls, totals


def test_callgrind_is_read_back(stacks):
    text = content(callgrind_chunks(stacks)).decode()
    assert "events: time events\n" in text
    own, calls, totals = callgrind(text)
    assert own["main"] == [7, 1]
    assert own["work"] == [6, 3]
    assert calls == {("main", "work"): (2, [6, 3]), ("work", "work"): (1, [1, 1])}
    assert totals == [17, 5] == [sum(costs[k] for costs in own.values()) for k in (0, 1)]
    assert '(3) a;b\\n"c" \\x1b[31m\\u202e' in text


def test_a_trace_as_stacks():
    """Self times: of the outer a 10 - 4 us, of its inner b 4 us; in the next step a again."""
    own = track([(0, 10 * US), (2 * US, 4 * US), (20 * US, US)], kinds=[0, 1, 0])
    own.steps = lambda places: Coded((places == 2).astype(np.int64), ["train 0", "train 1"])
    found = stacks_of_trace(model(own), "run 7")
    assert content(collapsed_chunks(found)).decode().splitlines() == [
        "host;thread;a 7000",
        "host;thread;a;b 4000",
    ]
    assert found.values.tolist() == [[1, 1, 1], [6000, 1000, 4000]]
    step = found.labels["step"]
    assert [step.texts[at] for at in step.places.tolist()] == ["train 0", "train 1", "train 0"]
    assert found.labels["run"].texts == ["run 7"]
    assert found.labels["device"].texts == ["host"]


def test_derived_lines_count_once():
    derived = track([(0, 10 * US)])
    derived.is_derived = True
    found = stacks_of_trace(model(track([(0, US)]), derived))
    assert found.values.sum(axis=1).tolist() == [1, 1000]


def test_labels_of_a_run_name_host_device_and_step():
    from tfprof.captures.trace.from_run import model_of_run
    from tfprof.demo import demo_capture

    found = stacks_of_trace(model_of_run(tfprof.open_run(demo_capture("input-bound"))), "r")
    assert set(found.labels) == {"run", "host", "device", "step"}
    assert "/host:CPU" in found.labels["device"].texts
    assert "train 0" in found.labels["step"].texts
    times = found.values[1].sum()
    assert stacks_of_pprof(content(pprof_chunks(found)), "x").values[1].sum() == times > 0


def otlp_profiles(data):
    """For each resource its profiles: stacks, the outermost call first, attributes, values."""
    told = pb.Otlp.ProfilesData.FromString(data)
    known = told.dictionary
    texts = known.string_table
    attributes = [
        (texts[one.key_strindex], one.value.string_value or one.value.int_value)
        for one in known.attribute_table
    ]

    def frame(place):
        (line,) = known.location_table[place].lines
        function = known.function_table[line.function_index]
        return texts[function.name_strindex], texts[function.filename_strindex], line.line

    return [
        [
            (
                [frame(at) for at in reversed(known.stack_table[one.stack_index].location_indices)],
                dict(attributes[at] for at in one.attribute_indices),
                one.values[0],
            )
            for one in profile.samples
        ]
        for resource in told.resource_profiles
        for profile in resource.scope_profiles[0].profiles
    ]


def test_opentelemetry_has_a_profile_of_each_type(stacks):
    data = content(otlp_chunks(stacks, {"service.name": HOSTILE}, begin_ns=5, duration_ns=6))
    counts, times = otlp_profiles(data)
    assert [value for *_, value in counts] == [1, 1, 1, 1, 1]
    main, work = ("main", "a.py", 3), ("work", "a.py", 12)
    assert times == [
        ([main], {"step": "train 1"}, 7),
        ([main, work], {"step": "train 2", "bytes": 5}, 2),
        ([main, work, work], {}, 1),
        ([(HOSTILE, "", 0)], {"step": "train 1", "bytes": 0}, 4),
        ([main, work], {"step": "train 1", "bytes": 7}, 3),
    ]
    told = pb.Otlp.ProfilesData.FromString(data)
    known, (resource,) = told.dictionary, told.resource_profiles
    assert resource.resource.attributes[0].value.string_value == HOSTILE
    profile = resource.scope_profiles[0].profiles[0]
    assert (profile.time_unix_nano, profile.duration_nano) == (5, 6)
    unit = profile.sample_type
    assert known.string_table[unit.type_strindex] == "events"
    assert known.string_table[unit.unit_strindex] == "count"
    for table in (known.mapping_table, known.location_table, known.function_table,
                  known.link_table, known.attribute_table, known.stack_table):  # fmt: skip
        assert table[0].ByteSize() == 0  # index 0 is none
    assert known.string_table[0] == "" and len(set(known.string_table)) == len(known.string_table)
    assert content(otlp_chunks(stacks)) == content(otlp_chunks(stacks))


def test_a_profile_as_stacks():
    files = tfprof.demo_files()
    found = stacks_of_profile(tfprof.open_profile(files.graph, files.run_meta, files.op_log))
    kinds = [told.name for told in found.types]
    assert kinds[:2] == ["runs", "micros"]
    assert any(frame.file.endswith("train.py") for frame in found.frames)
    assert set(found.labels) >= {"op", "op_type", "device"}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(st.text(max_size=4), min_size=1, max_size=4), st.integers(1, 99)),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_names_are_weights_stay(rows):
    tree, nodes = StackTree(), []
    for names, _ in rows:
        node = -1
        for name in names:
            node = tree.node(node, StackFrame(name))
        nodes.append(node)
    weights = np.array([[weight for _, weight in rows]])
    given = tree.stacks([SampleType("samples", "count")], nodes, weights)
    total = int(weights.sum())
    assert stacks_of_collapsed(content(collapsed_chunks(given)), "x").values.sum() == total
    assert stacks_of_pprof(content(pprof_chunks(given)), "x").values.sum() == total
    [kept] = otlp_profiles(content(otlp_chunks(given)))
    assert sum(value for _, _, value in kept) == total
    _, _, totals = callgrind(content(callgrind_chunks(given)).decode())
    assert totals == [total]
    [profile] = json.loads(content(speedscope_chunks(given, "x")))["profiles"]
    assert profile["endValue"] == total
