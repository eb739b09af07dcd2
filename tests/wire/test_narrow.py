"""Columns in few bytes, natively and with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wire.engines import needs_native
from tfprof.wire.narrow import narrowed

LOW, HIGH = -(2**63), 2**63 - 1


@pytest.fixture(
    params=[pytest.param("", marks=needs_native, id="native"), pytest.param("1", id="pure")],
    autouse=True,
)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFPROF_PURE", request.param)


@pytest.mark.parametrize(
    ("values", "dtype", "offsets", "low"),
    [
        ([7], np.uint8, [0], 7),
        ([0, 0, 0], np.uint8, [0], 0),
        ([HIGH, HIGH - 1], np.uint8, [1, 0], HIGH - 1),
        ([-1, 254], np.uint8, [0, 255], -1),
        ([LOW, LOW + 256], np.uint16, [0, 256], LOW),
        ([10**15, 10**15 + 65535], np.uint16, [0, 65535], 10**15),
        ([0, 65536], np.uint32, [0, 65536], 0),
        ([5, 4 + 2**32], np.uint32, [0, 2**32 - 1], 5),
    ],
)
def test_the_least_width_that_holds_the_values(
    values: list[int], dtype: type, offsets: list[int], low: int
) -> None:
    found = narrowed(np.array(values, np.int64))
    assert found is not None
    assert found[0].dtype == dtype
    assert found[0].tolist() == offsets
    assert found[1] == low


@pytest.mark.parametrize("values", [[], [0, 2**32], [LOW, HIGH], [HIGH, LOW, 0]])
def test_no_values_and_values_too_far_apart_stay_as_they_are(values: list[int]) -> None:
    assert narrowed(np.array(values, np.int64)) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(LOW, HIGH),
    st.lists(st.integers(0, 70_000) | st.integers(0, 2**33), min_size=1, max_size=20),
)
def test_values_come_back(base: int, offsets: list[int]) -> None:
    values = np.array([min(base + offset, HIGH) for offset in offsets], np.int64)
    found = narrowed(values)
    if int(values.max()) - int(values.min()) >= 2**32:
        assert found is None
        return
    assert found is not None
    narrow, low = found
    assert low == values.min()
    assert [
        low + int(offset) for offset in np.broadcast_to(narrow, values.shape)
    ] == values.tolist()
