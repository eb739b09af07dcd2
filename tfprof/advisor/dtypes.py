"""Element types of ops, as ``DataType`` numbers of ``types.proto``."""

from __future__ import annotations

from tfprof.advisor.context import CheckContext

FLOAT32, FLOAT64, BFLOAT16, FLOAT16 = 1, 2, 14, 19
HALF = (FLOAT16, BFLOAT16)
FLOATING = (FLOAT32, FLOAT64, *HALF)


def element_type(context: CheckContext, row: int) -> int | None:
    """Element type of a convolution, matrix product, pooling or normalization.

    None for other ops, for which tfprof does not keep it, and if the graph lacks it.
    """
    value = context.profile.ops.attrs_of(row).get("T")
    return value if isinstance(value, int) else None
