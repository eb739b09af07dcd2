"""What campaigns have executed and found: a file in the repository, and the table of the docs.

``python -m fuzz.ledger`` writes the table from the file, as after a merge.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEDGER = ROOT / "fuzz" / "ledger.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- campaigns: begin -->", "<!-- campaigns: end -->"

Counts = Mapping[tuple[str, str], int]
"""Executions by part and format."""


def add_run(commit: str, seed: int, hours: float, counts: Counts, findings: Iterable[str]) -> None:
    """Add a campaign to the ledger, and write the table of the docs anew."""
    by_part: dict[str, dict[str, int]] = {}
    for (part, form), n in sorted(counts.items()):
        by_part.setdefault(part, {})[form] = n
    entry = {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M}",
        "commit": commit,
        "seed": seed,
        "hours": round(hours, 3),
        "executions": by_part,
        "findings": sorted(findings),
    }
    runs = [*ledger(), entry]
    lines = ",\n".join(json.dumps(run) for run in runs)
    LEDGER.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    write_page(runs)


def write_page(runs: Iterable[Mapping[str, Any]]) -> None:
    """Write the table of the docs anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(runs)}\n{END}{after}", encoding="utf-8")


def ledger() -> list[dict[str, Any]]:
    """All campaigns so far, the first one in front."""
    if not LEDGER.exists():
        return []
    return list(json.loads(LEDGER.read_text(encoding="utf-8")))


def table(runs: Iterable[Mapping[str, Any]]) -> str:
    """Executions by format and part, with sums, as Markdown."""
    runs = list(runs)
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        for part, by_format in run["executions"].items():
            for form, n in by_format.items():
                counts[form, part] += n
    sums: Counter[str] = Counter()
    for (_, part), n in counts.items():
        sums[part] += n
    parts = [part for part, _ in sums.most_common()]
    lines = [f"| format | {' | '.join(parts)} | all |", f"| --- {'| ---: ' * (len(parts) + 1)}|"]
    for form in sorted({form for form, _ in counts}):
        row = [counts[form, part] for part in parts]
        lines.append(_row(form, [*row, sum(row)]))
    lines.append(_row("**all**", [*(sums[part] for part in parts), sums.total()]))
    hours = sum(run["hours"] for run in runs)
    found = len({name for run in runs for name in run["findings"]})
    ended = f"Campaigns: {len(runs)}; hours: {hours:.1f}; distinct findings: {found}."
    return "\n".join([*lines, "", ended, ""])


def _row(name: str, numbers: Iterable[int]) -> str:
    cells = " | ".join(f"{n:,}" if n else "" for n in numbers)
    return f"| {name} | {cells} |"


if __name__ == "__main__":
    write_page(ledger())
