"""Fixtures of the oracle tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from .engine import Engine, engine_path


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """TensorFlow's engine; the test is skipped where TensorFlow is not installed."""
    if engine_path() is None:
        pytest.skip("needs an installed TensorFlow")
    with Engine() as running:
        yield running


@pytest.fixture(autouse=True)
def quiet_log(caplog: pytest.LogCaptureFixture) -> None:
    """Keep our notices about odd input, of which random sessions are full, out of failures."""
    caplog.set_level(logging.CRITICAL, logger="tfprof")
