"""Float operations and MFU of two runs."""

import pytest

from tests.captures.tools.gpu_products import PRODUCT, compiled, on_gpus
from tfprof.insight.diff.side import Side
from tfprof.insight.diff.utilization import utilization_claims


def sides(first, second):
    return [Side(name, None, run) for name, run in (("before", first), ("after", second))]


def test_what_a_step_computes_and_which_part_of_the_peak_it_is():
    twice = ("gemm", "gemm", "gemm", "gemm")
    claims = [*utilization_claims(*sides(
        on_gpus(compiled(), ("gemm", "gemm")), on_gpus(compiled("f32"), twice)
    ))]  # fmt: skip
    assert [claim.metric for claim in claims] == ["mfu_change"]  # four kernels are still one run
    assert claims[0].value > 0  # of half the peak rate
    assert "of other peak rates: 156 TFLOP/s now, 312 TFLOP/s before" in claims[0].text


def test_changed_float_operations_come_first():
    before, after = on_gpus(compiled(), n_gpus=1), on_gpus(compiled(), n_gpus=2)
    first, second = utilization_claims(*sides(before, after))
    assert first.value == PRODUCT
    assert first.text == "A step has 8.39 MFLOPs of the model now, 4.19 MFLOPs before."
    assert second.value == pytest.approx(0.0)


def test_without_float_operations_there_is_no_claim():
    lost = on_gpus(compiled(), ("other",))
    assert [*utilization_claims(*sides(on_gpus(compiled()), lost))] == []
