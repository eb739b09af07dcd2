import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.files.crc32c import crc32c, masked


def bit_by_bit(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


ISCSI_READ = bytes.fromhex(
    "01c00000000000000000000000000000140000000000040000000014000000182800000000000000"
    "0200000000000000"
)


@pytest.mark.parametrize(
    ("data", "crc"),
    [  # RFC 3720, B.4; and the check value of the algorithm
        (b"\x00" * 32, 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (ISCSI_READ, 0xD9963A56),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_known_checksums(data, crc):
    assert crc32c(data) == crc


@pytest.mark.parametrize("size", [1023, 1024, 1025, 4097, 16384, 16387, 32768, 49999])
def test_many_bytes_at_once_give_what_bit_by_bit_gives(size):
    data = random.Random(size).randbytes(size)
    assert crc32c(data) == bit_by_bit(data)


@given(st.binary(min_size=1000, max_size=1100), st.integers(0, 2000))
def test_zeros_and_lengths_count(data, n_zeros):
    data += b"\x00" * n_zeros
    assert crc32c(data) == bit_by_bit(data)


def test_bytes_of_any_kind():
    data = bytes(range(256)) * 100
    assert crc32c(bytearray(data)) == crc32c(memoryview(data)) == crc32c(data)


def test_masks_rotate_and_add():
    # By hand: 0x12345678 rotated right by 15 is 0xACF02468; plus 0xA282EAD8, in 32 bits.
    assert masked(0x12345678) == 0x4F730F40
