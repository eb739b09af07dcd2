"""XLA's shapes."""

import pytest

from tfprof.captures.model.hlo import Layout, Shape

F32 = Shape("f32", (2, 3), Layout((1, 0)))
SCALAR = Shape("s32", (), Layout(()))


@pytest.mark.parametrize(
    ("shape", "n_bytes"),
    [
        (F32, 24),
        (SCALAR, 4),
        (Shape("bf16", (3,)), 6),
        (Shape("pred", (5,)), 5),
        (Shape("s4", (5,)), 5),
        (Shape("s4", (5,), Layout((0,), element_bits=4)), 3),
        (Shape("token"), 0),
        (Shape("f32", (0, 7)), 0),
        (Shape("tuple", parts=(F32, SCALAR)), 16),
    ],
)
def test_bytes(shape, n_bytes):
    assert shape.n_bytes == n_bytes


def test_elements_and_leaves_of_nested_tuples():
    inner = Shape("tuple", parts=(SCALAR, Shape("token")))
    outer = Shape("tuple", parts=(F32, inner, F32))
    assert outer.leaves == (F32, SCALAR, Shape("token"), F32)
    assert outer.n_elements == 13
    assert outer.part((1, 0)) is SCALAR
    assert outer.part((9,)) is outer
    assert F32.part((0,)) is F32


@pytest.mark.parametrize(
    ("shape", "short", "long"),
    [
        (F32, "f32[2,3]", "f32[2,3]{1,0}"),
        (SCALAR, "s32[]", "s32[]"),
        (Shape("token"), "token[]", "token[]"),
        (Shape("f32", (4, 2), dynamic=(True, False)), "f32[<=4,2]", "f32[<=4,2]"),
        (
            Shape("f32", (8, 128), Layout((1, 0), ((8, 128),), memory_space=5)),
            "f32[8,128]",
            "f32[8,128]{1,0:T(8,128)S(5)}",
        ),
        (Shape("u32", (), Layout((), memory_space=2)), "u32[]", "u32[]{:S(2)}"),
        (Shape("tuple", parts=(F32, SCALAR)), "(f32[2,3], s32[])", "(f32[2,3]{1,0}, s32[])"),
        (
            Shape("tuple", parts=(SCALAR,) * 6),
            "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[])",
            "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[])",
        ),
    ],
)
def test_texts(shape, short, long):
    assert shape.text() == short
    assert shape.text(with_layout=True) == long
