import contextlib

import pytest
from google.protobuf.message import DecodeError

from tests.core.wire.engines import by_compiled_protobuf
from tfprof.core.wire import messages, parsing
from tfprof.errors import MalformedProfileError


def run_metadata():
    stats = messages.NodeExecStats(node_name="conv/kernel", all_start_micros=12345678)
    stats.memory.add(allocator_name="cpu", total_bytes=-1)
    stats.output.add(slot=1).tensor_description.shape.dim.add(size=7)
    device = messages.DeviceStepStats(device="/cpu:0", node_stats=[stats], thread_names={1: "t"})
    return messages.RunMetadata(step_stats=messages.StepStats(dev_stats=[device]))


def op_log():
    trace = messages.CodeDef.Trace(lineno=3, file_id=1)
    entry = messages.OpLogEntry(name="a", float_ops=9, code_def=messages.CodeDef(traces=[trace]))
    return messages.OpLogProto(log_entries=[entry], id_to_string={1: "file.py"})


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_parse(wrap):
    wanted = run_metadata()
    data = wrap(wanted.SerializeToString())
    assert messages.parse(messages.RunMetadata, data, source="x") == wanted


@pytest.mark.parametrize("build", [run_metadata, op_log])
def test_cut_at_every_byte(build):
    message = build()
    data = message.SerializeToString(deterministic=True)
    for size in range(len(data)):
        try:
            messages.parse(type(message), data[:size], source="cut.pb")
        except MalformedProfileError as error:
            text = str(error)
            assert text.startswith(f"cut.pb: truncated {type(message).DESCRIPTOR.name} message: ")
            assert f"the data ends at byte {size}. Copy or record the file again." in text


@pytest.mark.parametrize("build", [run_metadata, op_log])
def test_any_byte_changed(build):
    message = build()
    data = bytearray(message.SerializeToString(deterministic=True))
    for at in range(len(data)):
        for value in (0, 0x7F, 0x80, 0xFF):
            changed = data[:at] + bytes([value]) + data[at + 1 :]
            try:
                messages.parse(type(message), changed, source="x")
            except MalformedProfileError as error:
                assert " at byte " in str(error)


def test_path_of_a_cut():
    data = run_metadata().SerializeToString()
    with pytest.raises(MalformedProfileError, match=r"in step_stats\.dev_stats\[0\]"):
        messages.parse(messages.RunMetadata, data[:-1], source="x")


def test_text_that_is_not_utf8():
    good = messages.GraphDef(node=[messages.NodeDef(name="a")]).SerializeToString()
    bad = good + messages.GraphDef(node=[messages.NodeDef(name="xyz")]).SerializeToString().replace(
        b"xyz", b"x\xffz"
    )
    with pytest.raises(MalformedProfileError) as caught:
        messages.parse(messages.GraphDef, bad, source="g.pb")
    assert str(caught.value) == (
        "g.pb: not a GraphDef message: field 1 (name) holds text that is not UTF-8 at byte 7 in "
        "node[1]. Check that this is the right file; if it is, it is damaged: record it again."
    )


def test_nesting_beyond_protobufs_limit():
    data = b""
    for _ in range(150):
        inner = messages.GraphNodeProto(name="n").SerializeToString()
        length = len(data)
        size = bytes([length & 0x7F | 0x80, length >> 7]) if length > 127 else bytes([length])
        data = inner + b"\x62" + size + data
    with pytest.raises(MalformedProfileError, match="nested deeper than the 100 levels") as caught:
        messages.parse(messages.GraphNodeProto, data, source="x")
    assert len(str(caught.value)) < 400


def field(number, wire_type, payload=b""):
    return bytes([number << 3 | wire_type]) + payload


def text(number, payload):
    return field(number, 2, bytes([len(payload)]) + payload)


START, END = 3, 4


def reads(data):
    """Whether protobuf takes a long length: it does up to 4.25."""
    if data[:1] != b"\x12":
        return False
    with contextlib.suppress(DecodeError):
        messages.AttrValue.ListValue.FromString(data)
        return True
    return False


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (field(9, START), "the group of field 9 does not end at byte 0"),
        (field(9, START) + field(8, START) + field(8, END), "the group of field 9 does not end"),
        (field(9, END), "field 9 ends a group that has not begun at byte 0"),
        (field(9, START) + field(8, END), "field 8 ends a group that has not begun at byte 1"),
        (text(3, b"\x80"), "field 3 (i) ends within a number at byte 0"),
        (text(3, b"\x01" + b"\xff" * 10 + b"\x01"), "field 3 (i) holds a number of more than ten"),
        (text(4, b"123"), "field 4 (f) ends within a number at byte 0"),
        pytest.param(
            b"\x98\x80\x80\x80\x80\x00\x01",
            "the tag of field 3 takes more than five bytes",
            marks=by_compiled_protobuf,
        ),
        (b"\x12\x81\x80\x80\x80\x80\x00a", "the length of field 2 is more than protobuf reads"),
    ],
)
def test_what_protobuf_refuses_is_named(data, problem):
    """Protobuf itself says no more than that the wire format is corrupt."""
    if reads(data):
        pytest.skip("this release of protobuf reads it")
    whole = messages.AttrValue.ListValue(b=[True]).SerializeToString() + data
    for prefix in (b"", text(3, b"\x01\x02") + field(9, START) + text(2, b"x") + field(9, END)):
        with pytest.raises(MalformedProfileError) as caught:
            messages.parse(messages.AttrValue.ListValue, prefix + data, source="x")
        place = f"at byte {len(prefix)}"
        found = str(caught.value)
        assert problem.partition(" at byte")[0] in found
        if " at byte 0" in problem:
            assert place in found
    with pytest.raises(MalformedProfileError) as caught:
        messages.parse(
            messages.AttrValue, messages.AttrValue(s=b"").SerializeToString() + text(1, whole),
            source="x",
        )  # fmt: skip
    assert " in list. Check that this is the right file" in str(caught.value)


def test_a_part_that_runs_over_its_message_is_named_even_if_what_is_there_of_it_is_sound():
    dim = field(2, 2, b"\x06") + field(1, 0, b"\x01")
    data = messages.TensorDescription(dtype=1).SerializeToString() + text(2, dim) + bytes([8, 1])
    with pytest.raises(MalformedProfileError) as caught:
        messages.parse(messages.TensorDescription, data, source="x")
    assert "field 2 should hold 6 bytes but 2 are left at byte 4 in shape" in str(caught.value)


@pytest.mark.parametrize(
    ("message_class", "remedy"),
    [
        (messages.RunMetadata, "Record fewer steps"),
        (messages.GraphDef, "in a checkpoint"),
        (messages.ProfileProto, "Save fewer steps"),
        (messages.OpLogProto, "one program only"),
    ],
)
def test_what_to_do_about_too_large_messages(monkeypatch, message_class, remedy):
    monkeypatch.setattr(parsing, "MAX_MESSAGE_BYTES", 10)
    with pytest.raises(MalformedProfileError, match=remedy):
        messages.parse(message_class, b"x" * 11, source="big.pb")


def test_too_large(monkeypatch):
    monkeypatch.setattr(parsing, "MAX_MESSAGE_BYTES", 10)
    with pytest.raises(
        MalformedProfileError, match=r"big\.pb: 11 bytes are too many for a GraphDef"
    ):
        messages.parse(messages.GraphDef, b"x" * 11, source="big.pb")


def test_limit_is_protobufs():
    assert parsing.MAX_MESSAGE_BYTES == 2_147_483_647


def test_nothing_wrong_is_found_in_sound_data():
    data = run_metadata().SerializeToString()
    assert parsing.locate(messages.RunMetadata, data) is None
