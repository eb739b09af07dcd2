"""Figures of snapshots are those of budgets, or absent where these are missing."""

import pytest

from tests.captures.tools.oracle import folder, run_of
from tests.remote.flight.snapshots import snapshot
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import open_run
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Missing
from tfprof.insight.budgets.subject import subject_of
from tfprof.remote.flight.snapshots import look
from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.metrics.figures import NOTHING, figures_of
from tfprof.remote.metrics.worker_totals import WorkerTotals
from tfprof.testing.xspace_builders import event, host, line

pytestmark = pytest.mark.one_engine

LIMITS = {
    "input_share": "1 %", "idle_share": "1 %", "mfu": ">= 1 %", "hfu": ">= 1 %",
    "step_time": "1 s", "peak_memory": "1 kB",
}  # fmt: skip


@pytest.mark.parametrize(
    "capture", ["cpu-keras-fit", "cpu-jax-steps", "cpu-memory-bfc", "gpu-synthetic", "tpu-v6e-jax"]
)
def test_figures_are_those_of_budgets(capture):
    (path,) = folder(capture).glob("*.xplane.pb")
    figures = figures_of(path.read_bytes())
    subject = subject_of(opened_run(run_of(capture)), ())
    micros = figures.period_seconds
    found = {
        **figures.shares,
        "step_time": None if micros is None else micros * 1e6,
        "peak_memory": figures.peak_bytes,
    }
    for name, limit in LIMITS.items():
        (one,) = budget_of(f'{name} = "{limit}"'.encode()).limits
        expected = measure(subject, one)
        if isinstance(expected, Missing):
            assert found.get(name) is None, (name, expected)
        else:
            assert found[name] == pytest.approx(expected.value), name


def test_shares_are_those_of_the_overview():
    run = run_of("gpu-synthetic")
    (path,) = folder("gpu-synthetic").glob("*.xplane.pb")
    share = figures_of(path.read_bytes()).shares["collective_share"]
    assert share == pytest.approx(run_steps(run).typical.share_of("device_collectives"))
    assert 0 <= share <= 1


def test_a_program_without_marks_has_the_steps_that_tools_find():
    calls = [
        each
        for n in range(5)
        for each in (
            event("FunctionRun", 100 * n, 50 + 10 * n, _r=1),
            event("a:MatMul", 100 * n + 5, 40),
        )
    ]
    data = snapshot(host(line(*calls)))
    figures = figures_of(data)
    steps = run_steps(open_run(data)).whole
    assert 2 < len(figures.guessed_seconds) == steps.n_steps
    assert figures.guessed_seconds == pytest.approx(steps.hosts[0].times.duration_ps / 1e12)
    totals = WorkerTotals()
    seen = WatchedSnapshot("a:1", data, look(data), (), 0, 1)
    totals.add_figures(figures, seen)
    assert sum(totals.kinds[""].counts) == steps.n_steps
    totals.are_marked = True
    totals.add_figures(figures, seen)
    assert sum(totals.kinds[""].counts) == steps.n_steps


@pytest.mark.parametrize("data", [b"", b"\xff" * 50, b"\x0a\x05ab"])
def test_damaged_and_empty_snapshots_have_none(data):
    assert figures_of(data) == NOTHING
