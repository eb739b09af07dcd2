from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.shapes.windows import layout_named, layout_of, window_count, windows_of

H = Symbolic.named("H")


@given(st.integers(0, 30), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_windows_are_counted_as_a_walk_finds_them(
    size: int, window: int, stride: int, dilation: int
) -> None:
    reach = (window - 1) * dilation + 1
    found = len([start for start in range(0, size, stride) if start + reach <= size])
    if size - reach + stride < 0:
        with pytest.raises(UnknownError):
            window_count(size, window, stride, dilation)
    else:
        assert window_count(size, window, stride, dilation) == found


@given(st.integers(10, 30), st.integers(1, 5), st.integers(1, 4), st.integers(1, 2))
def test_unknown_size_counts_the_same_once_it_is_known(
    size: int, window: int, stride: int, dilation: int
) -> None:
    later = window_count(H, window, stride, dilation)

    known = later.bind(H=size) if isinstance(later, Symbolic) else later
    assert known == window_count(size, window, stride, dilation)


def test_layout_tells_where_dimensions_stand() -> None:
    layout = layout_named("NCDHW")

    assert (layout.batch, layout.channels, layout.spatial, layout.rank) == (0, 1, (2, 3, 4), 5)
    assert layout.dims(2, (7, 8, 9), 5) == (2, 5, 7, 8, 9)
    assert layout.channel_count((2, 5, 7, 8, 9)) == 5


def test_packed_layout_splits_channels_by_fours() -> None:
    layout = layout_named("NCHW_VECT_C")

    assert layout.rank == 5
    assert layout.dims(2, (7, 8), 12) == (2, 3, 7, 8, 4)
    assert layout.channel_count((2, 3, 7, 8, 4)) == 12


def test_layout_is_channels_last_unless_the_op_says_otherwise() -> None:
    assert layout_of(call("Conv2D"), 2).letters == "NHWC"
    assert layout_of(call("Conv3D"), 3).letters == "NDHWC"
    assert layout_of(call("Conv2D", data_format="NCHW"), 2).letters == "NCHW"


@pytest.mark.parametrize("name", ["", "NHW", "HCW", "NHWC_VECT_W"])
def test_layouts_that_do_not_exist_are_unknown(name: str) -> None:
    with pytest.raises(UnknownError):
        layout_named(name)


def test_windows_of_same_padding_need_no_filter() -> None:
    windows = windows_of(call("Conv2D", strides=(1, 2, 3, 1), padding="SAME"), 4)

    assert windows.along(1, 7, None) == 4
    assert windows.along(2, 7, None) == 3
    assert windows.along(1, None, 3) is None


def test_explicit_paddings_add_to_the_size() -> None:
    op = call(
        "Conv2D",
        strides=(1, 1, 2, 1),
        padding="EXPLICIT",
        explicit_paddings=(0, 0, 1, 2, 0, 3, 0, 0),
    )
    windows = windows_of(op, 4)

    assert windows.along(1, 7, 3) == 7 + 3 - 2
    assert windows.along(2, 7, 3) == (7 + 3 - 3) // 2 + 1
    assert windows.along(1, 7, None) is None
