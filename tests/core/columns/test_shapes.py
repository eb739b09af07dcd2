import pytest

from tfprof.core.columns.shapes import (
    UNKNOWN_SHAPE,
    ShapeTable,
    display_dims,
    is_fully_defined,
    merge_shapes,
)


@pytest.mark.parametrize(
    ("shape", "dims"), [(None, ()), ((), (1,)), ((2, -1), (2, -1)), ((0,), (0,))]
)
def test_scalars_show_as_one_element_and_unknown_rank_as_nothing(shape, dims):
    assert display_dims(shape) == dims


@pytest.mark.parametrize(
    ("shape", "defined"), [(None, False), ((), True), ((2, 0), True), ((2, -1), False)]
)
def test_fully_defined(shape, defined):
    assert is_fully_defined(shape) is defined


@pytest.mark.parametrize(
    ("static", "seen", "merged"),
    [
        (None, (2, 3), (2, 3)),
        ((2, 3), None, (2, 3)),
        (None, None, None),
        ((-1, 3), (2, 3), (2, 3)),
        ((-1, -1), (-1, 4), (-1, 4)),
        ((), (), ()),
    ],
)
def test_merging_takes_what_either_knows(static, seen, merged):
    assert merge_shapes(static, seen) == merged


def test_contradictions_are_refused():
    with pytest.raises(ValueError, match="rank"):
        merge_shapes((2,), (2, 3))
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 4\) differ"):
        merge_shapes((2, 3), (2, 4))


def test_equal_lists_of_shapes_are_held_once():
    table = ShapeTable()
    first = table.intern_list([(2, 3), None])
    assert table.intern_list([(2, 3), None]) == first
    assert table.intern_list([None, (2, 3)]) != first
    assert table.list_of(first) == [(2, 3), None]
    assert table.list_of(-1) == []
    assert table.intern(None) == UNKNOWN_SHAPE
