"""Multiply-adds of products and convolutions, compared with a count one by one."""

from hypothesis import given
from hypothesis import strategies as st

from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.convolutions import (
    convolution_multiply_adds,
    convolution_shapes,
    dot_multiply_adds,
    valid_positions,
)
from tfprof.captures.model.hlo import DotDimensions, Shape, WindowDimension
from tfprof.core.wire import messages as pb

few = st.integers(1, 4)
NUMBERS = pb.ConvolutionDimensionNumbers(
    input_batch_dimension=0, input_feature_dimension=2, input_spatial_dimensions=[1],
    kernel_spatial_dimensions=[0], kernel_input_feature_dimension=1,
    kernel_output_feature_dimension=2, output_batch_dimension=0, output_feature_dimension=2,
    output_spatial_dimensions=[1],
)  # fmt: skip


def counted(n_inputs, n_kernel, n_outputs, window):
    found = 0
    for k in range(n_kernel):
        for o in range(n_outputs):
            place = o * window.stride - window.padding_low + k * window.window_dilation
            if place % window.base_dilation == 0 and 0 <= place // window.base_dilation < n_inputs:
                found += 1
    return found


@given(
    st.integers(0, 9), st.integers(0, 6), st.integers(0, 9),
    st.builds(
        WindowDimension, stride=few, padding_low=st.integers(-3, 5), window_dilation=few,
        base_dilation=few,
    ),
)  # fmt: skip
def test_positions_are_those_that_meet_an_input(n_inputs, n_kernel, n_outputs, window):
    expected = counted(n_inputs, n_kernel, n_outputs, window)
    assert valid_positions(n_inputs, n_kernel, n_outputs, window) == expected


def test_damaged_sizes_take_no_time():
    huge = 1 << 62
    assert valid_positions(huge, huge, huge, WindowDimension()) == huge * huge
    assert valid_positions(5, 3, 3, WindowDimension(stride=0)) == 9


def test_products():
    lhs, result = Shape("f32", (7, 4, 8)), Shape("f32", (7, 4, 2))
    assert dot_multiply_adds(lhs, result, DotDimensions((2,), (1,), (0,), (0,))) == 7 * 4 * 2 * 8
    assert dot_multiply_adds(lhs, result, DotDimensions((9,))) == 7 * 4 * 2


def convolution(opcode="convolution", shapes=("f32[2,5,3]", "f32[3,3,4]", "f32[2,5,4]"), **fields):
    window = pb.Window()
    window.dimensions.add(size=3, stride=1, padding_low=1, padding_high=1)
    main = [
        op("x", "parameter", shapes[0]),
        op("k", "parameter", shapes[1], parameter_number=1),
        op("c", opcode, shapes[2], "x", "k", window=window, convolution_dimension_numbers=NUMBERS,
           **fields),
    ]  # fmt: skip
    return read(program(main=main)).find("c")


def multiply_adds(one):
    return convolution_multiply_adds(one, convolution_shapes(one))


def test_padding_is_not_multiplied():
    # Of 3 positions at 5 places, the outermost two meet padding.
    assert multiply_adds(convolution()) == 2 * 4 * 3 * (15 - 2)


def test_groups_share_features():
    one = convolution(shapes=("f32[2,5,6]", "f32[3,3,4]", "f32[2,5,4]"), feature_group_count=2)
    assert multiply_adds(one) == 2 * 4 * 3 * 13
    one = convolution(shapes=("f32[2,5,3]", "f32[3,3,4]", "f32[1,5,4]"), batch_group_count=2)
    assert multiply_adds(one) == 1 * 4 * 3 * 13


def test_gradients_of_a_library_cost_what_the_convolution_costs():
    forward, kernel, output = "f32[2,5,3]", "f32[3,3,4]", "f32[2,5,4]"
    call = "custom-call"
    expected = multiply_adds(convolution())
    for target, shapes in (
        ("__cudnn$convForward", (forward, kernel, f"({output}, u8[64])")),
        ("__cudnn$convBackwardInput", (output, kernel, f"({forward}, u8[64])")),
        ("__cudnn$convBackwardFilter", (forward, output, f"({kernel}, u8[64])")),
    ):
        assert multiply_adds(convolution(call, shapes, custom_call_target=target)) == expected


def test_numbers_of_dimensions_that_are_not_there_count_as_nothing():
    one = convolution(shapes=("f32[2]", "f32[3,3,4]", "f32[2,5,4]"))
    assert multiply_adds(one) == 0
