"""The choice of steps for all pages: the control, and the chart for choosing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps, kinds_of
from tfprof.core.columns.numerals import whole_number
from tfprof.core.text.characters import escaped
from tfprof.core.text.claims import Claim
from tfprof.core.text.units import some
from tfprof.errors import UsageError
from tfprof.ui.pages.document import Block, Control, column, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.captures.run.run import Run

_MOST_NUMBERS = 10_000
"""Most steps in one choice; more are a typing mistake."""


def step_control(run: Run, params: Mapping[str, str]) -> list[Control]:
    """The choice of steps; none if there are no steps."""
    steps = run_steps(run)
    if not steps.n_steps:
        return []
    numbers = step_numbers(steps)
    about = (
        f"One step or several, such as {numbers[0]} or {numbers[0]}-{numbers[-1]}; empty for all."
    )
    return [Control("step", "Steps", "steps", params.get("step", ""), "", help=about)]


def step_numbers(steps: RunSteps) -> list[str]:
    """The number of each step in a choice: the one at the end of its name."""
    return [name.rpartition(" ")[2] for name in steps.names]


def step_keys(run: Run, params: Mapping[str, str], names: Sequence[str]) -> Block:
    """What a click on a chart of the chosen steps sets.

    Args:
        run: The run, whose numbers the choice takes: a host alone may have others.
        params: Parameters of the page's address.
        names: Names of the steps on the chart.
    """
    steps = run_steps(run)
    numbers = step_numbers(steps)
    places = steps.places(chosen_steps(params.get("step", "")))
    own = [name.rpartition(" ")[2] for name in names]
    keys = [numbers[place] for place in places] if len(places) == len(own) else own
    return {"param": "step", "keys": keys}


def chosen_steps(text: str) -> int | tuple[int, ...] | None:
    """``3``, ``3-5`` or ``3,7-9`` as numbers; None if empty.

    Raises:
        UsageError: It is none of these.
    """
    numbers: list[int] = []
    for part in filter(None, text.replace(" ", "").split(",")):
        first, dash, last = part.partition("-")
        if not all(each.isascii() and each.isdigit() for each in (first, last if dash else "0")):
            raise UsageError(f"step={text[:30]!r}: give numbers such as 3, 3-5 or 3,7-9")
        begin, end = whole_number(first), whole_number(last or first)
        if end < begin or len(numbers) + end - begin > _MOST_NUMBERS:
            raise UsageError(
                f"step={text[:30]!r}: {part[:30]} is not a range of at most {_MOST_NUMBERS:,} steps"
            )
        numbers += range(begin, end + 1)
    if not numbers:
        return None
    return numbers[0] if len(numbers) == 1 else tuple(dict.fromkeys(numbers))


_MOST_NAMES = 6


def chosen_words(run: Run, params: Mapping[str, str]) -> list[Block]:
    """Time of the chosen steps, for pages whose other sentences are about all steps.

    Raises:
        UsageError: There are no such steps.
    """
    chosen = chosen_steps(params.get("step", ""))
    if chosen is None:
        return []
    of_run = run_steps(run)
    places = of_run.places(chosen)
    steps = of_run.take(np.array(places, np.int64))
    shares = sorted(((steps.share(steps.of(each)), each.name) for each in CATEGORIES), reverse=True)
    names = [of_run.shown_names[place] for place in places]
    parts = tuple(
        Claim(name, "time_share", share, "fraction", words="{value} {subject}")
        for share, name in shares
        if share
    )
    is_one = len(names) == 1
    took = "Step {names} took {value}" if is_one else "Steps {names} took {value} on average"
    claim = Claim(
        "step", "step_time", float(steps.slowest_ps().mean()) / 1e9, "ms", scope=steps.scope,
        details={"names": names[0] if is_one else some(names, _MOST_NAMES)}, parts=parts,
        words=f"{took}: {{parts}}." if parts else f"{took}.",
    )  # fmt: skip
    return [
        words([claim.text], lead=True),
        words(
            ["Verdicts, averages and advice below are about all steps of the run, not only these."]
        ),
    ]


_SEEN = 0.01
"""Part of the periods from which the time between steps can be seen in a chart."""


def step_chart(steps: RunSteps, params: Mapping[str, str]) -> Block:
    """A chart of the time from each step to the next, on its slowest host; a click chooses steps.

    Parts between a step and the next stand above those in it, unless they are next to nothing.
    """
    slowest = np.argmax([one.times.duration_ps for one in steps.hosts], axis=0)
    at = slowest, np.arange(steps.n_steps)
    inside, between = [], []
    has_gaps = steps.share(steps.gap_ps()) >= _SEEN
    for category in CATEGORIES:
        whole = np.stack([one.of(category) for one in steps.hosts])[at]
        kinds = kinds_of(category, steps.rules)
        gap = np.stack([one.times.between(*kinds) for one in steps.hosts])[at] * has_gaps
        name = category.name
        if (whole > gap).any():
            inside.append({"name": name, "values": column((whole - gap) / 1e6)})
        if gap.any():
            between.append({"name": name, "values": column(gap / 1e6), "between": True})
    title = "Steps, start to start"
    if len(steps.hosts) > 1:
        title += ", on the worker that took longest for each"
    return {
        "kind": "chart", "id": "steps", "form": "stacked_bar", "title": title,
        "x_label": "step", "y_label": "time", "unit": "us",
        "x": column([escaped(name) for name in steps.shown_names]), "series": [*inside, *between],
        "choose": {"param": "step", "keys": step_numbers(steps)},
    }  # fmt: skip
