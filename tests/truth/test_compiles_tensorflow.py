"""Traces and compilations of ``tf.function``, in programs of known truth."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfprof import tools

pytestmark = pytest.mark.tensorflow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder with all programs."""
    folder = tmp_path_factory.mktemp("tracing")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run(
        [sys.executable, "-m", "tests.captures.tools.tracing_functions", folder],
        cwd=ROOT, env=environment, capture_output=True, timeout=300, check=True,
    )  # fmt: skip
    return folder


@pytest.mark.parametrize(
    ("name", "function", "traced", "compiled", "again", "kinds"),
    [
        ("python_numbers", "numbered", 6, 0, 5, "unknown (5)"),
        ("tensors", "given", 1, 0, 0, ""),
        ("by_xla", "compiled", 2, 2, 1, "shape (1)"),
        ("by_xla_for_any_size", "sized", 1, 2, 1, "shape (1)"),
    ],
)
def test_functions(recorded, name, function, traced, compiled, again, kinds):
    [row] = tools.compiles(tools.open_run(recorded / name)).to_rows("functions")
    assert (row["function"], row["calls"]) == (function, 6)
    assert (row["traced"], row["compiled"], row["again"]) == (traced, compiled, again)
    assert (row["kinds"], row["lowered"], row["cache_hits"]) == (kinds, None, 0)


def test_what_was_traced_before_is_not_listed(recorded):
    result = tools.compiles(tools.open_run(recorded / "ready"))
    assert result.to_rows("functions") == []
    assert "6 calls of 1 function ran" in " ".join(result.verdict)


def test_words_are_not_those_of_jax(recorded):
    result = tools.compiles(tools.open_run(recorded / "python_numbers"))
    assert "JAX" not in " ".join([*result.verdict, *(note.message for note in result.notes)])
