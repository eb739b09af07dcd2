"""Statements of all parts of tfprof about a run, by subject."""

import re
from collections import defaultdict

import pytest

import tfprof
from tfprof import tools
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.run_steps import run_steps
from tfprof.cli.mcp.answers import Answers
from tfprof.core.text.claims import Claim
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.inputs.opened import opened_run
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import check
from tfprof.insight.budgets.first_budget import first_budget
from tfprof.insight.budgets.subject import subject_of
from tfprof.insight.diff.difference import difference
from tfprof.insight.diff.side import Side
from tfprof.sql import query
from tfprof.ui.pages.packed_columns import unpacked
from tfprof.ui.pages.site import Site

UNKNOWN = "unknown"


class Statements:
    """Statements: the value from each source, by subject."""

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


def all_statements(run):
    """Statements of all sources about a run."""
    state, steps = Statements(), run_steps(run)
    is_tpu = any(one.core is not None for one in steps.hosts)
    typical = steps.typical_places.tolist() if steps.n_steps else []
    results = {tool: answer_of(tool, run) for tool in
               ("overview", "input_pipeline", "monitor", "pod", "stragglers")}  # fmt: skip
    for tool, result in results.items():
        for claim in result.claims if result is not None else ():
            _of_claim(state, tool, claim, is_alone=len(steps.hosts) == 1)
    _of_advice(state, run)
    _of_tables(state, results, typical, is_alone=len(run.hosts) == 1, is_tpu=is_tpu)
    _of_sql(state, run, typical, is_tpu=is_tpu)
    _of_gate(state, run, has_device=steps.has_device)
    _of_comparisons(state, run)
    _of_pages(state, run)
    return state


def answer_of(tool, run):
    try:
        return getattr(tools, tool)(run)
    except (EmptyProfileError, UsageError):
        return None


def _of_claim(state, who, claim, *, is_alone):
    if claim.metric == "input_share":
        state(who, **{_of_input(claim): claim.value})
    elif claim.metric in ("between_share", "unexplained_share"):
        state(f"{who} ({claim.metric})", **{claim.metric: claim.value})
    if claim.metric != "step_time" or "name" in claim.details or "kind" in claim.details:
        return  # about one step, or steps of another kind
    if claim.subject != "step" and not is_alone:
        return  # about one host of several
    if claim.value is None:
        return
    state(who, step_ms=claim.value, n_typical=claim.details["step_count"])
    if "gap_ms" in claim.details:
        state(who, between_share=claim.details["gap_ms"] / claim.value)
    for name, what in (("infeed_share", "recorded_input"), ("other_share", "other_share")):
        if name in claim.details:
            state(who, **{what: claim.details[name]})


def _of_input(claim):
    """A verdict on the input, or a figure if there are too few steps for a verdict."""
    is_figure = claim.value is not None and claim.scope.startswith(("1 step ", "2 steps "))
    return "recorded_input" if is_figure else "input_share"


def _of_advice(state, run):
    steps = run_steps(run).typical
    for one in tools.advice(run):
        if "step_ms" in one.evidence:
            state(f"advice {one.rule}", step_ms=one.evidence["step_ms"])
        if "python_share" in one.evidence:  # within steps; other advice is about the time between
            dark = (Spent.UNKNOWN, Spent.HOST_CODE, Spent.HOST_RUNTIME)
            between = steps.share(steps.between(*dark))
            state(f"advice {one.rule}", unexplained_share=one.evidence["python_share"] + between)


def _of_tables(state, results, typical, *, is_alone, is_tpu):
    overview, monitor = results["overview"], results["monitor"]
    [row] = monitor.to_rows()
    percent = row["infeed_percent_average"]
    share = None if percent is None else percent / 100
    if row["steps"]:
        state("monitor's table", step_ms=row["step_ms_average"], n_typical=row["steps"])
        what = "recorded_input" if 0 < row["steps"] < 3 else "input_share"
        state("monitor's table", **{what: share})
    if "performance" in overview.tables:
        by_part = {row["category"]: row for row in overview.to_rows("performance")}
        state("average step", step_ms=by_part["Step time"]["average_ms"])
        state("average step", recorded_input=by_part["Input"]["share"])
        if not is_tpu:
            state("average step", other_share=by_part["All others"]["share"])
    for tool in ("overview", "input_pipeline"):
        table = results[tool].tables.get("steps")
        if table is None or is_tpu or not is_alone:
            continue
        rows = table.to_rows()
        state(f"{tool}'s steps", n_steps=len(rows))
        if not typical:
            continue
        took = sum(rows[at]["stepTimeMs"] for at in typical)
        state(f"{tool}'s steps", step_ms=took / len(typical))
        for column, what in (("infeedTimeMs", "recorded_input"), ("otherTimeMs", "other_share"),
                             ("betweenMs", "between_share")):  # fmt: skip
            state(f"{tool}'s steps", **{what: sum(rows[at][column] for at in typical) / took})
    state("overview's environment", n_steps=_number(
        {row["what"]: row["value"] for row in overview.to_rows("environment")}["Steps"]
    ))  # fmt: skip
    if results["pod"] is not None and "workers" in results["pod"].tables:
        rows = results["pod"].to_rows("workers")
        names = {"step_ms": "total_us", "recorded_input": "infeed_us", "other_share": "other_us",
                 "collectives": "device_collectives_us"}  # fmt: skip
        _of_hosts(
            state, "pod's workers", rows, ("host", "core"), names, typical, 1e3, is_tpu=is_tpu
        )
    if results["stragglers"] is not None and "steps" in results["stragglers"].tables:
        rows = results["stragglers"].to_rows("steps")
        state("stragglers' steps", n_steps=len(rows))
        state(
            "stragglers' steps",
            step_ms=sum(rows[at]["step_us"] for at in typical) / len(typical) / 1e3,
        )


def _plain(text):
    return re.sub(r"\W+", " ", text).strip().lower()


def _number(text):
    return int(re.match(r"\d+", text)[0])


def _of_hosts(state, who, rows, keys, names, typical, per_ms, *, is_tpu):
    """From rows of all hosts, those of the host for which the others wait."""
    by_host = defaultdict(list)
    for row in rows:
        by_host[tuple(row.get(key) for key in keys)].append(row)
    [n_steps] = {len(own) for own in by_host.values()} or {0}
    state(who, n_steps=n_steps)
    if not typical:
        return
    own_time = {key: sum(row[names["step_ms"]] - row[names["collectives"]] for row in own)
                for key, own in by_host.items()}  # fmt: skip
    awaited = by_host[max(own_time, key=own_time.get)]
    slowest = [awaited[at] for at in typical]
    took = sum(row[names["step_ms"]] for row in slowest)
    state(who, step_ms=took / len(slowest) / per_ms)
    for what in ("recorded_input", "other_share", "between_share"):
        if what in names and not is_tpu:  # each core of a TPU has its own value
            state(who, **{what: sum(row[names[what]] for row in slowest) / took})


def _of_sql(state, run, typical, *, is_tpu):
    database = query("select * from steps", run)
    names = {"step_ms": "duration_ps", "recorded_input": "infeed_ps", "other_share": "other_ps",
             "between_share": "between_ps", "collectives": "device_collectives_ps"}  # fmt: skip
    rows = database.to_rows()
    _of_hosts(state, "SQL", rows, ("host",), names, typical, 1e9, is_tpu=is_tpu)
    claims = query(
        "select * from claims where subject = 'step' and tool in ('overview', 'monitor') "
        "and metric in ('step_time', 'input_share') and details not like '%\"kind\"%'", run,
    ).to_rows()  # fmt: skip
    for row in claims:
        if row["metric"] == "step_time" and row["value"] is not None:
            state(f"SQL's claim of {row['tool']}", step_ms=row["value"])
        elif row["metric"] == "input_share":
            claim = Claim("step", "input_share", row["value"], scope=row["scope"] or "")
            state(f"SQL's claim of {row['tool']}", **{_of_input(claim): row["value"]})


def _of_gate(state, run, *, has_device):
    subject = subject_of(opened_run(run), ())
    limits = b'step_time = "1000 s"\ninput_share = "99.9 %"\nidle_share = "99.9 %"'
    report = check([subject], budget_of(limits))
    for outcome in report.outcomes:
        claim = outcome.claim
        subject_now = {"step_time": "step_ms", "input_share": "input_share",
                    "idle_share": "unexplained_share"}[outcome.limit.metric.name]  # fmt: skip
        if claim.is_known and outcome.n_steps:
            state(f"check {claim.metric}", n_typical=outcome.n_steps)
        if subject_now == "unexplained_share" and (has_device or not claim.is_known):
            continue  # about devices; other tools do not state it for steps
        if subject_now == "step_ms" and not claim.is_known:
            continue
        state("check", **{subject_now: claim.value})
    is_unknown = [one for one in report.outcomes if not one.claim.is_known]
    assert (report.exit_code == 4) == bool(is_unknown)
    written = first_budget(subject)
    for outcome in is_unknown:
        assert f"# {outcome.limit.name}: " in written
        assert f"\n{outcome.limit.name} = " not in written


def _of_comparisons(state, run):
    steps = run_steps(run)
    try:
        found = difference(Side("before", None, run), Side("after", None, run))
    except UsageError:
        assert not steps.typical.has_ops  # then nothing can be compared
        return
    if found.step is not None:
        state("diff", step_ms=found.step.before)
        assert (found.step.difference, found.step.verdict) in {
            (0.0, "within noise"), (0.0, "cannot tell"),
        }  # fmt: skip
        state("diff", recorded_input=_part_of(found, "Input"))
        if "All others" in found.categories:
            state("diff", other_share=_part_of(found, "All others"))
    try:
        answer = tfprof.whatif(run)
    except UsageError:
        assert not steps.n_steps or any(one.core is not None for one in steps.hosts)
        return
    [claim] = answer.claims
    state("whatif", step_ms=claim.value, n_typical=len(answer.to_rows("step")) - 2
         if steps.typical.n_steps > 1 else 1)  # fmt: skip


def _part_of(found, name):
    category = found.categories.get(name)
    return 0.0 if category is None else category.before / found.step.before


def _of_pages(state, run):
    opened = opened_run(run)
    page = Site([opened]).page("start", {})
    rows = [each for block in page.blocks if block["kind"] == "row" for each in block["blocks"]]
    texts = [text for block in page.blocks if block["kind"] == "words" for text in block["items"]]
    texts += [block["caption"] for block in rows if "caption" in block]
    for sentence in tools.overview(run).verdict:
        for part in re.split(r": |[.] ", sentence):  # a long answer has its reason below
            assert _plain(part) in _plain(" ".join(texts)), (part, texts)
    for block in (*page.blocks, *rows):
        if block["kind"] == "facts" and block["short"]:
            state("first page", n_steps=_number(dict(block["items"])["steps"]))
        if block.get("id") == "steps":
            state("first page's chart", n_steps=len(block["choose"]["keys"]))
        if block.get("id") == "average-step" and (values := unpacked(block["series"][0]["values"])):
            state("first page's average step", step_ms=sum(values))
    state("assistants", n_steps=Answers([opened]).runs()["runs"][0]["steps"])
    steps = run_steps(run)
    if steps.typical.has_ops:
        n_seen = len(tfprof.Profiler.from_xspace(run).steps)
        # Views are about ops, and do not contain steps without any.
        work = [kind for kind in Spent if kind > Spent.HOST_RUNTIME]
        fewest = int((steps.spent(*work) > 0).sum()) - 1  # Keras ends with a call without a batch
        state("steps of views", n_steps=max(n_seen, steps.n_steps) if n_seen >= fewest else n_seen)
