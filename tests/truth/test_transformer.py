"""The float operations of a transformer agree with those counted by formula."""

import os
import subprocess
import sys

import pytest

from tfprof import tools
from tfprof.captures.run.run import open_run

pytest.importorskip("jax")
from tests.truth import programs_transformer as counted

pytestmark = [pytest.mark.jax, pytest.mark.slow]

KINDS = ("plain", "layers", "scan", "scan-layers", "whole")


@pytest.fixture(scope="module")
def mfu(tmp_path_factory):
    """The row of each kind of program; one process records all of them."""
    folder = tmp_path_factory.mktemp("transformer")
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    subprocess.run(
        [sys.executable, "-m", counted.__name__, folder, *KINDS], check=True, env=environment
    )

    def row(kind):
        found = tools.utilization(open_run(folder / kind), device="1e11,1e10", tokens_per_step=64)
        [only] = found.to_rows("mfu")
        return only

    return {kind: row(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_float_operations_of_the_model_are_those_of_the_formula(mfu, kind):
    row = mfu[kind]
    assert row["model_flops"] == pytest.approx(counted.MODEL, rel=0.01)
    assert row["bound"] == "exact"


def test_what_a_checkpoint_computes_again_is_executed_only(mfu):
    row = mfu["scan-layers"]
    assert row["executed_flops"] == pytest.approx(counted.MODEL + counted.AGAIN, rel=0.01)
    # Without a loop, the compiler finds some results that it still has.
    assert counted.MODEL < mfu["layers"]["executed_flops"] <= counted.MODEL + counted.AGAIN
    assert all(mfu[kind]["hfu"] > mfu[kind]["mfu"] for kind in ("layers", "scan-layers"))


@pytest.mark.parametrize("kind", ["plain", "scan", "whole"])
def test_the_only_computation_of_something_is_work_of_the_model(mfu, kind):
    row = mfu[kind]
    assert row["executed_flops"] == row["model_flops"]
    assert row["hfu"] == row["mfu"]


def test_the_formula_stands_beside_its_result(mfu):
    row = mfu["plain"]
    able = row["period_ms"] / 1e3 * row["peak"] * 1e9 * row["devices"]
    assert row["mfu"] == pytest.approx(row["model_flops"] / able)
    assert row["tokens_per_s"] == pytest.approx(64 / row["period_ms"] * 1e3)
