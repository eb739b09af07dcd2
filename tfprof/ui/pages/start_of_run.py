"""The first page of a captured run: the answer, its pictures, what to do, and what costs most.

What answers "what limits this run, and what do I do?" stands first, in pictures; the tables of the
overview follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.framework import words_for
from tfprof.captures.facts.missing import notes_for_tools
from tfprof.captures.facts.recording import recording
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.practices.findings import capture_findings
from tfprof.captures.practices.practices import PRACTICES
from tfprof.captures.run.contents import tools_of
from tfprof.captures.run.hang_record import hang_of
from tfprof.captures.run.result import ToolResult
from tfprof.core.text.characters import escaped
from tfprof.core.text.units import some
from tfprof.core.text.wording import plural, sentence
from tfprof.ui.pages.blocks_of_results import findings_block, notes_block, table_block
from tfprof.ui.pages.document import Block, Control, Params, column, facts, side_by_side, words
from tfprof.ui.pages.links import Names, table_links
from tfprof.ui.pages.start_cards import MOST_CARDS, SENTENCE, bars, best_findings
from tfprof.ui.pages.step_choice import chosen_words, step_chart, step_control
from tfprof.ui.pages.tool_pages import tool_result

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.core.columns.findings import Finding

_ONE_LINE = 110
"""Letters of an answer that fits into one line; of a longer one, the reason stands below."""

_SHORTEST = 30
"""Letters of an answer that says something."""

_FEW = 5
"""Most bars of a card; each card leads to the page with all."""

_FEW_GAUGES = 4

_SHOWN = ("performance", "environment", "steps")
"""Tables of the overview that stand in pictures above."""


def start_of_run(source: str, run: Run, params: Params) -> tuple[list[Block], Sequence[Control]]:
    """Blocks and controls of the first page of a captured run."""
    return [*_blocks(source, run, params)], step_control(run, params)


def _blocks(source: str, run: Run, params: Params) -> Iterator[Block]:
    overview = tool_result("overview", run, params)
    hang = hang_of(run.folder) if run.folder else None
    if hang is not None and "hang" in overview.tables:
        first, *more = [claim.text for claim in hang.claims]
        yield words([first], lead=True)
        yield words(more)
        overview = replace(overview, claims=overview.claims[len(hang.claims) :])
    steps = run_steps(run)
    found = capture_findings(run, host=params.get("host") or None)
    limits = _what_limits(overview, found)
    yield from chosen_words(run, params)
    yield words([limits.answer], lead=True)
    yield facts(_in_short(run, steps), short=True)
    if steps.n_steps:
        average = _average_step(overview, limits.reasons)
        yield side_by_side([(2, step_chart(steps, params)), (1, average)])
    yield best_findings(found, len(PRACTICES), "the capture", answers=limits.is_finding)
    yield side_by_side(
        [(1.3, _heaviest(run, params)), (1, _memory(run, params)), (1, _machine(source, run))]
    )
    yield words([*([] if steps.n_steps else limits.reasons), *limits.more])
    known = set(overview.notes)
    notes = [*(note for note in run.notes if note not in known), *overview.notes]
    yield from notes_block([*notes, *notes_for_tools(run)])
    yield from findings_block(found[MOST_CARDS:])
    names = Names(run, params)
    for name, table in overview.tables.items():
        if name not in _SHOWN:
            yield table_block(table, links=table_links(table, names))


def _in_short(run: Run, steps: RunSteps) -> Iterator[tuple[str, str]]:
    """Framework, devices and steps, in a few words each."""
    told = [recording(host) for host in run.hosts]
    versions = {name: text for one in told for name, text in one.versions.items()}
    framework = words_for(run.hosts).framework
    if framework:
        yield "framework", f"{framework} {versions.get(framework.lower(), '')}".strip()
    known = environment(run)
    yield "devices", f"{known.n_cores} × {known.device_type}" if known.n_cores else "CPU only"
    if len(run.hosts) > 1:
        yield "hosts", plural(len(run.hosts), "host")
    n_cut = int(steps.is_cut.sum())
    yield "steps", plural(steps.n_steps, "step") + (f", {n_cut} cut" if n_cut else "")
    began = [each for one in told if (each := one.began) is not None]
    if began:
        yield "captured", f"{min(began):%Y-%m-%d %H:%M} UTC"


class _Limits(NamedTuple):
    """What limits a run.

    Attributes:
        answer: In one line.
        reasons: Sentences that stand below the picture of the average step.
        more: Further sentences of the verdict.
        is_finding: Whether the answer is the problem of the first finding.
    """

    answer: str
    reasons: list[str]
    more: list[str]
    is_finding: bool


def _what_limits(overview: ToolResult, found: Sequence[Finding]) -> _Limits:
    """The critical finding, which costs most, unless it is about input, as the verdict is.

    If the capture cannot tell whether steps wait for input, what most of a step goes to says more
    than that, if it has a name.

    Args:
        overview: Its sentences are of waiting for input, of the step time, and others.
        found: The findings, the best first.
    """
    verdict = overview.verdict
    first, *more = SENTENCE.split(" ".join(verdict[:1]), maxsplit=1)
    if found and found[0].severity == "critical" and not found[0].rule.startswith("input-"):
        answer, reason = _in_one_line(SENTENCE.split(found[0].message, maxsplit=1)[0])
        return _Limits(answer, [reason, *verdict[:2]], list(verdict[2:]), is_finding=True)
    parts = _parts_of_step(overview)
    whole = sum(ms for _, ms in parts)
    if parts and parts[0][0] != "All others" and not overview.claims[0].is_known:
        name, ms = parts[0]
        answer = f"{name} takes {ms / whole:.1%} of a step."
        return _Limits(answer, list(verdict[:2]), list(verdict[2:]), is_finding=False)
    answer, reason = _in_one_line(first)
    return _Limits(answer, [reason, *verdict[1:2]], [*more, *verdict[2:]], is_finding=False)


def _parts_of_step(overview: ToolResult) -> list[tuple[str, float]]:
    """Parts of the average step in ms, the largest first; the first row is all of it."""
    table = overview.tables.get("performance")
    rows = [] if table is None else table.rows[1:]
    return sorted(((str(row[0]), float(row[1])) for row in rows if row[1]), key=lambda one: -one[1])


def _in_one_line(said: str) -> tuple[str, str]:
    """The answer, and the reason for it if it is too long for one line."""
    answer, colon, reason = said.partition(": ")
    if len(said) <= _ONE_LINE or not colon or len(answer) < _SHORTEST:
        return said, ""
    return f"{answer}.", sentence(reason)


def _average_step(overview: ToolResult, reasons: Sequence[str]) -> Block:
    """Where the time of an average step goes."""
    parts = _parts_of_step(overview)
    return {
        "kind": "chart", "id": "average-step", "form": "strip", "title": "Where a step goes",
        "x_label": "part", "y_label": "time", "unit": "ms",
        "x": column([name for name, _ in parts]),
        "series": [{"name": "time", "values": column([ms for _, ms in parts])}],
        "caption": escaped(" ".join(filter(None, reasons))),
    }  # fmt: skip


_UNNAMED = "kernels_without_op"
"""The row of all kernels that no op launched, as far as the capture shows."""


def _heaviest(run: Run, params: Params) -> Block:
    """The ops with most time, of devices where there are some; kernels, where ops have no names."""
    table = tool_result("op-stats", run, params).tables.get("ops")
    every = [] if table is None else [row for row in table.to_rows() if row["type"] != "IDLE"]
    on_device = [row for row in every if row["host_or_device"] == "Device"]
    if on_device and on_device[0]["operation"] == _UNNAMED:
        kernels = tool_result("kernel-stats", run, params).tables["kernels"].to_rows()
        costs = [(str(row["kernel_name"]), row["total_duration_us"]) for row in kernels]
        return bars("Heaviest kernels", costs, "kernel-stats")
    costs = [(str(row["operation"]), row["total_self_time"]) for row in on_device or every]
    place = "device" if on_device else "host"
    return bars(f"Heaviest ops on the {place}, self time", costs, "op-stats")


def _memory(run: Run, params: Params) -> Block:
    """Memory at its peak against the capacity of each allocator, or what programs plan to use."""
    missing = {each.tool: each.missing for each in tools_of(run.hosts)}
    if not missing["memory"]:
        allocators = tool_result("memory", run, params).tables["summary"].to_rows()[:_FEW_GAUGES]
        used = [
            (str(each["allocator"]), each["peak_bytes"], each["capacity_bytes"])
            for each in allocators
        ]
        return _gauges("Memory at the peak", used, "memory")
    if not missing["memory-viewer"]:
        programs = (
            tool_result("memory-viewer", run, params).tables["programs"].to_rows()[:_FEW_GAUGES]
        )
        planned = [(str(each["module"]), each["peak_bytes"], None) for each in programs]
        return _gauges("Memory that programs plan", planned[:_FEW_GAUGES], "memory-viewer")
    return words([sentence(missing["memory"])], title="Memory: not recorded")


def _gauges(title: str, used: Sequence[tuple[str, Any, Any]], page: str) -> Block:
    return {
        "kind": "chart", "id": "memory", "form": "gauges", "title": title,
        "x_label": "allocator", "y_label": "memory", "unit": "bytes",
        "x": column([name for name, _, _ in used]),
        "series": [
            {"name": "used", "values": column([amount for _, amount, _ in used])},
            {"name": "capacity", "values": column([capacity for _, _, capacity in used])},
        ],
        "page": page, "more": "over time" if page == "memory" else "buffers",
    }  # fmt: skip


def _machine(source: str, run: Run) -> Block:
    told = [recording(host) for host in run.hosts]
    lasted_ms = max((one.lasted_ms for one in told), default=0)
    names = [host.name for host in run.hosts]
    items = [
        ("Read from", source),
        ("Host" if len(names) == 1 else f"{len(names)} hosts", some(names, _FEW)),
        *([("Recorded for", f"{lasted_ms:,.0f} ms")] if lasted_ms else []),
        ("Events", f"{sum(one.n_events for one in told):,}"),
        *{name: text for one in told for name, text in one.versions.items()}.items(),
    ]
    return facts(items, "Machine and recording")
