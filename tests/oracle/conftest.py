"""Fixtures of the oracle tests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from . import models
from .engine import Engine, engine_path


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """TensorFlow's engine; the test is skipped where TensorFlow is not installed."""
    if engine_path() is None:
        pytest.skip("needs an installed TensorFlow")
    with Engine() as running:
        yield running


@pytest.fixture(scope="session")
def real_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What a real model recorded, by its name; each is run once, in a process of its own."""
    folder = tmp_path_factory.mktemp("real-models")
    return cache(lambda name: models.build(name, folder))


@pytest.fixture(autouse=True)
def quiet_log(caplog: pytest.LogCaptureFixture) -> None:
    """Keep our notices about odd input, of which random sessions are full, out of failures."""
    caplog.set_level(logging.CRITICAL, logger="tfprof")
