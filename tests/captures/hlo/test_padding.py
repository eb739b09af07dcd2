"""Padding of what convolutions compute."""

from tests.captures.hlo.test_convolutions import convolution
from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.padding import (
    PaddedDimension,
    padded_dimensions,
    primitive_bits,
    utilization,
)


def test_the_fastest_dimension_comes_first():
    shapes = ("f32[2,5,3]", "bf16[3,3,4]", "f32[2,5,4]{2,1,0:T(8,128)}")
    one = convolution(shapes=shapes)
    found = padded_dimensions(one)
    assert found == [
        PaddedDimension(4, 128, "feature"),
        PaddedDimension(5, 8, "spatial"),
        PaddedDimension(2, 1, "batch"),
    ]
    assert [dimension.padded_size for dimension in found] == [128, 8, 2]
    assert utilization(found) == 4 * 5 * 2 / (128 * 8 * 2)
    assert primitive_bits(one) == 32


def test_without_tiles_there_is_no_padding():
    assert utilization(padded_dimensions(convolution())) == 1


def test_only_convolutions_have_an_answer():
    one = read(program(main=[op("a", "parameter", "f32[4]"), op("b", "negate", "f32[4]", "a")]))
    assert padded_dimensions(one.find("b")) == []
    assert primitive_bits(one.find("b")) == 0
    assert utilization([]) == 1
