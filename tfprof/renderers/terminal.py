"""Views for people at a terminal: op types as a table, the other views as trees with columns.

The numbers are those of the text report; only the layout is free. A dash means "not measured":
the op never ran, or nobody counts its float operations; ``n/a`` stands for a whole metric that
the profile does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from tfprof.analysis.accounting import METRIC_ROW
from tfprof.analysis.input_shapes import CONTROL_INPUT
from tfprof.model.columns import Int64Array
from tfprof.renderers.tables import UNICODE, Column, Glyphs, Grid, escaped
from tfprof.units import human_count, human_memory, human_share, human_time
from tfprof.views.result import NO_OP, ViewTree

# Okabe and Ito's palette: told apart with any colour vision, legible on black and on white.
BLUE, ORANGE, GREEN, PINK = "#56b4e9", "#e69f00", "#009e73", "#cc79a7"

NOT_AVAILABLE = "n/a"
_MAX_GUIDES = 20
"""Levels of tree lines; deeper rows say their depth instead."""

_NAME_HEADERS = {"scope": "scope", "graph": "op", "op": "op type", "code": "Python line"}


@dataclass(frozen=True, slots=True)
class Metric:
    """How a selected attribute is shown.

    Attributes:
        select: The attribute's name among the options.
        metric: Row in a view's matrices.
        title: Column header.
        form: Number to text.
        colour: Of its bars.
        needs_run: Without run metadata it is not 0 but unknown.
    """

    select: str
    metric: str
    title: str
    form: Callable[[int], str]
    colour: str
    needs_run: bool = True


METRIC_FORMS = (
    Metric("micros", "exec_micros", "time", human_time, BLUE),
    Metric("accelerator_micros", "accelerator_exec_micros", "accelerator", human_time, BLUE),
    Metric("cpu_micros", "cpu_exec_micros", "cpu", human_time, BLUE),
    Metric("bytes", "requested_bytes", "memory", human_memory, ORANGE),
    Metric("peak_bytes", "peak_bytes", "peak mem", human_memory, ORANGE),
    Metric("residual_bytes", "residual_bytes", "resid. mem", human_memory, ORANGE),
    Metric("output_bytes", "output_bytes", "output mem", human_memory, ORANGE),
    Metric("params", "parameters", "params", human_count, GREEN, needs_run=False),
    Metric("float_ops", "float_ops", "float ops", human_count, PINK, needs_run=False),
    Metric("occurrence", "run_count", "runs", human_count, GREEN),
)
"""Every metric that can be selected, in the order of the columns."""


@dataclass(frozen=True)
class ViewTable:
    """A view as a rich renderable.

    Attributes:
        tree: The view.
        max_rows: Show no more rows than this, the largest ones; 0 shows all.
        glyphs: What to draw with.
        hint: Where rows were left out, say how to see them.
        own: Show what the rows of a tree cost by themselves, where there is room.
    """

    tree: ViewTree
    max_rows: int = 0
    glyphs: Glyphs = UNICODE
    hint: bool = True
    own: bool = True

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, _Builder(self).grid())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        builder = _Builder(self)
        grid = builder.grid()
        yield grid
        if not self.hint:
            return
        for remark in builder.remarks(grid.left_out(options.max_width)):
            yield Text(self.glyphs.text(remark), style="dim")


class _Builder:
    """Makes the grid of one view."""

    def __init__(self, table: ViewTable) -> None:
        self.tree = table.tree
        self.glyphs = table.glyphs
        self.own = table.own
        self.is_list = self.tree.kind == "op"
        self.has_runs = bool(self.tree.profile.steps.steps)
        self.has_flops = bool(self.tree.ops.float_ops.array.any())
        self.metrics = self._selected()
        self.primary = self._primary()
        self.rows = self._rows(table.max_rows)
        self.n_hidden = len(self.tree) - self.is_list - len(self.rows)
        shown = self.tree.own[:, self.rows].sum(axis=1)
        self.has_rest = self.is_list and bool((self.tree.total[:, 0] != shown).any())

    def grid(self) -> Grid:
        """The columns that the options select, for the rows that are shown."""
        columns = [self._names()]
        for place, metric in enumerate(self.metrics):
            columns += self._numbers(metric, place)
        columns += self._texts()
        n_rows = len(columns[0].cells)
        if not self.is_list:
            return Grid(columns, self.glyphs, strong_rows=frozenset({0}))
        return Grid(
            columns,
            self.glyphs,
            strong_rows=frozenset({n_rows - 1}),
            rule_before=frozenset({n_rows - 1}),
        )

    def remarks(self, left_out: Sequence[str]) -> Iterator[str]:
        """What the reader does not see, and how to see it."""
        if self.n_hidden and not self.is_list:
            yield (
                f"{len(self.rows)} of {len(self.tree)} rows, those with the largest "
                f"{self._primary_title()}; +n: children left out. --max_rows 0 shows all"
            )
        elif self.n_hidden:
            yield (
                f"{len(self.rows)} of the {len(self.tree) - 1} op types within max_depth, those "
                f"with the largest {self._primary_title()}. --max_rows 0 shows all"
            )
        if left_out:
            yield f"no room for: {', '.join(left_out)}. Widen the terminal or select less"
        if not self.has_runs and any(metric.needs_run for metric in self.metrics):
            yield "n/a: times, memory and runs need run metadata (--run_meta_path)"

    # Which metrics and rows

    def _selected(self) -> list[Metric]:
        select = set(self.tree.options.select)
        if "micros" in select and self.tree.total[METRIC_ROW["accelerator_exec_micros"], 0]:
            select |= {"accelerator_micros", "cpu_micros"}
        return [metric for metric in METRIC_FORMS if metric.select in select]

    def _primary(self) -> Metric | None:
        """What bars show and rows are chosen by: the order, else the first that is selected."""
        known = [metric for metric in self.metrics if self.tree.total[METRIC_ROW[metric.metric], 0]]
        order_by = self.tree.options.order_by
        ordered = [metric for metric in known if metric.select == order_by]
        return next(iter(ordered or known), None)

    def _primary_title(self) -> str:
        return self.primary.title if self.primary else "share"

    def _rows(self, max_rows: int) -> list[int]:
        """Rows to show, in display order; of a tree the ancestors of each are among them."""
        tree = self.tree
        first = 1 if self.is_list else 0
        if not 0 < max_rows < len(tree) - first:
            return list(range(first, len(tree)))
        if self.primary is None:
            weight = np.zeros(len(tree), np.int64)
        else:
            source = tree.own if self.is_list else tree.total
            weight = source[METRIC_ROW[self.primary.metric]]
        # Equal rows: the ones nearer to the root first, so that their children can follow.
        candidates = np.lexsort((np.arange(len(tree)), tree.depth, -weight))
        kept: set[int] = set()
        for row in candidates.tolist():
            if row < first:
                continue
            path = []
            ancestor = row
            while ancestor >= first and ancestor not in kept:
                path.append(ancestor)
                ancestor = int(tree.parent[ancestor]) if not self.is_list else -1
            if len(kept) + len(path) <= max_rows:
                kept.update(path)
            if len(kept) == max_rows:
                break
        return sorted(kept)

    # Names

    def _names(self) -> Column:
        header = _NAME_HEADERS[self.tree.kind]
        if self.is_list:
            names = [escaped(self.tree.names[row]) for row in self.rows]
            return Column(header, "name", [*names, *["others"] * self.has_rest, "total"])
        names = ["total" if row == 0 else self._short_name(row) for row in self.rows]
        return Column(
            header, "name", names, guides=self._guides(), suffixes=self._hidden_children()
        )

    def _short_name(self, row: int) -> str:
        """The name without what the tree lines say already."""
        name = self.tree.names[row]
        if self.tree.kind == "scope":
            name = name.removeprefix(f"{self.tree.names[int(self.tree.parent[row])]}/")
        return escaped(name)

    def _hidden_children(self) -> list[str]:
        if not self.n_hidden:
            return [""] * len(self.rows)
        shown = set(self.rows)
        hidden = [
            sum(child not in shown for child in self.tree.children_of(row)) for row in self.rows
        ]
        return [f" +{count}" if count else "" for count in hidden]

    def _guides(self) -> list[str]:
        """Tree lines before each name: one step per level, up to a limit."""
        glyphs = self.glyphs
        parents = self.tree.parent.tolist()
        last_child = {parents[row]: row for row in self.rows}
        depth = self.tree.depth
        below = {-1: "", 0: ""}
        guides = []
        for row in self.rows:
            parent = parents[row]
            before = below.get(parent, "")
            if row == 0:
                guides.append("")
            elif depth[row] > _MAX_GUIDES:
                below[row] = before
                guides.append(f"{before}{glyphs.last_branch}({depth[row]}) ")
            else:
                is_last = last_child[parent] == row
                below[row] = before + ("  " if is_last else glyphs.line)
                guides.append(before + (glyphs.last_branch if is_last else glyphs.branch))
        return guides

    # Numbers

    def _numbers(self, metric: Metric, place: int) -> list[Column]:
        """The columns of one metric: the number, its share, and the row's own part."""
        title, leave_out = metric.title, 2 * place
        missing = NOT_AVAILABLE if self._is_unknown(metric) else None
        values = self._values(metric)
        cells = [missing or self._number(metric, value, i) for i, value in enumerate(values)]
        colour = metric.colour
        columns = [Column(title, "number", cells, leave_out=leave_out, header_style=colour)]
        whole = int(self.tree.total[METRIC_ROW[metric.metric], 0])
        if metric is self.primary and whole > 0:
            # Of a list the largest bar is full; a tree's root is the whole anyway.
            longest = max(values[:-1], default=whole) if self.is_list else whole
            shares = [value / longest if 0 < value <= longest else None for value in values]
            percents = [human_share(value, whole) if value > 0 else "" for value in values]
            columns += [
                Column("share", "number", percents, leave_out=1, header_style=colour),
                Column("", "bar", percents, shares, style=colour, leave_out=1),
            ]
        if metric is self.primary and self.own and not self.is_list:
            own = self.tree.own[METRIC_ROW[metric.metric]][self.rows].tolist()
            accounted = self.tree.accounted[self.rows].tolist()
            cells = [
                missing or (self._number(metric, value, i) if accounted[i] else self._dash())
                for i, value in enumerate(own)
            ]
            columns.append(Column("own", "number", cells, leave_out=20, about=f"own {title}"))
        if metric.select == "occurrence":
            columns.append(self._definitions(leave_out))
        return columns

    def _values(self, metric: Metric) -> list[int]:
        """Of each row, ending with the rest and the total in a list."""
        index = METRIC_ROW[metric.metric]
        if not self.is_list:
            values: list[int] = self.tree.total[index][self.rows].tolist()
            return values
        shown: list[int] = self.tree.own[index][self.rows].tolist()
        total = int(self.tree.total[index, 0])
        return [*shown, *[total - sum(shown)] * self.has_rest, total]

    def _is_unknown(self, metric: Metric) -> bool:
        if metric.select == "float_ops":
            return not self.has_flops
        return metric.needs_run and not self.has_runs

    def _number(self, metric: Metric, value: int, index: int) -> str:
        if value == 0 and (metric.select == "float_ops" or self._never_ran(metric, index)):
            return self._dash()
        return self.glyphs.text(metric.form(value))

    def _never_ran(self, metric: Metric, index: int) -> bool:
        """Whether a zero means that there was nothing to measure."""
        if not metric.needs_run or metric.metric == "run_count" or index >= len(self.rows):
            return False
        source = self.tree.own if self.is_list else self.tree.total
        return int(source[METRIC_ROW["run_count"], self.rows[index]]) == 0

    def _dash(self) -> str:
        return self.glyphs.missing

    def _definitions(self, leave_out: int) -> Column:
        tree = self.tree
        if tree.kind in ("scope", "graph"):
            counts = tree.definitions[self.rows].tolist()
        elif tree.kind == "op":
            counts = [len(tree.members_of(row)) for row in self.rows]
        else:
            return Column(
                "defined", "number", [NOT_AVAILABLE] * len(self.rows), leave_out=leave_out
            )
        if tree.kind == "op":
            everything = int(self._n_accounted())
            counts += [*[everything - sum(counts)] * self.has_rest, everything]
        cells = [human_count(count) for count in counts]
        return Column("defined", "number", cells, leave_out=leave_out)

    def _n_accounted(self) -> int:
        """Number of ops that the total of an op view counts."""
        tree, options = self.tree, self.tree.options
        if options.account_everything and not options.account_displayed_op_only:
            return len(tree.ops)
        return len(tree.members)

    # Texts

    def _texts(self) -> list[Column]:
        select = self.tree.options.select
        columns = []
        for name, title, text_of in (
            ("device", "device", self._device),
            ("op_types", "types", self._types),
            ("input_shapes", "input shapes", self._shapes),
        ):
            if name in select:
                cells = [escaped(text_of(self._ops_of(row))) for row in self.rows]
                cells += [""] * (self.is_list + self.has_rest)
                columns.append(Column(title, "text", cells, leave_out=30))
        return columns

    def _ops_of(self, row: int) -> Int64Array:
        if self.tree.kind in ("op", "code"):
            return self.tree.members_of(row)
        op_rows = self.tree.op_rows[row : row + 1]
        found: Int64Array = op_rows[op_rows != NO_OP]
        return found

    def _device(self, ops: Int64Array) -> str:
        devices = {self.tree.device(op) for op in ops.tolist()} - {""}
        return ", ".join(sorted(device.rpartition("/device:")[2] for device in devices))

    def _types(self, ops: Int64Array) -> str:
        types: set[str] = set()
        for op in ops.tolist():
            types |= self.tree.op_types(op)
        return ", ".join(sorted(text for text in types if not text.startswith("/")))

    def _shapes(self, ops: Int64Array) -> str:
        """The shapes of the op, or the most frequent ones of many and how many others."""
        shapes = self.tree.input_shapes
        counts: dict[tuple[int, ...], int] = {}
        for op in ops.tolist():
            key = shapes.of(op)
            counts[key] = counts.get(key, 0) + 1
        if not counts:
            return ""
        common = max(counts, key=lambda key: counts[key])
        text = ", ".join(
            "x".join(map(str, shapes.dims[shape])) or "?"
            for shape in common
            if shape != CONTROL_INPUT
        )
        return text if len(counts) == 1 else f"{text} (+{len(counts) - 1})"
