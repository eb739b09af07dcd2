"""What tfprof says of a capture, as claims. The only module that reads its sentences."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import tfprof
from tfprof.cli.program import cli

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Claim:
    """One statement.

    Attributes:
        source: The tool, or the command, that states it.
        metric: What it is about.
        value: A number, a word, or ``UNKNOWN``.
        text: The sentence, or the place in a table.
        unit: Of a number.
        more: What else it says: names, counts.
    """

    source: str
    metric: str
    value: Any
    text: str
    unit: str = ""
    more: dict[str, Any] = field(default_factory=dict)


_TIME = r"([\d,.]+) (ps|ns|µs|ms|s)\b"
_MS = {"ps": 1e-9, "ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def _ms(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _MS[unit]


def claims_of(capture: Path, budget: str = "") -> Iterator[Claim]:
    """All claims about a capture.

    Args:
        capture: The log folder.
        budget: Limits to check, as TOML.
    """
    run = tfprof.open_run(capture)
    for tool in ("overview", "input_pipeline", "monitor", "pod", "tf_data"):
        result = getattr(tfprof.tools, tool)(run)
        for sentence in result.verdict:
            yield from _of_sentence(tool, sentence)
        if tool in ("overview", "tf_data"):
            for note in result.notes:
                yield from _of_note(tool, note.message)
        yield from _of_tables(tool, result)
    for one in tfprof.tools.advice(run):
        more = {"evidence": dict(one.evidence), "gain": one.gain_fraction}
        yield Claim("advice", f"advice {one.rule}", one.gain_fraction, one.message, "share", more)
    yield from _of_commands(capture, budget)


_SENTENCES: tuple[tuple[str, str, str], ...] = (
    (rf"A step takes {_TIME} on average \((\d+) steps", "step_time", "average"),
    (rf"The one step took {_TIME}", "step_time", "one"),
    (rf"Step time: {_TIME} on average.*\((\d+) steps?\)", "step_time", "average"),
    (rf"^(?!Step time)\S[^:]*: {_TIME} per step, ([\d.]+)% of it (.+)\.$", "worker", ""),
    (r"(HIGHLY|MODERATELY) input-bound: ([\d.]+)% of (.*?) is waiting", "input", ""),
    (r"(NOT) input-bound: only ([\d.]+)% of (.*?) is waiting", "input", ""),
    (r"Waiting for input \(lower is better\): ([\d.]+)% of a step on average", "input_share", ""),
    (r"In ([\d.]+)% of the step time no op runs", "idle_share", ""),
    (r"([\d.]+)% of the step time goes to tracing and compiling", "compile_share", ""),
    (r"([\d.]+)% of the step time goes to communication", "collective_share", ""),
    (rf"Between two steps {_TIME} pass, ([\d.]+)%", "gap", ""),
    (rf"Step (\S+ ?\d*) took {_TIME}, ([\d.,]+) times as long: (.*?);", "unusual_step", ""),
)


def _of_sentence(tool: str, text: str) -> Iterator[Claim]:
    if re.search(r"not certain|No verdict|it is unknown|No steps", text):
        yield Claim(tool, "input", UNKNOWN, text)
    for pattern, metric, kind in _SENTENCES:
        found = re.search(pattern, text)
        if found is None:
            continue
        groups = found.groups()
        if metric == "step_time":
            count = int(groups[2]) if kind == "average" else 1
            yield Claim(tool, "step_time", _ms(*groups[:2]), text, "ms", {"n_steps": count})
            yield Claim(tool, "n_steps", count, text)
        elif metric == "worker":
            yield Claim(tool, "step_time", _ms(*groups[:2]), text, "ms")
            share = float(groups[2]) / 100
            metrics = {
                "Input": "input_share", "All others": "idle_share",
                "Compilation": "compile_share", "Device collectives": "collective_share",
            }  # fmt: skip
            if groups[3] in metrics:
                yield Claim(tool, metrics[groups[3]], share, text, "share")
        elif metric == "input":
            scope = "period" if "one step to the next" in groups[2] else "step"
            yield Claim(tool, "input", groups[0], text)
            share = float(groups[1]) / 100
            yield Claim(tool, "input_share", share, text, "share", {"scope": scope})
        elif metric == "gap":
            input_ms = re.search(rf"{_TIME} of it is waiting for input", text)
            more = {"share": float(groups[2]) / 100}
            if input_ms is not None:
                more["input_ms"] = _ms(*input_ms.groups())
            yield Claim(tool, "gap", _ms(*groups[:2]), text, "ms", more)
        elif metric == "unusual_step":
            number = int(groups[0].split()[-1]) if groups[0].split()[-1].isdigit() else -1
            more = {"step": number, "name": groups[0], "cause": groups[4]}
            yield Claim(tool, "unusual_step", _ms(*groups[1:3]), text, "ms", more)
        else:
            more = {"scope": "either"} if metric == "input_share" else {}
            yield Claim(tool, metric, float(groups[0]) / 100, text, "share", more)
    if "No tf.data activity" in text:
        yield Claim(tool, "tf_data_seen", False, text)
    for name in re.findall(r"\b(\w+) took [\d.]+% of the time of (?:these|this)", text):
        yield Claim(tool, "slow_iterator", name, text)


def _of_note(tool: str, text: str) -> Iterator[Claim]:
    if "no steps were found" in text or text.startswith("no steps:"):
        yield Claim(tool, "n_steps", 0, text)
    if "no op was seen in any step" in text:
        yield Claim(tool, "ops_in_steps", False, text)
    found = re.search(r"(\d+) marked steps? (?:is|are) left out, because no computation", text)
    if found is not None:
        yield Claim(tool, "steps_without_work", int(found[1]), text)
    found = re.search(r"each call of (\S+) counts as one", text)
    if found is not None:
        yield Claim(tool, "step_function", found[1], text)


def _of_tables(tool: str, result: Any) -> Iterator[Claim]:
    if tool == "overview" and "steps" in result.tables:
        rows = result.to_rows("steps")
        took = {str(row.get("stepnum", place)): row["stepTimeMs"] for place, row in enumerate(rows)}
        yield Claim(tool, "step_rows", took, "table steps", "ms")


def _invoked(words: list[str]) -> tuple[int, Any]:
    shown = CliRunner().invoke(cli, words)
    text = shown.stdout
    return shown.exit_code, json.loads(text) if text.strip() else None


def _of_commands(capture: Path, budget: str) -> Iterator[Claim]:
    _, data = _invoked(["info", str(capture), "--format", "json"])
    n_steps = max(row["steps"] for row in data["rows"])
    yield Claim("info", "marked_steps", n_steps, "column steps")
    question = "select step, duration_ps from steps order by start_ps"
    code, data = _invoked(["query", str(capture), question, "--format", "json"])
    if code == 0 and data is not None:
        rows = data["rows"] if isinstance(data, dict) else data
        took = {row["step"]: row["duration_ps"] / 1e9 for row in rows}
        yield Claim("query", "step_rows", took, "table steps", "ms")
    if not budget:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "budget.toml"
        path.write_text(budget, "utf-8")
        _, data = _invoked(["check", str(capture), "--budget", str(path), "--format", "json"])
    for row in data["limits"]:
        more = {"limit": row["limit"], "value": row["value"], "unit": row["unit"]}
        value = UNKNOWN if row["verdict"] in ("missing", "undecided") else row["verdict"]
        yield Claim("check", f"check {row['metric']}", value, row["message"], "", more)
