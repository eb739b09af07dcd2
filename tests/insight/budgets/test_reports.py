"""Reports in every format, of names that try to break out of it."""

import json
import re
from xml.etree import ElementTree

import pytest

from tfprof.core.columns.frames import Frame
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import Report, outcome_of
from tfprof.insight.budgets.ci_reports import FORMATS, github_report, junit_report, sarif_report
from tfprof.insight.budgets.measurement import Contributor, Measured, Missing
from tfprof.insight.budgets.reports import json_report, text_report

pytestmark = pytest.mark.one_engine

HOSTILE = "]]></failure>\x1b[31m\0\n::error::x,y:z%0A\u202e\ud800\ufffe\"<&'"


def report(name="MatMul", file="model.py", strict=False):
    budget = budget_of(b"ops = 10\nparameters = 5\nstep_time = '1 ms'\nretraces = 0", "budget.toml")
    frame = Frame(file, line_number=7, function=name, line_text="", function_start_line=0)
    found = (
        Measured((12.0,), contributors=(Contributor(name, 8.0, frame),)),
        Measured((5.0,)),
        Measured((900.0, 1100.0), True),
        Missing(f"no function {name}"),
    )
    outcomes = (
        outcome_of(name, limit, one) for limit, one in zip(budget.limits, found, strict=True)
    )
    return Report(budget, tuple(outcomes), strict)


def test_text():
    assert text_report(report()).splitlines() == [
        "exceeded   ops         12                                    <= 10",
        "met        parameters  5                                     <= 5",
        "undecided  step_time   1.00 ms (201 µs to 2.94 ms, 2 steps)  <= 1 ms",
        "missing    retraces    –                                     <= 0",
        "",
        "ops exceeds its limit: 12, limit <= 10",
        "  most of it:",
        "    MatMul: 8, model.py:7 in MatMul",
        "",
        "step_time is too close to its limit: 1.00 ms (201 µs to 2.94 ms, 2 steps), limit "
        "<= 1 ms; the steps differ too much to tell; record more of them",
        "",
        "retraces cannot be checked: no function MatMul",
        "",
        "1 of 4 limits met, 1 exceeded, 1 not checked, 1 undecided",
    ]


def test_json():
    told = json.loads(json_report(report()))
    claims = {one["metric"]: one["claim"] for one in told["limits"]}
    assert (claims["step_time"]["value"], claims["step_time"]["unit"]) == (1.0, "ms")
    assert claims["step_time"]["details"]["verdict"] == "undecided"
    assert claims["retraces"]["value"] is None
    assert claims["retraces"]["unknown"] == "no function MatMul"
    assert [one["text"] for one in claims.values()] == [one["message"] for one in told["limits"]]
    assert (told["schema"], told["exit_code"]) == (1, 1)
    assert told["counts"] == {"met": 1, "exceeded": 1, "undecided": 1, "missing": 1}
    first = told["limits"][0]
    assert (first["metric"], first["value"], first["limit"], first["budget_line"]) == (
        "ops", 12, 10, 1,
    )  # fmt: skip
    assert first["from"] == [
        {"name": "MatMul", "amount": 8, "line": {"file": "model.py", "line": 7,
                                                 "function": "MatMul"}}
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["run", HOSTILE], ids=["plain", "hostile"])
@pytest.mark.parametrize("strict", [False, True])
def test_junit_follows_the_schema(name, strict):
    """The counts of suites are those of what is in them, and names of tests are unique."""
    root = ElementTree.fromstring(junit_report(report(name, strict=strict)).encode())
    assert root.tag == "testsuites"
    [suite] = root
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests")) == 4
    for kind, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(suite.findall(f"testcase/{kind}")) == int(suite.get(count))
    assert suite.get("failures") == "1"
    assert (suite.get("errors"), suite.get("skipped")) == (("2", "0") if strict else ("1", "1"))
    assert len({case.get("name") for case in cases}) == 4
    for case in cases:
        assert set(case.keys()) == {"classname", "name", "time"}
        assert all(len(case) == 1 and child.tag in ("failure", "error", "skipped", "system-out")
                   for child in case)  # fmt: skip
    assert "model.py:7" in suite.find("testcase/failure").text


def test_equal_limits_are_tests_of_different_names():
    one = report()
    twice = Report(one.budget, one.outcomes * 2, False)
    names = re.findall(r'<testcase [^>]* name="([^"]*)"', junit_report(twice))
    assert len(set(names)) == len(names) == 8


@pytest.mark.parametrize("file", ["model.py", "/abs/a b.py", "C:\\m\\x.py", HOSTILE])
@pytest.mark.parametrize("name", ["run", HOSTILE], ids=["plain", "hostile"])
def test_sarif_follows_the_standard(name, file):
    """Required properties, closed vocabularies, and rules that results refer to (SARIF 2.1.0)."""
    text = sarif_report(report(name, file))
    text.encode()
    told = json.loads(text)
    assert told["version"] == "2.1.0"
    [run] = told["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "tfprof"
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    assert [result["kind"] for result in run["results"]] == ["fail", "pass", "open", "open"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == ("error" if result["kind"] == "fail" else "none")
        assert result["message"]["text"]
        [location] = result["locations"]
        physical = location["physicalLocation"]
        assert re.fullmatch(r"[\w./:%~+-]+", physical["artifactLocation"]["uri"], re.ASCII)
        assert physical["region"]["startLine"] >= 1
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places[1]["artifactLocation"]["uri"] == "budget.toml"
    assert places[1]["region"]["startLine"] == 2
    expected = {"model.py": "model.py", "/abs/a b.py": "file:///abs/a%20b.py",
                "C:\\m\\x.py": "file:///C%3A/m/x.py"}  # fmt: skip
    assert places[0]["artifactLocation"]["uri"] == expected.get(
        file, places[0]["artifactLocation"]["uri"]
    )
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_annotations():
    assert github_report(report()).splitlines() == [
        "::error file=model.py,line=7,title=tfprof ops::ops exceeds its limit: 12, limit <= 10%0A"
        "MatMul: 8, model.py:7 in MatMul",
        "::warning file=budget.toml,line=3,title=tfprof step_time::step_time is too close to "
        "its limit: 1.00 ms (201 µs to 2.94 ms, 2 steps), limit <= 1 ms; the steps differ too "
        "much to tell; record more of them",
        "::error file=budget.toml,line=4,title=tfprof retraces::retraces cannot be checked: no "
        "function MatMul",
        "::error title=tfprof check::1 of 4 limits met, 1 exceeded, 1 not checked, 1 undecided",
    ]


def test_hostile_names_stay_in_their_fields():
    hostile = report(HOSTILE, HOSTILE)
    annotations = github_report(hostile)
    annotations.encode()
    assert len(annotations.splitlines()) == 4
    assert all(line.count("::") >= 2 and line.startswith("::") for line in annotations.splitlines())
    head = annotations.partition("\n")[0]
    properties = head[2:].partition("::")[0]
    assert properties.count(",") == 2
    assert "%250A" in head
    for form in FORMATS.values():
        text = form(hostile)
        assert not {"\x1b", "\0", "\u202e"} & set(text)
    assert len(text_report(hostile).splitlines()) == len(text_report(report()).splitlines())
