"""Reports of float operations as text."""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tfprof.core.text.characters import escaped
from tfprof.core.text.units import human_count, human_share
from tfprof.graphs.interpreter.analysis import Status
from tfprof.graphs.interpreter.phases import STEP
from tfprof.graphs.interpreter.tally import Coverage, OpRow
from tfprof.graphs.model.symbolic import Number, Symbolic, shown, total, typical
from tfprof.graphs.model.tensors import PartialShape

if TYPE_CHECKING:
    from tfprof.graphs.reports.report import FlopsReport

CONVENTION = (
    "A multiply-add is 1 MAC and 2 FLOPs. Every other operation on floats is 1 FLOP; integer "
    "arithmetic on indices and shapes is not counted."
)

WIDTH = 100
"""Width of prose; tables and names may be wider."""

_MOST_TYPES = 10
"""Op types that the headline names one by one."""

_LEADING_FACTOR = re.compile(r"(?:^|(?<=[+-] ))\d[\d,]*")
_MOST_SYMBOLIC = 22
"""Most characters of a symbolic number in a table."""


def number_text(number: Number) -> str:
    """A number with separators; a large known one also in short: ``4,089,184,256 (4.09 G)``."""
    if isinstance(number, Symbolic):
        return escaped(shown(number))
    return f"{number:,} ({human_count(number)})" if abs(number) >= 10_000 else f"{number:,}"


def plain_number(number: Number) -> str:
    """A number with separators."""
    return escaped(shown(number)) if isinstance(number, Symbolic) else f"{number:,}"


def short_number(number: Number) -> str:
    """A number to three digits, for tables: ``4.09 G``, ``7.75 G·B + 1.2 k``."""
    if not isinstance(number, Symbolic):
        return human_count(number)
    text = _LEADING_FACTOR.sub(
        lambda match: human_count(int(match[0].replace(",", ""))), escaped(shown(number))
    )
    if len(text) <= _MOST_SYMBOLIC:
        return text
    head = text.partition(" + ")[0]
    return f"{head} + …" if len(head) + 4 <= _MOST_SYMBOLIC else text[: _MOST_SYMBOLIC - 1] + "…"


def shape_text(shape: PartialShape) -> str:
    """A shape; ``?`` for what is unknown."""
    if shape is None:
        return "?"
    return "[" + ", ".join("?" if dim is None else escaped(str(dim)) for dim in shape) + "]"


def unit_of(report: FlopsReport) -> str:
    """Unit of the report."""
    return "FLOPs" if report.convention == "flops" else "MACs"


def headline(report: FlopsReport, width: int = WIDTH, most_types: int = _MOST_TYPES) -> str:
    """Totals, parts of a step, op types (``most_types`` of them), coverage and notes."""
    lines = totals(report, width)
    phases = {name: count for name, count in report.by_phase.items() if count != 0}
    once = phases.pop("initialization", None)
    if set(phases) - {"forward"}:
        lines += ["", f"{unit_of(report)} of one step:", *_count_table(phases)]
    if once is not None:
        lines.append(f"Variables are initialized once: {number_text(once)}, not in the total.")
    if most_types:
        lines += ["", *type_lines(report, most_types)]
    lines += ["", *coverage_lines(report, width)]
    return "\n".join(lines + note_lines(report.notes, width))


def totals(report: FlopsReport, width: int = WIDTH) -> list[str]:
    """The totals, and the definition of one operation."""
    return [
        f"{number_text(report.flops)} FLOPs, {number_text(report.macs)} MACs",
        *textwrap.wrap(CONVENTION, width),
    ]


def type_lines(report: FlopsReport, most: int = _MOST_TYPES) -> list[str]:
    """Counts of the most expensive op types, and of all others together."""
    types = list(report.by_type.items())
    if not types:
        return [f"No op has {unit_of(report)}."]
    shown = dict(types[:most])
    rest = types[most:]
    if rest:
        name = f"{len(rest)} other type{'s' if len(rest) > 1 else ''}"
        shown[name] = total(count for _, count in rest)
    return [f"{unit_of(report)} by op type:", *_count_table(shown)]


def type_rows(report: FlopsReport) -> list[dict[str, Any]]:
    """Op types, the most expensive first; those that are not counted have no count."""
    counts = report.op_counts
    names = [*report.by_type]
    everything = {**counts.counted, **counts.free, **counts.uncounted}
    names += sorted(set(everything) - set(names))
    return [
        {
            "type": name,
            "count": None if name in counts.uncounted else report.by_type.get(name, 0),
            "unit": report.convention,
            "counted_ops": counts.counted.get(name, 0),
            "free_ops": counts.free.get(name, 0),
            "uncounted_ops": counts.uncounted.get(name, 0),
            "reason": counts.reasons.get(name, ""),
        }
        for name in names
    ]


def _count_table(counts: Mapping[str, Number]) -> list[str]:
    """Names, counts, and shares if these are known."""
    whole = total(counts.values())
    rows = [
        (
            escaped(name),
            plain_number(count),
            human_share(count, whole)
            if isinstance(count, int) and isinstance(whole, int) and whole
            else "",
        )
        for name, count in counts.items()
    ]
    return _table(rows)


def _table(rows: Iterable[tuple[str, ...]], indent: str = "  ") -> list[str]:
    """Aligned rows: the first column to the left, others to the right; long cells stick out."""
    rows = list(rows)
    widths = [max(min(len(cell), 60) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        aligned = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append((indent + "  ".join([f"{name:{widths[0]}}", *aligned])).rstrip())
    return lines


def coverage_lines(report: FlopsReport, width: int = WIDTH) -> list[str]:
    """How many ops were counted, and why others were not."""
    counts = report.op_counts
    counted, free = sum(counts.counted.values()), sum(counts.free.values())
    text = (
        f"Coverage: {coverage_text(counts)} of {_ops(counts.n_ops)}: {counted:,} counted, "
        f"{free:,} without float operations"
    )
    lacking = sum(counts.uncounted.values())
    if not lacking:
        return textwrap.wrap(f"{text}.", width)
    lines = textwrap.wrap(f"{text}, {lacking:,} NOT COUNTED:", width)
    by_reason: dict[str, Counter[str]] = defaultdict(Counter)
    for row in report.ops:
        if row.verdict.status is Status.UNCOUNTED:
            by_reason[row.verdict.reason][row.op_type] += 1
    for reason, types in sorted(by_reason.items(), key=lambda i: (-sum(i[1].values()), i[0])):
        lines += _wrapped(f"{_ops(sum(types.values()))}: {escaped(reason)}", width, "  ", "    ")
        ordered = sorted(types.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{escaped(name)} × {number:,}" for name, number in ordered)
        lines += _wrapped(listed, width, "    ", "    ")
    return lines


def coverage_text(counts: Coverage) -> str:
    """The share that was counted or is free; 100 % only if all ops are."""
    percent = 100 * counts.share
    if counts.uncounted and percent > 99.99:
        return ">99.99 %"
    return f"{percent:.4g} %"


def _ops(number: int) -> str:
    return f"{number:,} op{'' if number == 1 else 's'}"


def note_lines(notes: Sequence[str], width: int = WIDTH) -> list[str]:
    """Notes, wrapped."""
    return [line for note in notes for line in _wrapped(f"Note: {escaped(note)}", width, "", "  ")]


def _wrapped(text: str, width: int, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=others, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


_Size = tuple[str, str, str]
"""Numbers in the formula, cost of one run, and runs, of ops that cost the same."""

_Type = tuple[str, str]
"""Op type and formula."""


def explanation(report: FlopsReport, top: int | None = None, width: int = WIDTH) -> str:
    """The headline, then each formula with the numbers that went into it.

    Initializers are left out, as in the total. ``top`` limits the lines of numbers to the most
    expensive ones.
    """
    groups: dict[tuple[_Type, _Size], list[OpRow]] = {}
    for row in report.ops:
        is_counted = row.verdict.status is Status.COUNTED and row.phase in STEP
        if is_counted and row.verdict.cost.flops != 0:
            groups.setdefault((_type_of(row), _size_of(row)), []).append(row)
    costs = {key: sum(typical(row.flops) for row in rows) for key, rows in groups.items()}
    ordered = sorted(groups, key=lambda key: (-costs[key], key))
    by_type: dict[_Type, list[_Size]] = defaultdict(list)
    for op_type, size in ordered:
        by_type[op_type].append(size)
    shown = set(ordered if top is None else ordered[:top])
    lines = [headline(report, width), "", "How each op was counted:"]
    weight = {name: sum(costs[name, size] for size in sizes) for name, sizes in by_type.items()}
    for name in sorted(by_type, key=lambda name: (-weight[name], name)):
        sizes = [size for size in by_type[name] if (name, size) in shown]
        if sizes:
            everything = [row for size in by_type[name] for row in groups[name, size]]
            lines += ["", *_type_lines(everything, report.flops, width)]
            lines += _size_lines([groups[name, size] for size in sizes], width)
            hidden = len(by_type[name]) - len(sizes)
            lines += [f"    … and {hidden:,} cheaper size{'s'[: hidden > 1]}"] if hidden else []
    left_out = len({name for name, _ in ordered} - {name for name, _ in shown})
    if left_out:
        lines += ["", f"… and {left_out:,} cheaper op type{'s'[: left_out > 1]}"]
    if not ordered:
        lines.append("  no op has float operations")
    return "\n".join(lines)


def _type_of(row: OpRow) -> _Type:
    formula = row.verdict.formula
    return row.op_type, formula.rule if formula else ""


def _size_of(row: OpRow) -> _Size:
    numbers = ", ".join(f"{name} = {plain_number(n)}" for name, n in row.verdict.cost.numbers)
    runs = f"{float(row.times):.4g}" if isinstance(row.times, Fraction) else plain_number(row.times)
    return numbers, plain_number(row.verdict.cost.flops), runs


def _type_lines(rows: Sequence[OpRow], whole: Number, width: int) -> list[str]:
    """A formula, its derivation and its source."""
    first = rows[0]
    formula = first.verdict.formula
    flops = total(row.flops for row in rows)
    text = f"{escaped(first.op_type)}: {_ops(len(rows))}, {number_text(flops)} FLOPs"
    if isinstance(flops, int) and isinstance(whole, int) and whole:
        text += f", {human_share(flops, whole)}"
    lines = [text]
    if formula is not None:
        lines.append(f"  {escaped(formula.rule)}")
        why = f"{formula.why} [{formula.source}]" if formula.source else formula.why
        lines += _wrapped(escaped(why), width, "  ", "  ")
    return lines


def _size_lines(groups: Sequence[Sequence[OpRow]], width: int) -> Iterator[str]:
    """A line for each group of ops that cost the same."""
    rows = []
    for group in groups:
        numbers, each, runs = _size_of(group[0])
        times = "" if runs == "1" else f" × {runs} runs"
        rows.append((f"{len(group):,} ×", f"{each}{times}", f"with {numbers}" if numbers else ""))
    counts, costs = max(len(row[0]) for row in rows), max(min(len(row[1]), 60) for row in rows)
    for (count, cost, numbers), group in zip(rows, groups, strict=True):
        line = f"    {count:>{counts}} {cost:>{costs}}  {numbers}".rstrip()
        where = _where(group)
        if len(line) + 2 + len(where) <= width:
            yield f"{line}  {where}"
        else:
            yield line
            yield f"        {where}"


def _where(rows: Sequence[OpRow]) -> str:
    first = rows[0]
    where = first.node.name + (f" in {first.function}" if first.function else "")
    return escaped(where) + (f" and {len(rows) - 1:,} more" if len(rows) > 1 else "")
