"""All tools are asked about every capture: where two differ on the same thing, one is false.

Step time, the number of steps, and the shares of waiting for input, of nothing running and of what
lies between steps come from one account of time. So whoever states one of them states the same, to
the last digit, or all of them say that it is unknown.
"""

import functools
import json
import re
from collections import defaultdict

import numpy as np
import pytest
from click.testing import CliRunner

import tfprof
from tests.captures.tools.oracle import CAPTURES, folder
from tests.captures.tools.test_stragglers import files
from tfprof import tools
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.run_steps import run_steps
from tfprof.cli.mcp.answers import Answers
from tfprof.cli.program import cli
from tfprof.core.text.claims import Claim
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import check
from tfprof.insight.budgets.first_budget import first_budget
from tfprof.insight.budgets.subject import subject_of
from tfprof.insight.diff.answer import diff
from tfprof.insight.diff.difference import difference
from tfprof.insight.diff.side import Side
from tfprof.remote.flight.snapshots import look
from tfprof.sql import query
from tfprof.ui.pages.site import Site

pytest.importorskip("duckdb")

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

JOBS = ("alike", "compute", "input", "tensorflow")
RUNS = (*CAPTURES, *JOBS)
SLICED = ("cpu-custom-loop-py", "cpu-jax-steps", "cpu-keras-fit", "cpu-xla", "gpu-synthetic")

UNKNOWN = "unknown"


def sources(name):
    return files(name) if name in JOBS else folder(name)


@functools.cache
def recorded(name):
    return tfprof.open_run(sources(name))


class Said:
    """What each asker states: by what it is about, the value of each."""

    def __init__(self):
        self.by_what = defaultdict(dict)

    def __call__(self, who, **stated):
        for what, value in stated.items():
            self.by_what[what][who] = UNKNOWN if value is None else value

    @property
    def disagreements(self):
        found = {}
        for what, by_who in self.by_what.items():
            values = list(by_who.values())
            first = values[0]
            if not all(one == (first if first == UNKNOWN else pytest.approx(first, rel=1e-9))
                       for one in values):  # fmt: skip
                found[what] = dict(by_who)
        return found


def all_said(run):
    """What all askers state of a run."""
    said, steps = Said(), run_steps(run)
    is_tpu = any(one.core is not None for one in steps.hosts)
    typical = steps.typical_places.tolist() if steps.n_steps else []
    results = {tool: _asked(tool, run) for tool in
               ("overview", "input_pipeline", "monitor", "pod", "stragglers")}  # fmt: skip
    for tool, result in results.items():
        for claim in result.claims if result is not None else ():
            _of_claim(said, tool, claim, is_alone=len(steps.hosts) == 1)
    _of_advice(said, run)
    _of_tables(said, results, typical, is_alone=len(run.hosts) == 1, is_tpu=is_tpu)
    _of_sql(said, run, typical, is_tpu=is_tpu)
    _of_gate(said, run, has_device=steps.has_device)
    _of_comparisons(said, run)
    _of_pages(said, run)
    return said


def _asked(tool, run):
    try:
        return getattr(tools, tool)(run)
    except (EmptyProfileError, UsageError):
        return None


def _of_claim(said, who, claim, *, is_alone):
    if claim.metric == "input_share":
        said(who, **{_of_input(claim): claim.value})
    elif claim.metric in ("between_share", "unexplained_share"):
        said(f"{who} ({claim.metric})", **{claim.metric: claim.value})
    if claim.metric != "step_time" or "name" in claim.details or "kind" in claim.details:
        return  # of one step, or of steps of another kind
    if claim.subject != "step" and not is_alone:
        return  # of one host of several
    if claim.value is None:
        return
    said(who, step_ms=claim.value, n_typical=claim.details["step_count"])
    if "gap_ms" in claim.details:
        said(who, between_share=claim.details["gap_ms"] / claim.value)
    for name, what in (("infeed_share", "recorded_input"), ("other_share", "other_share")):
        if name in claim.details:
            said(who, **{what: claim.details[name]})


def _of_input(claim):
    """A verdict on the input, or, of steps that are too few for one, a figure of these alone."""
    is_figure = claim.value is not None and claim.scope.startswith(("1 step ", "2 steps "))
    return "recorded_input" if is_figure else "input_share"


def _of_advice(said, run):
    steps = run_steps(run).typical
    for one in tools.advice(run):
        if "step_ms" in one.evidence:
            said(f"advice {one.rule}", step_ms=one.evidence["step_ms"])
        if "python_share" in one.evidence:  # while a step lasts; other advice is on what is between
            dark = (Spent.UNKNOWN, Spent.HOST_CODE, Spent.HOST_RUNTIME)
            between = steps.share(steps.between(*dark))
            said(f"advice {one.rule}", unexplained_share=one.evidence["python_share"] + between)


def _of_tables(said, results, typical, *, is_alone, is_tpu):
    overview, monitor = results["overview"], results["monitor"]
    [row] = monitor.to_rows()
    percent = row["infeed_percent_average"]
    share = None if percent is None else percent / 100
    if row["steps"]:
        said("monitor's table", step_ms=row["step_ms_average"], n_typical=row["steps"])
        what = "recorded_input" if 0 < row["steps"] < 3 else "input_share"
        said("monitor's table", **{what: share})
    if "performance" in overview.tables:
        by_part = {row["category"]: row for row in overview.to_rows("performance")}
        said("average step", step_ms=by_part["Step time"]["average_ms"])
        said("average step", recorded_input=by_part["Input"]["share"])
        if not is_tpu:
            said("average step", other_share=by_part["All others"]["share"])
    for tool in ("overview", "input_pipeline"):
        table = results[tool].tables.get("steps")
        if table is None or is_tpu or not is_alone:
            continue
        rows = table.to_rows()
        said(f"{tool}'s steps", n_steps=len(rows))
        if not typical:
            continue
        took = sum(rows[at]["stepTimeMs"] for at in typical)
        said(f"{tool}'s steps", step_ms=took / len(typical))
        for column, what in (("infeedTimeMs", "recorded_input"), ("otherTimeMs", "other_share"),
                             ("betweenMs", "between_share")):  # fmt: skip
            said(f"{tool}'s steps", **{what: sum(rows[at][column] for at in typical) / took})
    said("overview's environment", n_steps=_number(
        {row["what"]: row["value"] for row in overview.to_rows("environment")}["Steps"]
    ))  # fmt: skip
    if results["pod"] is not None and "workers" in results["pod"].tables:
        rows = results["pod"].to_rows("workers")
        names = {"step_ms": "total_us", "recorded_input": "infeed_us", "other_share": "other_us",
                 "collectives": "device_collectives_us"}  # fmt: skip
        _of_hosts(said, "pod's workers", rows, ("host", "core"), names, typical, 1e3, is_tpu=is_tpu)
    if results["stragglers"] is not None and "steps" in results["stragglers"].tables:
        rows = results["stragglers"].to_rows("steps")
        said("stragglers' steps", n_steps=len(rows))
        said(
            "stragglers' steps",
            step_ms=sum(rows[at]["step_us"] for at in typical) / len(typical) / 1e3,
        )


def _number(text):
    return int(re.match(r"\d+", text)[0])


def _of_hosts(said, who, rows, keys, names, typical, per_ms, *, is_tpu):
    """Rows of all hosts: those of the host that the others wait for."""
    by_host = defaultdict(list)
    for row in rows:
        by_host[tuple(row.get(key) for key in keys)].append(row)
    [n_steps] = {len(own) for own in by_host.values()} or {0}
    said(who, n_steps=n_steps)
    if not typical:
        return
    own_time = {key: sum(row[names["step_ms"]] - row[names["collectives"]] for row in own)
                for key, own in by_host.items()}  # fmt: skip
    awaited = by_host[max(own_time, key=own_time.get)]
    slowest = [awaited[at] for at in typical]
    took = sum(row[names["step_ms"]] for row in slowest)
    said(who, step_ms=took / len(slowest) / per_ms)
    for what in ("recorded_input", "other_share", "between_share"):
        if what in names and not is_tpu:  # each core of a TPU has its own
            said(who, **{what: sum(row[names[what]] for row in slowest) / took})


def _of_sql(said, run, typical, *, is_tpu):
    database = query("select * from steps", run)
    names = {"step_ms": "duration_ps", "recorded_input": "infeed_ps", "other_share": "other_ps",
             "between_share": "between_ps", "collectives": "device_collectives_ps"}  # fmt: skip
    rows = database.to_rows()
    _of_hosts(said, "SQL", rows, ("host",), names, typical, 1e9, is_tpu=is_tpu)
    claims = query(
        "select * from claims where subject = 'step' and tool in ('overview', 'monitor') "
        "and metric in ('step_time', 'input_share') and details not like '%\"kind\"%'", run,
    ).to_rows()  # fmt: skip
    for row in claims:
        if row["metric"] == "step_time" and row["value"] is not None:
            said(f"SQL's claim of {row['tool']}", step_ms=row["value"])
        elif row["metric"] == "input_share":
            claim = Claim("step", "input_share", row["value"], scope=row["scope"] or "")
            said(f"SQL's claim of {row['tool']}", **{_of_input(claim): row["value"]})


def _of_gate(said, run, *, has_device):
    subject = subject_of(opened_run(run), ())
    limits = b'step_time = "1000 s"\ninput_share = "99.9 %"\nidle_share = "99.9 %"'
    report = check([subject], budget_of(limits))
    for outcome in report.outcomes:
        claim = outcome.claim
        said_now = {"step_time": "step_ms", "input_share": "input_share",
                    "idle_share": "unexplained_share"}[outcome.limit.metric.name]  # fmt: skip
        if claim.is_known and outcome.n_steps:
            said(f"check {claim.metric}", n_typical=outcome.n_steps)
        if said_now == "unexplained_share" and (has_device or not claim.is_known):
            continue  # of devices, which other tools do not state of steps
        if said_now == "step_ms" and not claim.is_known:
            continue
        said("check", **{said_now: claim.value})
    is_unknown = [one for one in report.outcomes if not one.claim.is_known]
    assert (report.exit_code == 4) == bool(is_unknown)
    written = first_budget(subject)
    for outcome in is_unknown:
        assert f"# {outcome.limit.name}: " in written
        assert f"\n{outcome.limit.name} = " not in written


def _of_comparisons(said, run):
    steps = run_steps(run)
    try:
        found = difference(Side("before", None, run), Side("after", None, run))
    except UsageError:
        assert not steps.typical.has_ops  # then there is nothing to compare
        return
    if found.step is not None:
        said("diff", step_ms=found.step.before)
        assert (found.step.difference, found.step.verdict) in {
            (0.0, "within noise"), (0.0, "cannot tell"),
        }  # fmt: skip
        said("diff", recorded_input=_part_of(found, "Input"))
        if "All others" in found.categories:
            said("diff", other_share=_part_of(found, "All others"))
    try:
        answer = tfprof.whatif(run)
    except UsageError:
        assert not steps.n_steps or any(one.core is not None for one in steps.hosts)
        return
    [claim] = answer.claims
    said("whatif", step_ms=claim.value, n_typical=len(answer.to_rows("step")) - 2
         if steps.typical.n_steps > 1 else 1)  # fmt: skip


def _part_of(found, name):
    category = found.categories.get(name)
    return 0.0 if category is None else category.before / found.step.before


def _of_pages(said, run):
    opened = opened_run(run)
    page = Site([opened]).page("start", {})
    verdict = tools.overview(run).verdict
    for block in page.blocks:
        if block["kind"] == "words" and block.get("lead"):
            assert block["items"] == list(verdict)
        if block["kind"] == "facts":
            said("first page", n_steps=_number(dict(block["items"])["Steps"]))
        if block["kind"] == "chart" and block["id"] == "steps":
            said("first page's chart", n_steps=len(block["choose"]["keys"]))
    said("assistants", n_steps=Answers([opened]).runs()["runs"][0]["steps"])
    steps = run_steps(run)
    if steps.typical.has_ops:
        n_seen = len(tfprof.Profiler.from_xspace(run).steps)
        # Views are about ops, and of steps without any there is nothing in them.
        work = [kind for kind in Spent if kind > Spent.HOST_RUNTIME]
        fewest = int((steps.spent(*work) > 0).sum()) - 1  # Keras ends with a call that has no batch
        said("steps of views", n_steps=max(n_seen, steps.n_steps) if n_seen >= fewest else n_seen)


@pytest.mark.parametrize("name", RUNS)
def test_all_state_the_same(name):
    run = recorded(name)
    said = all_said(run)
    assert said.disagreements == {}
    steps = run_steps(run)
    if steps.n_steps:
        by_what = said.by_what
        assert len(by_what["step_ms"]) >= 9
        assert len(by_what["input_share"]) >= 4
        assert len(by_what["n_steps"]) >= 6
        shares = by_what["input_share"], by_what["recorded_input"]
        stated, recorded_input = (next(iter(one.values())) for one in shares)
        assert stated in (UNKNOWN, pytest.approx(recorded_input, rel=1e-9))
        if stated == UNKNOWN:
            told = [text for tool in ("overview", "input_pipeline", "monitor")
                    for text in getattr(tools, tool)(run).verdict]  # fmt: skip
            assert not any("input-bound:" in text for text in told)


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
    """Steps keep their times; compared with the slice, the whole is as long as it always was."""
    run = recorded(name)
    steps = run_steps(run)
    names = [steps.names[at] for at in steps.typical_places.tolist()][:4]
    numbers = tuple(int(one.rpartition(" ")[2]) for one in names)
    [path] = folder(name).glob("*.xplane.pb")
    part_path = tmp_path / "part.xplane.pb"
    tools.slice_capture(path, part_path, tools.SliceChoice(steps=(numbers[0], numbers[-1])))
    part = tfprof.open_run(part_path)
    said = all_said(part)
    assert said.disagreements == {}
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
    r"|_level=1|b?float_?(16|32)|TensorFloat-32|multiples of 8"
)
"""What of words has no number of the run: places of the claim's numbers, thresholds, commands."""


@pytest.mark.parametrize("name", RUNS)
def test_numbers_of_sentences_are_those_of_claims(name):
    """No words of a claim hold a number; what is unknown has a reason and no value."""
    run = recorded(name)
    side = Side("other", None, run)
    names = [one.tool.replace("-", "_") for one in tools.tools_with_data(())]
    results = [_asked(tool, run) for tool in names]
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
