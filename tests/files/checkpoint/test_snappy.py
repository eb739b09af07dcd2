import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.files.checkpoint.tables import literal, varint
from tfprof.files.checkpoint.snappy import SnappyError, decompress


def compressed(data):
    """A simple compressor: literals, and copies from the last place where four bytes stood."""
    out, place, start, seen = bytearray(varint(len(data))), 0, 0, {}

    def flush(end):
        for first in range(start, end, 60):
            piece = data[first : min(first + 60, end)]
            out.append(len(piece) - 1 << 2)
            out.extend(piece)

    while place + 4 <= len(data):
        before = seen.get(data[place : place + 4])
        seen[data[place : place + 4]] = place
        if before is None or place - before > 65535:
            place += 1
            continue
        flush(place)
        length = 4
        while (
            length < 64
            and place + length < len(data)
            and (data[before + length] == data[place + length])
        ):
            length += 1
        out.append(length - 1 << 2 | 2)
        out.extend((place - before).to_bytes(2, "little"))
        place += length
        start = place
    flush(len(data))
    return bytes(out)


@pytest.mark.parametrize(
    ("stored", "data"),
    [
        ("00", b""),
        ("03 08 616263", b"abc"),
        ("40 f0 3f" + "61" * 64, b"a" * 64),  # a literal whose length takes one byte
        ("40 f4 3f00" + "61" * 64, b"a" * 64),  # two bytes
        ("08 04 6162 09 02", b"ab" * 4),  # a copy of six from two back, in two bytes
        ("08 04 6162 16 0200", b"ab" * 4),  # in three
        ("08 04 6162 17 02000000", b"ab" * 4),  # in five
    ],
)
def test_elements(stored, data):
    assert decompress(bytes.fromhex(stored)) == data


def test_offsets_of_short_copies_have_eleven_bits():
    data = bytes(range(256)) * 2
    stored = varint(516) + literal(data)[2:] + bytes([1 << 5 | 1, 0xFF])  # 4 from 0x1ff back
    assert decompress(stored) == data + data[1:5]


@given(st.lists(st.sampled_from([b"a", b"bc", b"layer/", b"\x00" * 30]), max_size=200))
def test_round_trip(words):
    data = b"".join(words)
    assert decompress(compressed(data)) == data
    assert decompress(literal(data)) == data


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ("", "not a 32-bit number"),
        ("ffffffffff01", "not a 32-bit number"),
        ("03 08 6162", "cut off"),
        ("03 f0", "cut off"),
        ("02 04 616263 00", "cut off|more than"),
        ("04 04 6162", "2 bytes, not the 4"),
        ("01 04 6162", "more than the 1 bytes"),
        ("08 04 6162 16 0300", "a copy from 3 bytes before byte 2"),
        ("08 04 6162 16 0000", "a copy from 0 bytes"),
        ("08 16", "cut off"),
        ("ffffffff0f 04 6162", "cannot stand for"),
    ],
)
def test_damage(stored, problem):
    with pytest.raises(SnappyError, match=problem):
        decompress(bytes.fromhex(stored))


@given(st.binary(max_size=200))
def test_any_bytes_are_data_or_damaged(stored):
    with contextlib.suppress(SnappyError):
        assert len(decompress(stored)) <= 22 * len(stored)
