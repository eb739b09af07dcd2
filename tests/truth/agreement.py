"""What all answers on a capture say of its steps, side by side: they take it from one account.

A number is the mean over the typical steps, each on its slowest host, and None where an answer
calls it unknown.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

import tfprof
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import FEWEST
from tfprof.cli.program import cli
from tfprof.errors import UsageError

STEP_TIME, INPUT, IDLE, COMPILING = "step_ms", "input_share", "idle_share", "compile_share"

_BUDGET = 'step_time = "<= 3600 s"\ninput_share = "<= 99 %"\nidle_share = "<= 99 %"\n'
_LIMITS = {"step_time": (STEP_TIME, 1e-3), "input_share": (INPUT, 1.0), "idle_share": (IDLE, 1.0)}
"""Limits of the gate: what they are about, and how much their unit is in ours."""

_CLAIMS = {"step_time": STEP_TIME, "input_share": INPUT, "compile_share": COMPILING}
_ADVICE = {"compilation/share": COMPILING}

_PER_STEP = """
    with numbered as (
        select *, row_number() over (partition by host order by start_ps) as place
        from steps where is_typical
    ), slowest as (
        select max(duration_ps) as duration_ps, arg_max(infeed_ps, duration_ps) as infeed_ps,
               arg_max(other_ps, duration_ps) as other_ps,
               arg_max(compile_ps, duration_ps) as compile_ps
        from numbered group by place
    )
    select avg(duration_ps) / 1e9 as step_ms, sum(infeed_ps) / sum(duration_ps) as input_share,
           sum(other_ps) / sum(duration_ps) as idle_share,
           sum(compile_ps) / sum(duration_ps) as compile_share
    from slowest
"""


class Said(NamedTuple):
    """What an answer says of a number; None if it calls it unknown."""

    source: str
    what: str
    value: float | None


def said_of(capture: Path) -> Iterator[Said]:
    """What all answers say of the steps of a capture."""
    run = tfprof.open_run(capture)
    steps = run_steps(run)
    for tool in ("overview", "input_pipeline", "monitor"):
        for claim in getattr(tfprof.tools, tool)(run).claims:
            is_of_all = claim.subject == "step" and "kind" not in claim.details
            if tool == "monitor" and claim.metric == INPUT and steps.typical.n_steps < FEWEST:
                continue  # a figure of one step or two, which is no verdict
            if claim.metric in _CLAIMS and is_of_all and "times_count" not in claim.details:
                yield Said(tool, _CLAIMS[claim.metric], claim.value)
    for advice in tfprof.tools.advice(run):
        if "step_ms" in advice.evidence:
            yield Said(f"advice {advice.rule}", STEP_TIME, float(advice.evidence["step_ms"]))
        if advice.rule in _ADVICE:
            yield Said(f"advice {advice.rule}", _ADVICE[advice.rule], advice.gain_fraction)
    yield from _of_gate(capture)
    if all(one.core is None for one in steps.hosts):
        yield from _of_whatif(run)
        for one in _of_query(capture):
            if one.what != IDLE or not steps.has_device:  # else its devices are idle
                yield one


def _json_of(words: list[str]) -> dict:
    shown = CliRunner().invoke(cli, [*words, "--format", "json"])
    assert shown.stdout, shown.stderr
    return json.loads(shown.stdout)


def _of_gate(capture: Path) -> Iterator[Said]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "budget.toml"
        path.write_text(_BUDGET, "utf-8")
        limits = _json_of(["check", str(capture), "--budget", str(path)])["limits"]
    for limit in limits:
        what, unit = _LIMITS[limit["metric"]]
        is_known = limit["verdict"] != "missing"
        yield Said("check", what, unit * limit["value"] if is_known else None)


def _of_query(capture: Path) -> Iterator[Said]:
    [row] = _json_of(["query", str(capture), _PER_STEP])["rows"]
    yield from (Said("query", what, value) for what, value in row.items() if value is not None)


def _of_whatif(run: tfprof.tools.Run) -> Iterator[Said]:
    try:
        [row] = [row for row in tfprof.whatif(run).to_rows("step") if row["step"] == "mean"]
    except UsageError:
        return
    yield Said("whatif", STEP_TIME, row["before_ms"])


def disagreements(capture: Path) -> list[str]:
    """Where two answers on a capture differ."""
    found = []
    known: dict[str, Said] = {}
    said = [*said_of(capture)]
    unknown = {one.what for one in said if one.value is None}
    for one in said:
        if one.value is None:
            continue
        if one.what in unknown and one.source != "query":  # which has what was recorded
            found.append(f"{one.source} has {one.what} = {one.value:.6g}, another calls it unknown")
        first = known.setdefault(one.what, one)
        assert first.value is not None
        if not math.isclose(first.value, one.value, rel_tol=1e-6, abs_tol=1e-9):
            found.append(
                f"{one.what}: {first.source} {first.value:.6g}, {one.source} {one.value:.6g}"
            )
    return found
