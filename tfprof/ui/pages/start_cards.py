"""Cards of first pages: the best things to do, and the few that cost most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tfprof.core.columns.findings import Finding
from tfprof.core.text.characters import escaped
from tfprof.core.text.short_names import short_name
from tfprof.core.text.wording import plural
from tfprof.ui.pages.blocks_of_results import finding_dict
from tfprof.ui.pages.document import Block, column

SENTENCE: Final = re.compile(r"(?<=[a-z0-9)%]\.) (?=[A-Z])")
"""Between two sentences."""

MOST_CARDS: Final = 3
"""Most findings beside each other; the others follow below."""

_FEW: Final = 5
"""Most bars of a card, which leads to the page with all."""


def best_findings(
    found: Sequence[Finding], n_rules: int, what: str, *, answers: bool = False
) -> Block:
    """The best things to do; where there are fewer than fit, what else was looked at.

    Args:
        found: All findings, the best first.
        n_rules: How many rules looked.
        what: At what: ``the capture``.
        answers: Whether the problem of the first one is the answer of the page already.
    """
    rest = ""
    if len(found) < MOST_CARDS:
        nothing = "Nothing else" if found else "Nothing"
        rest = (
            f"{nothing} is worth a change by {plural(n_rules, 'rule')}, as far as {what} shows "
            "what they need."
        )
    cards = [finding_dict(each) for each in found[:MOST_CARDS]]
    if answers:
        _, *remedy = SENTENCE.split(cards[0]["text"], maxsplit=1)
        cards[0]["text"] = " ".join(remedy) or cards[0]["text"]
    return {"kind": "findings", "items": cards, "cards": True, "rest": rest}


def bars(title: str, costs: Sequence[tuple[str, Any]], page: str, unit: str = "us") -> Block:
    """The largest of some costs, each with a way to its row, and the others together.

    Args:
        title: What they are.
        costs: Names and costs: those of one name are added up, unknown ones count as nothing.
        page: The page that lists all of them.
        unit: Of the costs.
    """
    sums: dict[str, float] = {}
    for name, cost in costs:
        sums[name] = sums.get(name, 0.0) + float(cost or 0)
    known = sorted(sums.items(), key=lambda each: -each[1])
    shown, left = known[:_FEW], sum(cost for _, cost in known[_FEW:])
    names = [escaped(short_name(name)) for name, _ in shown]
    links: list[Any] = [{"page": page, "params": {"find": escaped(name)}} for name, _ in shown]
    amounts = [cost for _, cost in shown]
    if left:
        names, amounts, links = [*names, "others"], [*amounts, left], [*links, None]
    return {
        "kind": "chart", "id": f"heaviest-{page}", "form": "pie", "title": title,
        "x_label": "name", "y_label": "cost", "unit": unit,
        "x": column(names), "series": [{"name": "cost", "values": column(amounts)}],
        "point_links": links, "page": page, "more": f"all {len(costs):,}",
    }  # fmt: skip
