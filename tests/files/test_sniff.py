import functools
import gzip
import io
import lzma
import os
import zipfile
from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfprof.core.wire import messages
from tfprof.core.wire.parsing import with_article
from tfprof.core.wire.pool import is_repeated
from tfprof.errors import UnknownFormatError
from tfprof.files.sniff import Format, Sniffed, check_expected, sniff

MESSAGES = {
    Format.GRAPH_DEF: messages.GraphDef,
    Format.META_GRAPH_DEF: messages.MetaGraphDef,
    Format.SAVED_MODEL: messages.SavedModel,
    Format.RUN_METADATA: messages.RunMetadata,
    Format.OP_LOG: messages.OpLogProto,
    Format.PROFILE: messages.ProfileProto,
    Format.PPROF: messages.Profile,
    Format.XSPACE: messages.XSpace,
}


def graph():
    nodes = [
        messages.NodeDef(name="x", op="Placeholder", attr={"T": messages.AttrValue(type=1)}),
        messages.NodeDef(name="y", op="Relu", input=["x"], device="/cpu:0"),
    ]
    return messages.GraphDef(node=nodes, versions=messages.VersionDef(producer=27))


def run_metadata():
    stats = [messages.NodeExecStats(node_name="y", all_start_micros=10, all_end_rel_micros=3)]
    device = messages.DeviceStepStats(device="/device:CPU:0", node_stats=stats)
    return messages.RunMetadata(step_stats=messages.StepStats(dev_stats=[device]))


def op_log():
    entry = messages.OpLogEntry(name="y", float_ops=8, types=["_trainable_variables"])
    return messages.OpLogProto(log_entries=[entry], id_to_string={1: "f.py"})


def profile():
    node = messages.ProfileNode(name="y", op="Relu", id=1, inputs={0: 0})
    return messages.ProfileProto(nodes={1: node}, steps=[0], has_trace=True)


def pprof():
    made = messages.Profile(string_table=["", "time", "us"])
    made.sample_type.add(type=1, unit=2)
    made.sample.add(location_id=[1], value=[5])
    return made


def xspace():
    plane = messages.XPlane(id=1, name="/host:CPU", event_metadata={1: messages.XEventMetadata()})
    plane.lines.add(id=3, name="python", timestamp_ns=5).events.add(metadata_id=1, duration_ps=9)
    return messages.XSpace(planes=[plane], hostnames=["worker"])


def meta_graph():
    info = messages.MetaGraphDef.MetaInfoDef(tags=["serve"], tensorflow_version="2.21.0")
    return messages.MetaGraphDef(meta_info_def=info, graph_def=graph())


def saved_model():
    return messages.SavedModel(saved_model_schema_version=1, meta_graphs=[meta_graph()])


SAMPLES = {
    Format.GRAPH_DEF: graph,
    Format.META_GRAPH_DEF: meta_graph,
    Format.SAVED_MODEL: saved_model,
    Format.RUN_METADATA: run_metadata,
    Format.OP_LOG: op_log,
    Format.PROFILE: profile,
    Format.PPROF: pprof,
    Format.XSPACE: xspace,
}


@pytest.mark.parametrize("format_", SAMPLES)
def test_binary_and_text_of_each_message(format_):
    message = SAMPLES[format_]()
    data = message.SerializeToString()
    found = sniff(data)
    assert (found.format, found.is_text) == (format_, False)
    assert check_expected(data, format_, "x") is False
    text = text_format.MessageToString(message).encode()
    found = sniff(text)
    assert (found.format, found.is_text) == (format_, True)
    assert check_expected(b"# a comment\n\n" + text, format_, "x.pbtxt") is True


@pytest.mark.parametrize("expected", SAMPLES)
@pytest.mark.parametrize("given_", SAMPLES)
def test_every_mix_up_is_named(expected, given_):
    if given_ is expected:
        return
    message = SAMPLES[given_]()
    for data in (message.SerializeToString(), text_format.MessageToString(message).encode()):
        with pytest.raises(UnknownFormatError) as caught:
            check_expected(data, expected, "x.pb")
        assert str(caught.value).startswith(f"x.pb: not {with_article(expected.value)} message: ")
        assert f"It looks like {with_article(given_.value)}; " in str(caught.value)


def test_message_of_a_mix_up():
    with pytest.raises(UnknownFormatError) as caught:
        check_expected(graph().SerializeToString(), Format.OP_LOG, "run_meta_3.pb")
    assert str(caught.value) == (
        "run_meta_3.pb: not an OpLogProto message: field 2 (float_ops) has wire type 2 at byte 5. "
        "It looks like a GraphDef; use --graph_path."
    )


def zipped(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, b"x")
    return buffer.getvalue()


OTHERS = [
    (b"", "x", Format.EMPTY),
    (gzip.compress(b"x"), "x", Format.GZIP),
    (lzma.compress(b"x"), "x", Format.XZ),
    (b"\x28\xb5\x2f\xfd\x20\x01\x09\x00\x00x", "x", Format.ZSTD),
    (b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd", "x", Format.ZSTD),
    (zipped("a.txt"), "x", Format.ZIP),
    (zipped("a.txt"), "m.keras", Format.KERAS),
    (zipped("model.weights.h5"), "x", Format.KERAS),
    (b"\x89HDF\r\n\x1a\n" + bytes(20), "x.h5", Format.HDF5),
    (b"\x00\x01" * 30 + bytes.fromhex("57fb808b247547db"), "c.index", Format.CHECKPOINT),
    (b'{"displayTimeUnit": "ns", "traceEvents": []}', "x", Format.CHROME_TRACE),
    (b'[{"ph": "X", "ts": 1}]', "x", Format.CHROME_TRACE),
    (
        b"\x18" + bytes(7) + b"\xa3\x7f\x4b\x22" + b"\x09\x00\x00\xc0\x1a\xd1\x2e\xd9\x41"
        b"\x1a\x0dbrain.Event:2" + bytes(4),
        "x",
        Format.EVENTS,
    ),
    (b"\n<!DOCTYPE html><html></html>", "x", Format.HTML),
    (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n",
        "graph.pb",
        Format.LFS_POINTER,
    ),
    (b"just some words, nothing else", "x", Format.TEXT),
    ("Größe: unbekannt".encode(), "x", Format.TEXT),
    (b'{"a": 1}', "x", Format.TEXT),
    (b"\xff" * 12, "x", Format.UNKNOWN),
]


@pytest.mark.parametrize(("data", "name", "format_"), OTHERS, ids=range(len(OTHERS)))
def test_other_formats(data, name, format_):
    assert sniff(data, name).format is format_
    if format_ is Format.EMPTY:
        assert check_expected(data, Format.GRAPH_DEF, name) is False
        return
    with pytest.raises(UnknownFormatError, match=r"It looks like |Its format is unknown") as caught:
        check_expected(data, Format.GRAPH_DEF, name)
    assert str(caught.value).startswith(f"{name}: not a GraphDef message: ")


def test_formats_that_are_not_messages_can_be_expected():
    data = bytes(30) + bytes.fromhex("57fb808b247547db")
    assert check_expected(data, Format.CHECKPOINT, "x") is False
    with pytest.raises(
        UnknownFormatError, match=r"x: not a TensorFlow checkpoint\. It looks like a"
    ):
        check_expected(graph().SerializeToString(), Format.CHECKPOINT, "x")


@pytest.mark.parametrize("format_", MESSAGES)
def test_nothing_and_blank_text_are_messages_without_fields(format_):
    assert check_expected(b"", format_, "x") is False
    assert check_expected(b"# only\n\n# comments\n", format_, "x") is True


def test_smallest_messages_pass():
    node = messages.GraphDef(node=[messages.NodeDef(name="a")]).SerializeToString()
    assert check_expected(node, Format.GRAPH_DEF, "x") is False
    entry = messages.OpLogProto(log_entries=[messages.OpLogEntry(name="a")]).SerializeToString()
    assert check_expected(entry, Format.OP_LOG, "x") is False
    assert sniff(node, "my_op_log").format is Format.OP_LOG
    assert sniff(node, "graph.pb").format is Format.GRAPH_DEF


def test_reserved_and_new_fields_pass():
    # cost_graph, which our schema reserves; a field of tomorrow beside known ones.
    assert check_expected(b"\x12\x02\x0a\x00", Format.RUN_METADATA, "x") is False
    newer = graph().SerializeToString() + b"\xa2\x06\x01x"
    assert check_expected(newer, Format.GRAPH_DEF, "x") is False
    old_trace = b"\x0a\x0f" + b"\x0a\x01a" + b"\x22\x0a\x0a\x08\x0a\x02fn\x10\x01\x1a\x00"
    assert check_expected(old_trace, Format.OP_LOG, "x") is False


@pytest.mark.parametrize("format_", SAMPLES)
def test_truncated_data_pass(format_):
    data = SAMPLES[format_]().SerializeToString()
    for size in range(len(data)):
        assert check_expected(data[:size], format_, "x") in (True, False)


@given(st.binary(max_size=300))
def test_sniffing_never_fails(data):
    assert isinstance(sniff(data), Sniffed)


def values(field, depth):
    if field.message_type is not None:
        return random_messages(field.message_type, depth - 1)
    if field.enum_type is not None:
        return st.sampled_from([v.number for v in field.enum_type.values])
    number = {
        field.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
        field.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
        field.CPPTYPE_UINT32: st.integers(0, 2**32 - 1),
        field.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
        field.CPPTYPE_FLOAT: st.floats(width=32),
        field.CPPTYPE_DOUBLE: st.floats(),
        field.CPPTYPE_BOOL: st.booleans(),
    }
    if field.cpp_type in number:
        return number[field.cpp_type]
    return st.binary(max_size=40) if field.type == field.TYPE_BYTES else st.text(max_size=40)


@functools.cache
def random_messages(descriptor, depth):
    cls = messages.message_class(descriptor.full_name)

    @st.composite
    def build(draw):
        fields = [f for f in descriptor.fields if depth > 0 or f.message_type is None]
        chosen = draw(st.lists(st.sampled_from(fields), max_size=3)) if fields else []
        message = cls()
        for field in chosen:
            fill(draw, message, field, depth)
        return message

    return build()


def fill(draw, message, field, depth):
    entry = field.message_type if field.message_type and is_repeated(field) else None
    if entry is not None and entry.GetOptions().map_entry:
        key = draw(values(entry.fields_by_number[1], depth))
        value = draw(values(entry.fields_by_number[2], depth))
        table = getattr(message, field.name)
        if entry.fields_by_number[2].message_type is not None:
            table[key].CopyFrom(value)
        else:
            table[key] = value
    elif is_repeated(field):
        getattr(message, field.name).extend(draw(st.lists(values(field, depth), max_size=2)))
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(draw(values(field, depth)))
    else:
        setattr(message, field.name, draw(values(field, depth)))


@pytest.mark.parametrize("format_", MESSAGES)
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=50)
@given(data=st.data())
def test_random_messages_of_the_expected_type_pass(format_, data):
    message = data.draw(random_messages(MESSAGES[format_].DESCRIPTOR, 3))
    assert check_expected(message.SerializeToString(), format_, "x") is False


def real_files():
    root = os.environ.get("TFPROF_SHARED")
    found = sorted(Path(root).glob("data/xplane/*/*.xplane.pb")) if root else []
    return found or [None]


@pytest.mark.parametrize("path", real_files(), ids=lambda p: p.parent.name if p else "none")
def test_real_captures(path):
    if path is None:
        pytest.skip("TFPROF_SHARED is not set")
    data = path.read_bytes()
    assert sniff(data) == Sniffed(Format.XSPACE, is_text=False, certainty=1.0)
    assert check_expected(data, Format.XSPACE, path.name) is False
    for format_ in set(MESSAGES) - {Format.XSPACE}:
        with pytest.raises(UnknownFormatError, match="It looks like an XSpace"):
            check_expected(data, format_, path.name)
