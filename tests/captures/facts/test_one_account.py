"""Runs all tools on every capture: if two differ on the same value, one of them is wrong.

Step time, the number of steps, and the shares of input, of idle time and of time between steps come
from one account of time. So all tools state the same value to the last digit, or all of them report
that it is unknown.
"""

import functools
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import tfprof
from tests.captures.facts.account import UNKNOWN, all_statements, answer_of
from tests.captures.tools.oracle import CAPTURES, folder, run_of
from tests.captures.tools.small_captures import files
from tfprof import tools
from tfprof.captures.facts.run_steps import run_steps
from tfprof.cli.program import cli
from tfprof.insight.diff.answer import diff
from tfprof.insight.diff.difference import difference
from tfprof.insight.diff.side import Side
from tfprof.remote.flight.snapshots import look

pytest.importorskip("duckdb")

pytestmark = [pytest.mark.slow, pytest.mark.one_engine, pytest.mark.thorough]

JOBS = ("alike", "compute", "input", "tensorflow")
RUNS = (*CAPTURES, *JOBS)
SLICED = ("cpu-custom-loop-py", "cpu-jax-steps", "cpu-keras-fit", "cpu-xla", "gpu-synthetic")


@functools.cache
def recorded(name):
    return tfprof.open_run(files(name)) if name in JOBS else run_of(name)


@pytest.mark.parametrize("name", RUNS)
def test_all_state_the_same(name):
    run = recorded(name)
    statements = all_statements(run)
    assert statements.disagreements == {}
    steps = run_steps(run)
    if steps.n_steps:
        by_what = statements.by_what
        assert len(by_what["step_ms"]) >= 9
        assert len(by_what["input_share"]) >= 4
        assert len(by_what["n_steps"]) >= 6
        shares = by_what["input_share"], by_what["recorded_input"]
        stated, recorded_input = (next(iter(one.values())) for one in shares)
        assert stated in (UNKNOWN, pytest.approx(recorded_input, rel=1e-9))
        if stated == UNKNOWN:
            verdicts = [text for tool in ("overview", "input_pipeline", "monitor")
                    for text in getattr(tools, tool)(run).verdict]  # fmt: skip
            assert not any("input-bound:" in text for text in verdicts)


@pytest.mark.parametrize("name", CAPTURES)
def test_marks_are_counted_alike(name):
    run, steps = recorded(name), run_steps(recorded(name))
    shown = CliRunner().invoke(cli, ["info", str(folder(name)), "--format", "json"])
    by_host = {row["name"]: row["marked_steps"] for row in json.loads(shown.stdout)["rows"]}
    for one in steps.hosts:
        if not one.is_implicit and one.core is None and len(run.hosts) == 1:
            n_marks = by_host[one.host.name]
            assert n_marks in (0, len(one.times) + len(one.without_work))
    if len(run.hosts) == 1:
        [path] = folder(name).glob("*.xplane.pb")
        seen = look(path.read_bytes(), frozenset(("step_time", "input_share")))
        [row] = tools.monitor(run).to_rows()
        percent = row["infeed_percent_average"]
        assert seen.input_share == (None if percent is None else percent / 100)
        if steps.n_steps:
            assert len(seen.steps) == steps.whole.n_steps or seen.steps.are_marked
            if not seen.steps.are_marked:
                took = np.sort(steps.whole.hosts[0].times.duration_ps // 1000)
                assert np.array_equal(np.sort(seen.steps.durations_ns), took)


@pytest.mark.parametrize("name", SLICED)
def test_a_slice_states_what_the_whole_states_of_its_steps(name, tmp_path):
    """Steps keep their times, also in a comparison of the slice with the whole."""
    run = recorded(name)
    steps = run_steps(run)
    names = [steps.names[at] for at in steps.typical_places.tolist()][:4]
    numbers = tuple(int(one.rpartition(" ")[2]) for one in names)
    [path] = folder(name).glob("*.xplane.pb")
    part_path = tmp_path / "part.xplane.pb"
    tools.slice_capture(path, part_path, tools.SliceChoice(steps=(numbers[0], numbers[-1])))
    part = tfprof.open_run(part_path)
    statements = all_statements(part)
    assert statements.disagreements == {}
    rows = {row["stepnum"]: row for row in tools.overview(run, step=numbers).to_rows("steps")}
    of_part = {row["stepnum"].removesuffix(" (cut)"): row
               for row in tools.overview(part).to_rows("steps")}  # fmt: skip
    assert set(of_part) == set(names)
    for step, row in of_part.items():
        assert row["stepTimeMs"] == pytest.approx(rows[step]["stepTimeMs"], rel=1e-9)
        assert row["infeedTimeMs"] == pytest.approx(rows[step]["infeedTimeMs"], rel=1e-9)
    change = difference(Side("whole", None, run), Side("part", None, part)).step
    whole_ms = next(one.value for one in tools.overview(run).claims if one.metric == "step_time")
    assert change.before == pytest.approx(whole_ms, rel=1e-9)
    part_ms = next(one.value for one in tools.overview(part).claims if one.metric == "step_time")
    assert change.after == pytest.approx(part_ms, rel=1e-9)


WRITTEN = re.compile(
    r"\{[^}]*\}|'tfprof [^']*'|(longer|less) than \d+ µs|less than 1 %|by 1 % of|16(-| )bit"
    r"|_level=1|b?float_?(16|32)|TensorFloat-32|multiples of 8|\bp\d\d\b"
)
"""Numbers in sentences that are not the run's: placeholders, thresholds, commands."""


@pytest.mark.parametrize("name", RUNS)
def test_numbers_of_sentences_are_those_of_claims(name):
    """No words of a claim contain a number; an unknown claim has a reason and no value."""
    run = recorded(name)
    side = Side("other", None, run)
    names = [one.tool.replace("-", "_") for one in tools.tools_with_data(())]
    results = [answer_of(tool, run) for tool in names]
    results = [one for one in (*results, diff(Side("one", None, run), side)) if one is not None]
    advised = (*tools.advice(run), *(one for result in results for one in result.advice))
    stated = (*(one.claim for one in advised), *(one for r in results for one in r.claims))
    claims = [one for claim in stated for one in claim.every]
    assert claims
    for claim in claims:
        assert not re.search(r"\d", WRITTEN.sub("", claim.words)), claim.words
        assert claim.text
        assert not (claim.unknown and claim.value is not None)
        assert claim.unit or claim.value is None, claim
        json.dumps(claim.to_dict(), allow_nan=False)
