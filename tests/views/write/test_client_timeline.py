"""The trace is TensorFlow's, byte for byte; its facts are in the spec of ``client.timeline``."""

import hashlib
import itertools
import json
import warnings
from pathlib import Path

import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.core.wire.walk import walk
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, run_on, stat
from tfprof.views.write.client_timeline.step import (
    AllocationMaximum,
    assign_lanes,
    parse_kernel_label,
    parse_op_label,
)
from tfprof.views.write.client_timeline.timeline import Timeline

RECORDED = Path(__file__).with_name("recorded")
STEP = RECORDED / "client_timeline.pbtxt"

ANSWERS = {
    "default": {},
    "memory": {"show_memory": True},
    "gpu": {"show_memory": True, "op_time": "gpu"},
    "all": {"show_dataflow": False, "op_time": "all"},
}
"""Recorded file, by its last word, and the arguments it is the answer to."""

DEMO_DIGESTS = {
    "default": "b5bf6e2666119ac74f6e1a264527165c4fdaef616e88309b4deb2866391153e5",
    "memory": "c01d8af0cd5c2aa8d81d2399bb9b0e0c286e1ff4804ac3651529eeb4658b03f7",
}
"""SHA-256 of TensorFlow's answers for the demo."""


def events(source, **arguments):
    """Events of a trace but for the names of processes."""
    text = Timeline(source).generate_chrome_trace_format(**arguments)
    found = json.loads(text)["traceEvents"]
    n_names = sum(event["ph"] == "M" for event in found)
    assert all(event["ph"] == "M" for event in found[:n_names])
    return found[n_names:]


def made(micros=1, *, start=1000, label="", tensors=()):
    """A stat with outputs, each an allocator with requested bytes."""
    added = stat(micros, start=start, label=label)
    for allocator, size in tensors:
        allocation = added.output.add().tensor_description.allocation_description
        allocation.allocator_name, allocation.requested_bytes = allocator, size
    return added


def test_without_stats_only_the_allocators_are_named():
    assert Timeline(pb.StepStats()).generate_chrome_trace_format() == (
        "{\n"
        '    "traceEvents": [\n'
        "        {\n"
        '            "name": "process_name",\n'
        '            "ph": "M",\n'
        '            "pid": 0,\n'
        '            "args": {\n'
        '                "name": "Allocators"\n'
        "            }\n"
        "        }\n"
        "    ]\n"
        "}"
    )


def test_each_device_is_two_processes():
    text = Timeline(run_on({CPU: {}, GPU: {}})).generate_chrome_trace_format()
    assert [(event["pid"], event["args"]["name"]) for event in json.loads(text)["traceEvents"]] == [
        (0, "Allocators"),
        (1, f"{CPU} Compute"),
        (2, f"{CPU} Tensors"),
        (3, f"{GPU} Compute"),
        (4, f"{GPU} Tensors"),
    ]


def test_the_last_block_of_a_device_gives_the_processes_of_all():
    step = run_on({CPU: {"a": 1}})
    step.step_stats.dev_stats.add().CopyFrom(step.step_stats.dev_stats[0])
    assert [event["pid"] for event in events(step)] == [3, 3]


def test_an_op_is_one_event_with_its_inputs():
    assert events(run_on({CPU: {"y": stat(7, start=50, label="y = MatMul(x, w:1)")}})) == [
        {
            "ph": "X",
            "cat": "Op",
            "name": "MatMul",
            "pid": 1,
            "tid": 0,
            "ts": 50,
            "dur": 7,
            "args": {"name": "y", "op": "MatMul", "input0": "x", "input1": "w:1"},
        }
    ]


@pytest.mark.parametrize(
    ("starts", "durations", "lanes"),
    [
        ([], [], []),
        ([10, 20, 31], [10, 10, 5], [0, 1, 0]),  # a lane is free only after its end
        ([10, 11, 12, 16], [5, 1, 9, 1], [0, 1, 2, 0]),
        ([10, 5], [2, 1], [0, 1]),  # late in the message
        ([0, 0, -1], [5, 5, 0], [1, 2, 3]),  # lane 0 is taken until after 0
        ([9, 9], [-4, 1], [0, 0]),
    ],
)
def test_lanes(starts, durations, lanes):
    assert assign_lanes(starts, durations) == lanes


@pytest.mark.parametrize(
    ("label", "op", "inputs"),
    [
        ("y = MatMul(x, w)", "MatMul", "x, w"),
        ("y = NoOp()", "NoOp", ""),
        ("y = Cast[T=f](x,w) and more", "Cast[T=f]", "x,w"),
        ("a = b = F(x)", "F", "x"),
        ("a = F(x = G(y)", "G", "y"),
        ("a = F(x) = H", "F", "x"),
        ("a = F(x)(y)", "F(x)", "y"),
        ("a = F(x) (", "F", "x"),
        (" = ()", "", ""),
        ("a = F(x)\nb = G(y)", "F", "x"),
        ("\na = F(x)", "unknown", ""),
        ("a = F(\n)", "unknown", ""),
        ("a =F(x)", "unknown", ""),
        ("a = F)x(", "unknown", ""),
        ("F(a = b)", "unknown", ""),
        ("a = F", "unknown", ""),
        ("", "unknown", ""),
    ],
)
def test_labels_of_ops(label, op, inputs):
    assert parse_op_label(label) == (op, inputs)


@pytest.mark.parametrize(
    ("label", "name", "op"),
    [
        ("sgemm@@y:MatMul#id=1#", "y", "MatMul"),
        ("sgemm@@y#", "y", "unknown"),
        ("sgemm@@y:MatMul:2#", "y", "MatMul"),
        ("sgemm@@#", "node", "Op"),
        ("sgemm@@y:MatMul", "node", "Op"),
        ("#sgemm@@y:MatMul#", "node", "Op"),
        ("", "node", "Op"),
    ],
)
def test_labels_of_kernels(label, name, op):
    assert parse_kernel_label(label, "node:Op") == (name, op)


def test_kernels_and_received_tensors_have_no_inputs():
    kernel = stat(label="y = MatMul(x)")
    step = run_on({GPU_STREAMS: {"y:MatMul": kernel}, CPU: {"RecvTensor": stat(label="a = B(x)")}})
    assert [event["args"] for event in events(step)] == [
        {"name": "y", "op": "MatMul"},
        {"name": "RecvTensor", "op": "RecvTensor"},
    ]


def test_arrows_lead_to_other_rows_only():
    step = run_on(
        {
            CPU: {
                "x": made(5, start=10, tensors=[("cpu", 4), ("cpu", 4)]),
                "same_row": stat(1, start=20, label="same_row = F(x)"),
                "next_row": stat(1, start=21, label="next_row = F(x:1, ghost)"),
            },
            GPU: {"far": stat(1, start=30, label="far = F(x/_7, ^x, x:1/_8)")},
        }
    )
    arrows = [event for event in events(step) if event["cat"] == "DataFlow"]
    common = {"cat": "DataFlow"}
    assert arrows == [
        {"ph": ph, **common, "name": name, "pid": pid, "tid": tid, "ts": ts, "id": number}
        for ph, name, pid, tid, ts, number in [
            ("s", "x:1", 1, 0, 15, 0),
            ("t", "x:1", 1, 1, 21, 0),
            ("s", "x", 1, 0, 15, 1),
            ("t", "x", 3, 0, 30, 1),
            ("s", "x:1", 1, 0, 15, 2),
            ("t", "x:1", 3, 0, 30, 2),
        ]
    ]
    assert [e["ph"] for e in events(step, show_dataflow=False)] == ["X"] * 4


def test_a_tensor_lives_from_its_op_to_its_last_use():
    step = run_on(
        {
            CPU: {
                "x": made(5, start=10, tensors=[("cpu", 4)]),
                "y": stat(9, start=20, label="y = F(x)"),
            }
        }
    )
    found = [event for event in events(step, show_memory=True) if event["cat"] != "Op"]
    tensor = {"cat": "Tensor", "name": "x", "pid": 2, "tid": 0}
    counter = {"ph": "C", "cat": "Memory", "name": "cpu", "pid": 0, "tid": 0}
    assert found == [
        {"ph": "N", **tensor, "ts": 10, "id": 0},
        {"ph": "O", **tensor, "ts": 14, "id": 0, "args": found[1]["args"]},
        {"ph": "D", **tensor, "ts": 28, "id": 0},
        {**counter, "ts": 10, "args": {"cpu": 4}},
        {**counter, "ts": 28, "args": {"cpu": 0}},
    ]
    description = found[1]["args"]["snapshot"]["tensor_description"]
    assert description.split() == (
        ["allocation_description", "{", "requested_bytes:", "4", "allocator_name:", "cpu", "}"]
    )


def test_maximums_of_each_allocator():
    step = run_on(
        {
            CPU: {
                "a": made(10, start=10, tensors=[("cpu", 4), ("gpu", 1)]),  # until 20
                "none": made(1, start=11, tensors=[("cpu", 0), ("idle", 0)]),
                "b": made(10, start=15, tensors=[("cpu", 2)]),  # until 25
                "c": made(10, start=20, tensors=[("cpu", 4)]),  # a is gone: no more than before
                "d": made(10, start=40, tensors=[("cpu", 6)]),  # as much as before
            }
        }
    )
    assert Timeline(step).analyze_step_stats().allocator_maximums == {
        "cpu": AllocationMaximum(15, 6, {"a", "none", "b"}),
        "gpu": AllocationMaximum(10, 1, {"a:1"}),
        "idle": AllocationMaximum(0, 0, set()),
    }
    assert Timeline(step).analyze_step_stats(show_memory=False).allocator_maximums == {}


@pytest.mark.parametrize(
    ("op_time", "start", "duration"), [("schedule", 10, 5), ("gpu", 30, 20), ("all", 10, 40)]
)
def test_op_time(op_time, start, duration):
    kernels = [("y:F", stat(10, start=40)), ("k", stat(2, start=30, label="k@@y:F#"))]
    late = {"y:F": stat(10, start=90)}
    step = run_on({GPU: {"y": stat(5, start=10)}, GPU_STREAMS: kernels, "/gpu/stream:1": late})
    (op, *others) = events(step, op_time=op_time)
    assert (op["ts"], op["dur"]) == (start, duration)
    assert [event["ts"] for event in others] == [40, 30, 90]


def test_an_op_that_ends_after_its_kernels_keeps_its_end():
    step = run_on({GPU: {"y": stat(50, start=10)}, GPU_STREAMS: {"y:F": stat(5, start=20)}})
    op = events(step, op_time="gpu")[0]
    assert (op["ts"], op["dur"]) == (20, 40)


def test_all_ways_to_give_a_step(tmp_path):
    step = run_on({CPU: {"y": stat(7, label="y = F()")}})
    data = step.SerializeToString()
    binary, text = tmp_path / "run_meta.pb", tmp_path / "run_meta.pbtxt"
    binary.write_bytes(data)
    text.write_text(str(step), "utf-8")
    expected = Timeline(step.step_stats).generate_chrome_trace_format()
    for source in (step, data, bytearray(data), binary, str(binary), text):
        assert Timeline(source, graph=None).generate_chrome_trace_format() == expected


def foreign(name):
    """A message class from a descriptor pool that is not ours."""
    pool = DescriptorPool()
    data = (Path(tfprof.__file__).parent / "core" / "wire" / "descriptors.binpb").read_bytes()
    for field in walk(memoryview(data)):
        pool.AddSerializedFile(data[field.offset : field.offset + field.value])
    return GetMessageClass(pool.FindMessageTypeByName(name))


@pytest.mark.parametrize("name", ["StepStats", "RunMetadata"])
def test_messages_of_any_class_are_read_and_left_as_they_are(name):
    ours = tfprof.files.open.open_message(
        STEP, (tfprof.files.sniff.Format.RUN_METADATA,), argument="step"
    ).message
    message = ours.step_stats if name == "StepStats" else ours
    theirs = foreign(f"tensorflow.{name}").FromString(message.SerializeToString())
    before = theirs.SerializeToString(deterministic=True)
    for op_time in ("schedule", "gpu", "all"):
        arguments = {"show_memory": True, "op_time": op_time}
        timeline = Timeline(theirs)
        first = timeline.generate_chrome_trace_format(**arguments)
        assert first == timeline.generate_chrome_trace_format(**arguments)
        assert first == Timeline(message).generate_chrome_trace_format(**arguments)
    assert theirs.SerializeToString(deterministic=True) == before
    assert not any(s.thread_id for block in ours.step_stats.dev_stats for s in block.node_stats)


def test_other_sources_are_refused(tmp_path):
    for source in (5, None, pb.GraphDef(), [b""]):
        with pytest.raises(tfprof.UsageError, match="step_stats must be a RunMetadata message"):
            Timeline(source)
    with pytest.raises(tfprof.InputError, match="cannot be read"):
        Timeline(tmp_path / "missing.pb")
    with pytest.raises(tfprof.UnknownFormatError, match="GraphDef"):
        Timeline(tfprof.demo_files().graph)


def test_text_without_white_space_says_the_same():
    trace = Timeline(STEP).analyze_step_stats().chrome_trace
    pretty, dense = trace.format_to_string(pretty=True), trace.format_to_string()
    assert dense == json.dumps(json.loads(pretty), separators=(",", ":"))
    assert pretty == json.dumps(json.loads(dense), indent=4)


def test_long_labels_take_no_long_time():
    hostile = " = (" * 100_000
    assert parse_op_label(hostile) == ("unknown", "")


@pytest.mark.parametrize("answer", ANSWERS)
def test_recorded_answers_of_tensorflow(answer):
    expected = (RECORDED / f"client_timeline_{answer}.json").read_text("utf-8")
    text = Timeline(STEP).generate_chrome_trace_format(**ANSWERS[answer])
    assert text + "\n" == expected


@pytest.mark.parametrize("answer", DEMO_DIGESTS)
def test_recorded_answers_of_tensorflow_for_the_demo(answer):
    text = Timeline(tfprof.demo_files().run_meta).generate_chrome_trace_format(**ANSWERS[answer])
    assert hashlib.sha256(text.encode()).hexdigest() == DEMO_DIGESTS[answer]


# With TensorFlow.


@pytest.fixture(scope="module")
def tensorflow_timeline():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's own
        pytest.importorskip("tensorflow")
        from tensorflow.core.framework import step_stats_pb2
        from tensorflow.python.client import timeline
    return lambda data: timeline.Timeline(step_stats_pb2.StepStats.FromString(data))


FLAGS = list(itertools.product([True, False], [True, False], ["schedule", "gpu", "all"]))


def assert_equal_answers(tensorflow_timeline, step_stats, flags):
    data = step_stats.SerializeToString()
    ours = Timeline(step_stats)
    for arguments in flags:
        expected = tensorflow_timeline(data).generate_chrome_trace_format(*arguments)
        assert ours.generate_chrome_trace_format(*arguments) == expected
        theirs, found = (
            made.analyze_step_stats(*arguments) for made in (tensorflow_timeline(data), ours)
        )
        assert found.allocator_maximums == theirs.allocator_maximums
        assert list(found.allocator_maximums) == list(theirs.allocator_maximums)
        expected = theirs.chrome_trace.format_to_string()
        assert found.chrome_trace.format_to_string() == expected
    assert step_stats.SerializeToString() == data


NAMES = st.sampled_from(
    ["x", "y", "z:1", "y/_3", "/_3", "RecvTensor", "a = b(c)", "ü\n\u2028😀\x7f", "", "%s%d"]
)
INPUTS = st.lists(NAMES | st.sampled_from(["x:1", "x:2", "y:1", "y/_9", "ghost/_1", "^x"]))
LABELS = st.one_of(
    st.builds(lambda n, o, i: f"{n} = {o}({', '.join(i)})", NAMES, NAMES, INPUTS),
    st.builds("{}@@{}:{}#{}".format, NAMES, NAMES, NAMES, NAMES),
    st.text(alphabet="a =(),:@#\n", max_size=20),
    st.text(max_size=5),
)
TIMES = st.integers(-3, 40) | st.integers(-(2**60), 2**60)
SIZES = st.sampled_from([0, 0, 1, 2, 2, 3, 100, -1]) | st.integers(-(2**62), 2**62)


@st.composite
def outputs(draw):
    output = pb.NodeOutput(slot=draw(st.integers(0, 3)))
    if draw(st.booleans()):
        tensor = output.tensor_description
        tensor.dtype = draw(st.sampled_from([0, 1, 3, 7, 101]))
        tensor.shape.dim.extend(
            pb.TensorShapeProto.Dim(size=size, name=draw(st.sampled_from(["", 'd"\\é'])))
            for size in draw(st.lists(st.integers(-1, 4), max_size=2))
        )
        allocation = tensor.allocation_description
        allocation.requested_bytes = draw(SIZES)
        allocation.allocator_name = draw(st.sampled_from(["cpu", "gpu", "", 'ö"{}%s']))
        allocation.ptr = draw(st.integers(0, 2**64 - 1))
    return output


@st.composite
def step_stats(draw):
    made = pb.StepStats()
    devices = [CPU, GPU, GPU_STREAMS, "/device:GPU:0/memcpy", "/gpu:0/stream:2", "", "ü%"]
    jobs = [f"{GPU}/stream:all", f"{CPU}/memcpy"]
    for device in draw(st.lists(st.sampled_from(devices + jobs), max_size=5)):
        block = made.dev_stats.add(device=device)
        for _ in range(draw(st.integers(0, 6))):
            block.node_stats.add(
                node_name=draw(NAMES),
                timeline_label=draw(LABELS),
                all_start_micros=draw(TIMES),
                all_end_rel_micros=draw(TIMES),
                output=draw(st.lists(outputs(), max_size=3)),
                thread_id=draw(st.integers(0, 3)),
            )
    return made


@pytest.mark.tensorflow
@settings(max_examples=150, deadline=None)
@given(step_stats=step_stats(), flags=st.sampled_from(FLAGS))
def test_random_steps_as_tensorflow(tensorflow_timeline, step_stats, flags):
    assert_equal_answers(tensorflow_timeline, step_stats, [flags])


@pytest.mark.tensorflow
@pytest.mark.parametrize("flags", [pytest.param(FLAGS[0], marks=pytest.mark.thorough), FLAGS[3]])
def test_the_demo_as_tensorflow(tensorflow_timeline, flags):
    """With and without memory; the other flags choose among GPUs, and the demo has none.

    With memory, TensorFlow takes time by the square of the ops: 20 s.
    """
    step = Timeline(tfprof.demo_files().run_meta)._step_stats
    assert_equal_answers(tensorflow_timeline, step, [flags])


@pytest.mark.tensorflow
@pytest.mark.parametrize("answer", ANSWERS)
def test_recorded_answers_are_fresh(tensorflow_timeline, answer):
    data = Timeline(STEP)._step_stats.SerializeToString()
    text = tensorflow_timeline(data).generate_chrome_trace_format(**ANSWERS[answer])
    assert (RECORDED / f"client_timeline_{answer}.json").read_text("utf-8") == text + "\n"


@pytest.mark.tensorflow
def test_tensorflows_own_message_stays_as_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        from tensorflow.core.protobuf import config_pb2
    data = Timeline(STEP)._step_stats.SerializeToString()
    theirs = config_pb2.RunMetadata()
    theirs.step_stats.MergeFromString(data)
    expected = Timeline(STEP).generate_chrome_trace_format(show_memory=True)
    for source in (theirs, theirs.step_stats):
        assert Timeline(source).generate_chrome_trace_format(show_memory=True) == expected
    assert theirs.step_stats.SerializeToString() == data
