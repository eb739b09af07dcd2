"""Trackers whose package is not installed, and those without an active run."""

import sys
import types

import pytest

import tfprof
from tests.captures.tools.oracle import run_of
from tfprof.errors import MissingDependencyError, UsageError

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_the_error_names_the_package(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    log = getattr(tfprof.trackers, f"log_to_{name}")
    with pytest.raises(MissingDependencyError, match=f"pip install {name}"):
        log(run_of("cpu-jax-steps"))


def test_wandb_needs_an_active_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(run=None))
    with pytest.raises(UsageError, match=r"call wandb.init\(\) first"):
        tfprof.trackers.log_to_wandb(run_of("cpu-jax-steps"))
