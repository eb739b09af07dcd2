import numpy as np
import pytest

from tfprof.core.wire import messages as pb
from tfprof.files.checkpoint.slices import WHOLE, Slice, assembled, may_cover


@pytest.mark.parametrize(
    ("ranges", "key"),
    [  # as TensorFlow wrote them
        (((4, 3), (0, 6)), b"\x00part\x00\x01\x01\x02\x84\x83\x80\x86"),
        (((0, WHOLE),), b"\x00part\x00\x01\x01\x01\x80\x7f"),
        ((), b"\x00part\x00\x01\x00"),
    ],
)
def test_keys(ranges, key):
    assert Slice(ranges).key("part") == key


@pytest.mark.parametrize(
    ("start", "written"),
    [
        (63, "bf"), (64, "c040"), (8191, "dfff"), (8192, "e02000"), (-64, "40"), (-65, "3fbf"),
        (2**62, "ffc04000000000000000"), (-(2**63), "003f8000000000000000"),
    ],
)  # fmt: skip
def test_larger_numbers_take_more_bytes(start, written):
    # One more leading bit is set for each further byte, and for negative numbers cleared.
    assert Slice(((start, 0),)).key("")[5:-1].hex() == written


def test_a_zero_in_a_name_is_not_its_end():
    assert Slice(()).key("a\x00b") == b"\x00a\x00\xffb\x00\x01\x00"


def test_messages_without_a_length_are_whole():
    message = pb.TensorSliceProto(extent=[{"start": 1, "length": 2}, {}])
    assert Slice.of(message) == Slice(((1, 2), (0, WHOLE)))
    assert Slice.of(message).place([3, 4]) == (slice(1, 3), slice(0, 4))


@pytest.mark.parametrize("ranges", [((0, 5),), ((-1, 2),), ((3, -2),), ((1, WHOLE),), ()])
def test_parts_that_do_not_fit(ranges):
    assert Slice(ranges).place([4]) is None


def test_parts_make_a_whole():
    left = (slice(0, 2), slice(0, 1)), np.array([1, 2])
    right = (slice(0, 2), slice(1, 3)), np.array([3, 4, 5, 6])
    assert may_cover([2, 3], [left[0], right[0]])
    assert assembled([2, 3], [left, right]).tolist() == [[1, 3, 4], [2, 5, 6]]
    assert assembled([2, 2], [left, left]) is None


def test_parts_that_are_too_few_or_too_many():
    one, none = (slice(0, 1),), (slice(0, 0),)
    assert may_cover([1], [one])
    assert may_cover([0], [none])
    for shape, places in (([2], [one]), ([1], []), ([0], [none, none]), ([1], [one, none])):
        assert not may_cover(shape, places)
