"""Reports for the checks of a pull request: JUnit, SARIF, and annotations of GitHub Actions.

Names come from profiles and may be hostile: each format escapes what would end a field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from tfprof.core.text.characters import escaped
from tfprof.core.version import __version__
from tfprof.insight.budgets.check import Outcome, Report
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.reports import json_report, text_report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def junit_report(report: Report) -> str:
    """JUnit's XML: a test for each limit; one that cannot be checked is an error."""
    by_subject: dict[str, list[Outcome]] = {}
    for outcome in report.outcomes:
        by_subject.setdefault(outcome.subject, []).append(outcome)
    suites = ElementTree.Element("testsuites", {"name": "tfprof check"})
    for subject, outcomes in by_subject.items():
        _add_suite(suites, subject, outcomes, strict=report.strict)
    ElementTree.indent(suites)
    text: str = ElementTree.tostring(suites, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_suite(
    suites: ElementTree.Element, subject: str, outcomes: list[Outcome], *, strict: bool
) -> None:
    kinds = [_junit_kind(outcome, strict=strict) for outcome in outcomes]
    suite = ElementTree.SubElement(
        suites, "testsuite",
        {"name": _xml(subject), "tests": str(len(kinds)), "time": "0"}
        | {f"{kind}s" if kind != "skipped" else kind: str(kinds.count(kind))
           for kind in ("failure", "error", "skipped")},
    )  # fmt: skip
    for number, (outcome, kind) in enumerate(zip(outcomes, kinds, strict=True), 1):
        name = f"{outcome.limit.name} {outcome.limit.bound.text}"
        others = [_named(other) for other in outcomes[: number - 1]]
        shown = f"{name} ({number})" if name in others else name
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml(subject), "name": _xml(shown), "time": "0"}
        )
        if kind:
            told = ElementTree.SubElement(case, kind, {"message": _xml(outcome.message)})
            if kind != "skipped":
                told.set("type", outcome.verdict)
                told.text = _xml("\n".join([outcome.message, *outcome.from_where]))
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(outcome.message)


def _named(outcome: Outcome) -> str:
    return f"{outcome.limit.name} {outcome.limit.bound.text}"


def _junit_kind(outcome: Outcome, *, strict: bool) -> str:
    """The element inside a test; empty for one that passed."""
    undecided = "error" if strict else "skipped"
    kinds = {"exceeded": "failure", "missing": "error", "undecided": undecided, "met": ""}
    return kinds[outcome.verdict]


def _xml(text: str) -> str:
    """The text, with characters that XML or a terminal does not take written as ``\\x1b``."""
    shown = escaped(text, keep="\n\t")
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), shown)


def sarif_report(report: Report) -> str:
    """SARIF 2.1.0: results at the lines that cost the most, or else at the line of the budget."""
    names = [name for name in METRICS if any(o.limit.metric.name == name for o in report.outcomes)]
    rules = [
        {"id": name, "name": "".join(map(str.capitalize, name.split("_"))),
         "shortDescription": {"text": METRICS[name].about}}
        for name in names
    ]  # fmt: skip
    run = {
        "tool": {
            "driver": {"name": "tfprof", "version": __version__, "rules": rules}
        },
        "invocations": [
            {"executionSuccessful": report.exit_code in (0, 1), "exitCode": report.exit_code}
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(outcome, names, report) for outcome in report.outcomes],
    }  # fmt: skip
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _sarif_result(outcome: Outcome, names: list[str], report: Report) -> dict[str, Any]:
    kinds = {"met": "pass", "exceeded": "fail", "undecided": "open", "missing": "open"}
    metric = outcome.limit.metric.name
    text = "\n".join([outcome.message, *outcome.from_where])
    result: dict[str, Any] = {
        "ruleId": metric,
        "ruleIndex": names.index(metric),
        "kind": kinds[outcome.verdict],
        "level": "error" if outcome.verdict == "exceeded" else "none",
        "message": {"text": _SURROGATE.sub("\ufffd", escaped(text, keep="\n"))},
    }
    file, line = _place(outcome, report)
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line > 0:
        location["region"] = {"startLine": line}
    result["locations"] = [{"physicalLocation": location}]
    return result


def _place(outcome: Outcome, report: Report) -> tuple[str, int]:
    """The line of the program that the largest part comes from, else that of the budget."""
    frame = outcome.frame if outcome.verdict == "exceeded" else None
    if frame is not None and frame.file:
        return frame.file, frame.line_number
    return report.budget.path, outcome.limit.line


def _uri(path: str) -> str:
    """A path as a URI reference; relative paths stay relative."""
    slashes = path.replace("\\", "/")
    quoted = quote(slashes, safe="/", errors="replace")
    if re.match("[A-Za-z]:/", slashes):
        return f"file:///{quoted}"
    return f"file://{quoted}" if slashes.startswith("/") else quoted


def github_report(report: Report) -> str:
    """Annotations of GitHub Actions: errors and warnings at lines, and a summary."""
    lines = [_annotation(outcome, report) for outcome in report.outcomes]
    level = "error" if report.exit_code else "notice"
    lines.append(f"::{level} title=tfprof check::{_data(report.summary)}")
    return "\n".join(filter(None, lines)) + "\n"


def _annotation(outcome: Outcome, report: Report) -> str:
    if outcome.verdict == "met":
        return ""
    is_warning = outcome.verdict == "undecided" and not report.strict
    file, line = _place(outcome, report)
    properties = {"file": file, "line": str(max(line, 1)), "title": f"tfprof {outcome.limit.name}"}
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = "\n".join([outcome.message, *outcome.from_where])
    return f"::{'warning' if is_warning else 'error'} {told}::{_data(text)}"


def _data(text: str) -> str:
    """Text of a command of GitHub Actions, which ends at the end of the line."""
    text = _SURROGATE.sub("\ufffd", escaped(text, keep="\n"))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property of a command, which ends at a comma or colon, too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": text_report,
    "json": json_report,
    "junit": junit_report,
    "sarif": sarif_report,
    "github": github_report,
}
"""The writer of each format."""
