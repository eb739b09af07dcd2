"""Records the programs once in a test run, however many workers run it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.truth.own_clock import READY
from tests.truth.recorded import Recorded

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 400


def _record(module: str, folder: Path) -> str:
    """Run all programs of a framework; what went wrong, if it did not end well."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("TFPROF_CLASSIC", "XLA_FLAGS")}
    done = subprocess.run(
        [sys.executable, "-m", module, folder],
        cwd=ROOT, env={**inherited, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else f"{module}: {done.returncode}\n{done.stderr[-4000:]}"


def _recorded_once(base: Path, framework: str) -> Path:
    """The folder of a framework's programs; the first worker to make it records, others wait."""
    folder = base / f"truth-{framework}"
    ready = folder / READY
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + TIMEOUT_S
        while not ready.is_file():
            assert time.monotonic() < deadline, f"{framework}: another worker does not record"
            time.sleep(0.2)
    else:
        written = folder / "writing"
        try:
            problem = _record(f"tests.truth.programs_{framework}", folder)
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
            raise
        finally:
            written.write_text(problem, "utf-8")
            written.rename(ready)
    problem = ready.read_text("utf-8")
    assert not problem, problem
    return folder


def _programs(factory: pytest.TempPathFactory, framework: str) -> Callable[[str], Recorded]:
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    folder = _recorded_once(base, framework)
    return cache(lambda name: Recorded(folder / name))


@pytest.fixture(scope="session")
def tensorflow_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recorded]:
    """A recorded TensorFlow program by name."""
    return _programs(tmp_path_factory, "tensorflow")


@pytest.fixture(scope="session")
def jax_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recorded]:
    """A recorded JAX program by name."""
    return _programs(tmp_path_factory, "jax")
