import pytest

from tfprof._wire import messages, parsing
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
