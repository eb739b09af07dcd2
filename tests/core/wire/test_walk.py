import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.wire.walk import FIXED32, LENGTH_DELIMITED, VARINT, WireError, read_varint, walk
from tfprof.errors import MalformedProfileError


def fields(data):
    return [tuple(field) for field in walk(memoryview(data))]


def test_each_wire_type():
    data = b"\x08\x96\x01" + b"\x12\x02ab" + b"\x1d\x01\x00\x00\x00" + b"\x21" + b"\x02" + b"\0" * 7
    assert fields(data) == [
        (1, VARINT, 0, 1, 150),
        (2, LENGTH_DELIMITED, 3, 5, 2),
        (3, FIXED32, 7, 8, 1),
        (4, 1, 12, 13, 2),
    ]


def test_groups_are_passed_on():
    assert fields(b"\x0b\x0c") == [(1, 3, 0, 1, 0), (1, 4, 1, 2, 0)]


def test_part_of_a_buffer():
    assert [f.offset for f in walk(memoryview(b"xx\x08\x01yy"), 2, 4)] == [3]


def test_negative_numbers_are_64_bit():
    assert read_varint(memoryview(b"\xff" * 9 + b"\x01"), 0, 10) == (2**64 - 1, 10)


@pytest.mark.parametrize(
    ("data", "problem", "offset", "cut_off"),
    [
        (b"\x08", "a number is cut off", 1, True),
        (b"\x08\x80", "a number is cut off", 1, True),
        (b"\x08\x01\x12\x05ab", "field 2 should hold 5 bytes but 2 are left", 2, True),
        (b"\x0d\x01\x02", "field 1 is cut off", 0, True),
        (b"\x0f\x01", "field 1 has impossible wire type 7", 0, False),
        (b"\x00\x01", "impossible field number 0", 0, False),
        (b"\x08" + b"\xff" * 10 + b"\x01", "a number takes more than ten bytes", 1, False),
    ],
)
def test_broken_data(data, problem, offset, cut_off):
    with pytest.raises(MalformedProfileError) as caught:
        fields(data)
    assert isinstance(caught.value, WireError)
    assert (caught.value.problem, caught.value.offset) == (problem, offset)
    assert caught.value.cut_off is cut_off


@given(st.binary(max_size=200))
def test_any_bytes_end_in_fields_or_our_error(data):
    position = 0
    try:
        for field in walk(memoryview(data)):
            assert field.tag_offset == position
            assert position < field.offset <= len(data)
            length = field.value if field.wire_type == LENGTH_DELIMITED else 0
            assert field.offset + length <= len(data)
            fixed = {1: 8, 5: 4}.get(field.wire_type, 0)
            position = field.offset + length + fixed
            if field.wire_type == VARINT:
                position = read_varint(memoryview(data), field.offset, len(data))[1]
        assert position == len(data)
    except WireError as error:
        assert position <= error.offset <= len(data)
