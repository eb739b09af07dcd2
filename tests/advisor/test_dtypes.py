from tfprof.advisor.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, element_type
from tfprof.testing.builders import op

from .checking import context, typed


def test_the_element_type_of_products_convolutions_and_their_like():
    made = context(
        [
            typed(op("mm", "MatMul", transpose_a=False), FLOAT16),
            typed(op("conv", "Conv2D", data_format="NHWC"), FLOAT32),
            op("unsaid", "MatMul", transpose_a=False),
            typed(op("add", "Add"), FLOAT32),
        ]
    )
    assert [element_type(made, row) for row in range(4)] == [FLOAT16, FLOAT32, None, None]


def test_the_numbers_are_tensorflows():
    from tfprof.advisor import dtypes

    # types.proto: DT_FLOAT, DT_DOUBLE, DT_BFLOAT16, DT_HALF
    assert (FLOAT32, FLOAT64, BFLOAT16, FLOAT16) == (1, 2, 14, 19)
    assert set(dtypes.HALF) == {14, 19}
