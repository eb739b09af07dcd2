"""NumPy's reading of many messages equals protobuf's, or it declines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.wire import messages as pb
from tfprof.core.wire.lockstep import PADDING, IrregularError, Messages, Occurrences, read_fields

int64s = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 300),
    st.sampled_from([(1 << bits) - 1 for bits in range(1, 64)]),
)


def messages_of(*texts: bytes) -> Messages:
    lengths = np.array([len(text) for text in texts], np.int64)
    end = np.cumsum(lengths)
    return Messages(b"".join([*texts, PADDING]), end - lengths, end)


def last_int(fields: Occurrences, number: int) -> list[int]:
    """An int64 field of each message, 0 where it is absent."""
    places = fields.places_of(number, is_message=False)
    values = np.zeros(len(fields.messages), np.int64)
    values[fields.owner[places]] = fields.value[places]
    return values.tolist()


@given(st.lists(st.tuples(int64s, int64s, int64s), max_size=20))
def test_numbers_of_every_size(rows: list[tuple[int, int, int]]) -> None:
    encoded = [
        pb.MemoryStats(
            temp_memory_size=a, device_temp_memory_size=b, persistent_memory_size=c
        ).SerializeToString()
        for a, b, c in rows
    ]
    fields = read_fields(messages_of(*encoded), 1, 2, 3)
    found = np.array([last_int(fields, number) for number in (1, 2, 3)]).T
    assert found.tolist() == [list(row) for row in rows]


def test_texts_and_nested_messages() -> None:
    stats = [
        pb.NodeExecStats(node_name="a", memory=[pb.AllocatorMemoryUsed(total_bytes=7)] * 2),
        pb.NodeExecStats(),
        pb.NodeExecStats(node_name="ö" * 100, memory=[pb.AllocatorMemoryUsed(total_bytes=9)]),
    ]
    messages = messages_of(*(stat.SerializeToString() for stat in stats))
    fields = read_fields(messages, 1, 6)
    starts, ends = fields.last_payload(1)
    names = [messages.data[a:b].decode() for a, b in zip(starts, ends, strict=True)]
    assert names == ["a", "", "ö" * 100]
    places = fields.places_of(6, is_message=True)
    totals = last_int(read_fields(fields.payloads(places), 2), 2)
    owners = fields.owner[places].tolist()
    assert sorted(zip(owners, totals, strict=True)) == [
        (0, 7),
        (0, 7),
        (2, 9),
    ]


def test_the_last_of_several_numbers_counts() -> None:
    assert last_int(read_fields(messages_of(b"\x08\x01\x08\x02"), 1), 1) == [2]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x08", id="number missing"),
        pytest.param(b"\x08\x80", id="number cut off"),
        pytest.param(b"\x08" + b"\xff" * 10 + b"\x01", id="number too long"),
        pytest.param(b"\x0a\x05ab", id="text cut off"),
        pytest.param(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", id="negative length"),
        pytest.param(b"\x0d\x01\x02\x03\x04", id="fixed32"),
        pytest.param(b"\x09" + b"\x01" * 8, id="fixed64"),
        pytest.param(b"\x0b\x0c", id="group"),
        pytest.param(b"\x00\x01", id="field 0"),
        pytest.param(b"\x80", id="tag cut off"),
        pytest.param(b"\x20\x01" * 1001, id="very many fields"),
    ],
)
def test_what_is_not_ordinary_is_declined(data: bytes) -> None:
    with pytest.raises(IrregularError):
        read_fields(messages_of(b"\x08\x01", data), 1)


def test_a_message_does_not_read_on_into_the_next() -> None:
    with pytest.raises(IrregularError):
        read_fields(messages_of(b"\x0a\x04ab", b"\x08\x01\x08\x01"), 1)


def test_a_field_of_the_wrong_type_is_declined() -> None:
    fields = read_fields(messages_of(b"\x0a\x01a"), 1)
    with pytest.raises(IrregularError):
        last_int(fields, 1)


def test_no_messages_and_empty_messages() -> None:
    assert last_int(read_fields(messages_of(), 1), 1) == []
    assert last_int(read_fields(messages_of(b"", b""), 1), 1) == [0, 0]


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_are_read_as_protobuf_does_or_declined(texts: list[bytes]) -> None:
    try:
        fields = read_fields(messages_of(*texts), 1, 3)
        found = [last_int(fields, 1), last_int(fields, 3)]
    except IrregularError:
        return
    parsed = [pb.MemoryStats.FromString(text) for text in texts]
    assert found[0] == [message.temp_memory_size for message in parsed]
    assert found[1] == [message.persistent_memory_size for message in parsed]
