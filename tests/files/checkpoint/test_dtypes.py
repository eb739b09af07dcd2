import numpy as np
import pytest

from tfprof.core.wire import messages as pb
from tfprof.files.checkpoint.dtypes import ELEMENT_TYPES, dtype_name, is_readable, values_of


def read(name, *bits):
    kind = next(kind for kind in ELEMENT_TYPES.values() if kind.name == name)
    return values_of(kind, np.array(bits, kind.stored))


@pytest.mark.parametrize(
    ("name", "bits", "value"),
    [
        ("bfloat16", 0x3FC0, 1.5),
        ("bfloat16", 0x0001, 2.0**-133),
        ("bfloat16", 0xFF80, -np.inf),
        ("float8_e5m2", 0x3D, 1.25),
        ("float8_e5m2", 0x01, 2.0**-16),
        ("float8_e5m2", 0xFC, -np.inf),
        ("float8_e5m2", 0x7E, np.nan),
        ("float8_e4m3fn", 0x7E, 448.0),
        ("float8_e4m3fn", 0x01, 2.0**-9),
        ("float8_e4m3fn", 0xFF, np.nan),
        ("float8_e4m3fnuz", 0x7F, 240.0),
        ("float8_e4m3fnuz", 0x80, np.nan),
        ("float8_e4m3b11fnuz", 0x7F, 30.0),
        ("float8_e5m2fnuz", 0x7F, 57344.0),
        ("float8_e5m2fnuz", 0x80, np.nan),
        ("float4_e2m1fn", 0x07, 6.0),
        ("float4_e2m1fn", 0x09, -0.5),
    ],
)
def test_small_floats_become_float32(name, bits, value):
    found = read(name, bits)
    assert found.dtype == np.float32
    np.testing.assert_equal(found[0], np.float32(value))


@pytest.mark.parametrize(
    ("name", "bits", "values"),
    [
        ("int4", [0x00, 0x07, 0x08, 0x0F, 0xF8], [0, 7, -8, -1, -8]),
        ("uint4", [0x00, 0x07, 0x08, 0x0F, 0xFF], [0, 7, 8, 15, 15]),
        ("int2", [0, 1, 2, 3], [0, 1, -2, -1]),
        ("uint2", [0, 1, 2, 3], [0, 1, 2, 3]),
    ],
)
def test_small_integers_have_the_lowest_bits(name, bits, values):
    found = read(name, *bits)
    assert found.tolist() == values
    assert found.dtype == (np.uint8 if name[0] == "u" else np.int8)


def test_bytes_of_big_endian_files_are_swapped():
    big = np.frombuffer(bytes([0, 1, 2, 0]), ">i2")
    found = values_of(ELEMENT_TYPES[5], big)
    assert found.tolist() == [1, 512]
    assert found.dtype.isnative


def test_any_byte_but_zero_is_true():
    assert values_of(ELEMENT_TYPES[10], np.frombuffer(b"\x00\x01\x02", np.bool_)).tolist() == [
        False, True, True,
    ]  # fmt: skip


def test_every_type_of_tensorflow_is_known():
    plain = {v.number: v.name for v in pb.DataType.DESCRIPTOR.values if 0 < v.number < 100}
    names = {"DT_FLOAT": "float32", "DT_DOUBLE": "float64", "DT_HALF": "float16"}
    for number, name in plain.items():
        assert dtype_name(number) == names.get(name, name.removeprefix("DT_").lower())
        assert is_readable(number) == (name not in ("DT_RESOURCE", "DT_VARIANT"))
    assert dtype_name(99) == "type 99"
