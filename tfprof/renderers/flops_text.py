"""Reports of float operations as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from tfprof.analysis.interpreter.analysis import Status
from tfprof.analysis.interpreter.tally import Coverage, OpRow
from tfprof.model.symbolic import Number, Symbolic, typical
from tfprof.model.tensors import PartialShape
from tfprof.units import human_count

CONVENTION = "a multiply-add is 2 FLOPs and 1 MAC; every other operation is 1 FLOP"

_MOST_TYPES = 8
"""Op types that the headline names one by one."""


class Report(Protocol):
    """What a report has to offer."""

    @property
    def flops(self) -> Number:
        """Float operations."""

    @property
    def macs(self) -> Number:
        """Multiply-adds."""

    @property
    def by_type(self) -> Mapping[str, Number]:
        """Count by op type, in the report's unit."""

    @property
    def by_phase(self) -> Mapping[str, Number]:
        """Count by part of the step."""

    @property
    def op_counts(self) -> Coverage:
        """How many ops were counted."""

    @property
    def ops(self) -> Sequence[OpRow]:
        """Every op."""

    convention: str
    notes: tuple[str, ...]


def number_text(number: Number) -> str:
    """A number with separators; a large known one also in short: ``4,089,184,256 (4.09 G)``."""
    if isinstance(number, Symbolic):
        return str(number)
    return f"{number:,} ({human_count(number)})" if abs(number) >= 10_000 else f"{number:,}"


def plain_number(number: Number) -> str:
    """A number with separators."""
    return str(number) if isinstance(number, Symbolic) else f"{number:,}"


def shape_text(shape: PartialShape) -> str:
    """A shape; ``?`` for what is unknown."""
    if shape is None:
        return "?"
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"


def headline(report: Report) -> str:
    """Totals, convention, coverage and notes."""
    unit = "FLOPs" if report.convention == "flops" else "MACs"
    counts = report.op_counts
    lines = [
        f"{number_text(report.flops)} FLOPs, {number_text(report.macs)} MACs",
        f"({CONVENTION})",
    ]
    phases = {name: count for name, count in report.by_phase.items() if count != 0}
    if set(phases) - {"forward"}:
        lines.append("")
        lines += _table([(name, plain_number(count)) for name, count in phases.items()])
        if "initialization" in phases:
            lines.append("Initialization runs once; it is not in the total.")
    lines += ["", f"{unit} by op type:"]
    types = list(report.by_type.items())
    shown = [(name, plain_number(count)) for name, count in types[:_MOST_TYPES]]
    lines += _table(shown) if shown else ["  none"]
    if len(types) > _MOST_TYPES:
        lines.append(f"  … and {len(types) - _MOST_TYPES} more types")
    lines += ["", *_coverage_lines(counts)]
    lines += [f"Note: {note}" for note in report.notes]
    return "\n".join(lines)


def _coverage_lines(counts: Coverage) -> list[str]:
    counted, free = sum(counts.counted.values()), sum(counts.free.values())
    n_types = len({*counts.counted, *counts.free, *counts.uncounted})
    lines = [
        f"Coverage: {100 * counts.share:.4g} % of {counts.n_ops:,} ops of {n_types:,} types "
        f"({counted:,} counted, {free:,} without float operations)"
    ]
    for name, number in counts.uncounted.items():
        lines.append(f"  not counted: {number:,} × {name}: {counts.reasons[name]}")
    return lines


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    left = max((len(name) for name, _ in rows), default=0)
    right = max((len(text) for _, text in rows), default=0)
    return [f"  {name:{left}}  {text:>{right}}" for name, text in rows]


def explanation(report: Report, top: int | None = None) -> str:
    """The headline, and how each op was counted; equal ones take one line.

    Args:
        report: The report.
        top: Show only so many lines, the most expensive ones.
    """
    groups: dict[tuple[str, str, str, str], list[OpRow]] = {}
    for row in report.ops:
        if row.verdict.status is Status.COUNTED and row.flops != 0:
            groups.setdefault(_key(row), []).append(row)
    lines = [headline(report), "", "How each op was counted:"]
    ordered = sorted(groups.values(), key=lambda rows: -sum(typical(row.flops) for row in rows))
    for rows in ordered if top is None else ordered[:top]:
        lines += _op_lines(rows)
    if top is not None and len(ordered) > top:
        lines.append(f"… and {len(ordered) - top} cheaper kinds of ops")
    if not ordered:
        lines.append("  no op has float operations")
    return "\n".join(lines)


def _key(row: OpRow) -> tuple[str, str, str, str]:
    numbers = ", ".join(f"{name}={plain_number(n)}" for name, n in row.verdict.cost.numbers)
    return row.node.kind.op, numbers, plain_number(row.verdict.cost.flops), str(row.times)


def _op_lines(rows: Sequence[OpRow]) -> list[str]:
    first = rows[0]
    cost, formula = first.verdict.cost, first.verdict.formula
    op_type, numbers, each, times = _key(first)
    where = first.node.name + (f" in {first.function}" if first.function else "")
    if len(rows) > 1:
        where += f" and {len(rows) - 1} more"
    runs = "" if first.times == 1 else f" × {times} runs"
    rule = formula.rule if formula else ""
    with_numbers = f" with {numbers}" if numbers else ""
    lines = [
        f"  {op_type}: {rule} = {each} FLOPs{runs}{with_numbers}",
        f"    {where}",
    ]
    if cost.macs != 0:
        lines[0] += f" ({plain_number(cost.macs)} MACs)"
    if formula is not None:
        lines.append(f"    {formula.why} [{formula.source}]")
    return lines
