"""What tfprof says of a capture, as claims of one form."""

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
from tfprof.core.text.claims import Claim as Stated

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


def claims_of(capture: Path, budget: str = "") -> Iterator[Claim]:
    """All claims about a capture.

    Args:
        capture: The log folder.
        budget: Limits to check, as TOML.
    """
    run = tfprof.open_run(capture)
    for tool in ("overview", "input_pipeline", "monitor", "pod", "tf_data"):
        result = getattr(tfprof.tools, tool)(run)
        for stated in result.claims:
            yield from _of_claim(tool, stated)
        if tool in ("overview", "tf_data"):
            for note in result.notes:
                yield from _of_note(tool, note.message)
        yield from _of_tables(tool, result)
    for one in tfprof.tools.advice(run):
        more = {"evidence": dict(one.evidence), "gain": one.gain_fraction or 0.0}
        share = one.gain_fraction if one.share is None else one.share
        yield Claim("advice", f"advice {one.rule}", share, one.message, "share", more)
    yield from _of_commands(capture, budget)


def _of_claim(tool: str, stated: Stated) -> Iterator[Claim]:
    """A claim of tfprof's own, in the words of the judge."""
    text, value, details = stated.text, stated.value, stated.details
    if stated.metric == "slowest_call":
        if text.startswith("No tf.data activity"):
            yield Claim(tool, "tf_data_seen", False, text)
        for held in stated.parts:
            yield Claim(tool, "slow_iterator", held.subject, text)
    elif value is None:
        if stated.metric in ("input_share", "step_time"):
            yield Claim(tool, "input", UNKNOWN, text)
    elif stated.metric == "input_share":
        level = re.search("HIGHLY|MODERATELY|NOT", text)
        if level:
            yield Claim(tool, "input", level[0], text)
        yield Claim(tool, "input_share", value, text, "share")
    elif stated.metric == "step_time" and "times_count" in details:
        number = re.search(r"(\d+)$", str(details["name"]))
        more = {"step": int(number[1]) if number else -1, "name": str(details["name"]),
                "causes": [part.subject for part in stated.parts]}  # fmt: skip
        yield Claim(tool, "unusual_step", value, text, "ms", more)
    elif stated.metric == "step_time" and "kind" in details:
        more = {"count": int(details["step_count"])}
        yield Claim(tool, f"other_steps {details['kind']}", value, text, "ms", more)
    elif stated.metric == "step_time":
        yield Claim(tool, "step_time", value, text, "ms")
        yield Claim(tool, "n_steps", int(details["step_count"]), text, more=dict(details))
        if details.get("gap_ms"):
            yield Claim(tool, "gap", details["gap_ms"], text, "ms")
        for category, metric in _CATEGORIES.items():
            if category in details:
                yield Claim(tool, metric, details[category], text, "share")
    elif stated.metric == "between_share":
        more = {"input_share": details["wait_share"], "longest_ms": details["longest_ms"]}
        yield Claim(tool, "between_share", value, text, "share", more)
    else:
        metric = "idle_share" if stated.metric == "unexplained_share" else stated.metric
        yield Claim(tool, metric, value, text, stated.unit)


_CATEGORIES = {
    "infeed_share": "input_share", "other_share": "idle_share", "compile_share": "compile_share",
    "device_collectives_share": "collective_share",
}  # fmt: skip
"""What the pod viewer may name as the largest part of a step."""


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
        names = [str(row.get("stepnum", place)) for place, row in enumerate(rows)]
        columns = ("stepTimeMs", "otherTimeMs", "infeedTimeMs", "deviceCollectivesTimeMs")
        of = {column: {name: row[column] for name, row in zip(names, rows, strict=True)}
              for column in columns}  # fmt: skip
        took = of["stepTimeMs"]
        yield Claim(tool, "step_rows", took, "table steps", "ms")
        busy = {name: took[name] - of["otherTimeMs"][name] for name in names}
        more = {"collectives": of["deviceCollectivesTimeMs"], "input": of["infeedTimeMs"]}
        yield Claim(tool, "busy_rows", busy, "table steps", "ms", more)


def _invoked(words: list[str]) -> tuple[int, Any]:
    shown = CliRunner().invoke(cli, words)
    text = shown.stdout
    return shown.exit_code, json.loads(text) if text.strip() else None


def _of_commands(capture: Path, budget: str) -> Iterator[Claim]:
    _, data = _invoked(["info", str(capture), "--format", "json"])
    n_steps = max(row["marked_steps"] for row in data["rows"])
    yield Claim("info", "marked_steps", n_steps, "column marked_steps")
    question = (
        "select step, max(duration_ps) as duration_ps from steps where not is_cut "
        "group by step order by min(start_ps)"
    )
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
