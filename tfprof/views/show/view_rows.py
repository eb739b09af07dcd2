"""The lines of a view: which rows are shown, their parents, and their numbers as text.

Tables, outlines and pages lay out these lines, so they agree. A dash means "not measured": the op
never ran, or its float operations are not known; ``n/a`` means that the profile does not hold the
metric at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import NOT_AVAILABLE, Metric
from tfprof.core.text.units import human_count
from tfprof.options.spec import BY_NAME
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.ordering import lacking
from tfprof.views.result import ViewTree
from tfprof.views.show.view_texts import (
    TEXTS,
    Spelling,
    cuts_the_largest,
    hints,
    is_cut,
    on_command_line,
    ops_of_row,
    primary_metric,
    selected_metrics,
    values_text,
    weights,
)


@dataclass(frozen=True, slots=True)
class Amounts:
    """One metric of all lines.

    Attributes:
        values: Total of each line and all below it, shape (n,).
        unknown: Mask of unknown totals.
        own: Own cost of each line.
        own_unknown: Mask of unknown or missing own costs.
        whole: The total for shares.
    """

    values: Int64Array
    unknown: BoolArray
    own: Int64Array
    own_unknown: BoolArray
    whole: int


class LineAmounts:
    """The numbers of some rows of a view.

    Args:
        tree: The view.
        rows: The rows, the root first.
        ends_with_others: The last one stands for all op types that are not shown.
    """

    def __init__(self, tree: ViewTree, rows: Int64Array, ends_with_others: bool) -> None:
        self._tree = tree
        self._rows = rows
        self._is_list = tree.kind == "op"
        self._ends_with_others = ends_with_others
        self._has_float_ops = bool(tree.ops.float_ops.array.any())

    def of(self, metric: Metric) -> Amounts:
        """One metric."""
        index = METRIC_ROW[metric.metric]
        own = self._tree.own[index][self._rows]
        totals = self._totals(index)
        own_unknown = self._unknown(metric, own) | ~self.has_own
        whole = int(self._tree.total[index, 0])
        return Amounts(totals, self._unknown(metric, totals), own, own_unknown, whole)

    def is_unknown(self, metric: Metric) -> bool:
        """Whether the profile does not hold a metric at all."""
        if metric.select == "float_ops":
            return not self._has_float_ops
        return metric.metric in self._lacking

    @cached_property
    def _lacking(self) -> dict[str, str]:
        return lacking(self._tree)

    @cached_property
    def has_own(self) -> BoolArray:
        """Lines of a tree that are themselves an op, or a line that made ops, and count."""
        tree, rows = self._tree, self._rows
        if self._is_list:
            return np.zeros(len(rows), np.bool_)
        in_code = tree.kind == "code"
        has_ops = np.diff(tree.member_offsets) > 0 if in_code else tree.op_rows != NO_OP
        return np.asarray(tree.accounted[rows] & has_ops[rows], np.bool_)

    def _totals(self, index: int) -> Int64Array:
        """For a list: each row's own value, the total for the first, and the rest for the last."""
        of_rows: Int64Array = self._tree.total[index][self._rows]
        if not self._is_list:
            return of_rows
        totals: Int64Array = self._tree.own[index][self._rows].copy()
        totals[0] = of_rows[0]
        if self._ends_with_others:
            totals[-1] = totals[0] - int(totals[1:-1].sum())
        return totals

    def _unknown(self, metric: Metric, values: Int64Array) -> BoolArray:
        """Where there is no number, or a zero only means that there was nothing to measure."""
        if self.is_unknown(metric):
            return np.ones(len(values), np.bool_)
        if metric.select == "float_ops":
            return np.asarray(values == 0, np.bool_)
        if not metric.needs_run or metric.metric == "run_count":
            return np.zeros(len(values), np.bool_)
        runs = self._totals(METRIC_ROW["run_count"])
        if self._ends_with_others:
            runs[-1] = 1
        return np.asarray((values == 0) & (runs == 0), np.bool_)


OTHERS = -1
"""In ``Line.row``: all op types that are not shown, also those that the options exclude."""

NAME_HEADERS = {"scope": "scope", "graph": "op", "op": "op type", "code": "Python line"}
"""Meaning of the names of a view's rows, by its kind."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        row: Row in the view, or ``OTHERS``.
        parent: Line of the parent, -1 for the first.
        depth: Levels below the root.
        name: Its name below its parent.
        full_name: Its whole name.
        left_out: Number of its children that are not shown.
    """

    row: int
    parent: int
    depth: int
    name: str
    full_name: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Numbers:
    """One attribute of all lines.

    Attributes:
        title: Its name.
        colour: Of its bars.
        values: Total of each line and all below it; None if it is not known.
        texts: The same as text.
        own: Own cost of each line, as text; empty where there is none.
        own_values: The same as numbers.
        whole: The total that shares refer to.
        metric: The metric; None for the number of ops.
    """

    title: str
    colour: str
    values: Sequence[int | None]
    texts: Sequence[str]
    own: Sequence[str]
    own_values: Sequence[int | None]
    whole: int
    metric: Metric | None = None

    def share(self, line: int) -> float | None:
        """Part of the whole, 0 to 1; None if the value is unknown or not within the whole."""
        value = self.values[line]
        return value / self.whole if value and 0 < value <= self.whole else None


class ViewRows:
    """The lines of a view.

    Args:
        tree: The view.
        max_rows: Show no more rows than this, the largest ones with their ancestors; 0 shows
            all. The total of op types does not count.
        glyphs: For dashes and units.
        spelled: How remarks name options.

    Attributes:
        is_list: It is a list of op types, with the total first.
        metrics: The selected metrics.
        primary: The metric that rows are chosen by: the order's, else the first selected.
        lines: The lines, parents before their children.
        amounts: Their numbers.
        n_left_out: Rows that are not shown.
    """

    def __init__(
        self,
        tree: ViewTree,
        max_rows: int = 0,
        glyphs: Glyphs = UNICODE,
        spelled: Spelling = on_command_line,
    ) -> None:
        self.tree = tree
        self.glyphs = glyphs
        self.spelled = spelled
        self.is_list = tree.kind == "op"
        self.has_runs = bool(tree.profile.steps.steps)
        self.metrics = selected_metrics(tree)
        self.primary = primary_metric(tree)
        rows = self._rows(max_rows)
        self.n_left_out = len(tree) - len(rows)
        self.lines = self._list_lines(rows) if self.is_list else self._tree_lines(rows)
        self._rows_of_lines = np.array([max(line.row, 0) for line in self.lines], np.int64)
        self.amounts = LineAmounts(tree, self._rows_of_lines, self.lines[-1].row == OTHERS)

    def numbers(self) -> list[Numbers]:
        """The selected metrics, in the order of columns."""
        columns = []
        for metric in self.metrics:
            columns.append(self._numbers(metric))
            if metric.select == "occurrence" and self.tree.kind != "code":
                columns.append(self._definitions())
        return columns

    def texts(self) -> list[tuple[str, list[str]]]:
        """Selected attributes other than numbers: title, and the text of each line."""
        columns = []
        for select, title, text_of in TEXTS:
            if select in self.tree.options.select:
                cells = [escaped(text_of(self.tree, self._ops_of(line))) for line in self.lines]
                columns.append((title, cells))
        if self.tree.shows_values:
            cells = [escaped(values_text(self.tree, line.row)) for line in self.lines]
            columns.append(("values", cells))
        return columns

    def _ops_of(self, line: Line) -> Int64Array:
        is_sum = self.is_list and line.row <= 0
        return np.zeros(0, np.int64) if is_sum else ops_of_row(self.tree, line.row)

    def remarks(self) -> Iterator[str]:
        """Remarks below a table: the rows left out, and the hints."""
        by = f"those with the largest {self.primary.title}" if self.primary else "the first"
        shown = len(self.tree) - self.n_left_out
        show_all = f"{self.spelled('max_rows', '0')} shows all"
        if self.n_left_out and self.is_list:
            yield f"{shown - 1:,} of {len(self.tree) - 1:,} op types, {by}. {show_all}"
        elif self.n_left_out:
            yield f"{shown:,} of {len(self.tree):,} rows, {by}; +n: children left out. {show_all}"
        depth = self.tree.options.max_depth
        is_asked = depth != BY_NAME["max_depth"].default  # chosen by the user
        cuts = is_cut(self.tree, self.n_left_out)
        if cuts and not (is_asked or cuts_the_largest(self.tree)):
            asked = self.spelled("max_depth", str(depth))
            yield f"{asked} cuts off the others; a larger one shows more of them"
        yield from hints(self.tree, self.spelled, self.n_left_out)

    # Which lines

    def _rows(self, max_rows: int) -> list[int]:
        """Rows to show, in display order, with their ancestors; the root is always there."""
        tree = self.tree
        limit = max_rows + self.is_list
        if max_rows <= 0 or limit >= len(tree):
            return list(range(len(tree)))
        # Equal rows: the ones nearer to the root first, so that their children can follow.
        candidates = np.lexsort((np.arange(len(tree)), tree.depth, -weights(tree)))
        parents = [0 if self.is_list else parent for parent in tree.parent.tolist()]
        kept = {0}
        for row in candidates.tolist():
            path: list[int] = []
            ancestor = row
            while ancestor not in kept and len(kept) + len(path) <= limit:
                path.append(ancestor)
                ancestor = parents[ancestor]
            if len(kept) + len(path) <= limit:
                kept.update(path)
            if len(kept) == limit:
                break
        return sorted(kept)

    def _list_lines(self, rows: list[int]) -> list[Line]:
        names = self.tree.names
        lines = [Line(0, -1, 0, "total", names[0])]
        lines += [Line(row, 0, 1, escaped(names[row]), names[row]) for row in rows[1:]]
        # Types that no row shows: left out here, or by the options of the view.
        if self.n_left_out or any(map(self._is_incomplete, METRICS, repeat(rows))):
            lines.append(Line(OTHERS, 0, 1, "others", "others"))
        return lines

    def _is_incomplete(self, metric: str, rows: list[int]) -> bool:
        """Whether the rows of a list lack some of the total; float operations only if shown."""
        if metric == "float_ops" and all(each.metric != metric for each in self.metrics):
            return False
        index = METRIC_ROW[metric]
        return int(self.tree.own[index][rows].sum()) != int(self.tree.total[index, 0])

    def _tree_lines(self, rows: list[int]) -> list[Line]:
        tree = self.tree
        parents, depth = tree.parent.tolist(), tree.depth.tolist()
        place = {row: line for line, row in enumerate(rows)}
        shown_children = [0] * len(tree)
        for row in rows[1:]:
            shown_children[parents[row]] += 1
        lines = [Line(0, -1, 0, "total", tree.names[0], self._n_hidden(0, shown_children))]
        for row in rows[1:]:
            lines.append(
                Line(
                    row,
                    place[parents[row]],
                    depth[row],
                    self._short_name(row, parents[row]),
                    tree.names[row],
                    self._n_hidden(row, shown_children),
                )
            )
        return lines

    def _n_hidden(self, row: int, shown_children: Sequence[int]) -> int:
        return len(self.tree.children_of(row)) - shown_children[row] if self.n_left_out else 0

    def _short_name(self, row: int, parent: int) -> str:
        """The name without that of its parent scope."""
        name = self.tree.names[row]
        if self.tree.kind == "scope":
            name = name.removeprefix(f"{self.tree.names[parent]}/")
        return escaped(name)

    # Numbers

    def _numbers(self, metric: Metric) -> Numbers:
        found = self.amounts.of(metric)
        values, own_values = (
            [None if is_unknown else value for value, is_unknown in zip(*pair, strict=True)]
            for pair in (
                (found.values.tolist(), found.unknown.tolist()),
                (found.own.tolist(), found.own_unknown.tolist()),
            )
        )
        return Numbers(
            metric.title,
            metric.colour,
            values,
            [self._text(metric, value) for value in values],
            ["" if value is None else self._text(metric, value) for value in own_values],
            own_values,
            found.whole,
            metric,
        )

    def _text(self, metric: Metric, value: int | None) -> str:
        return self.absent(metric) if value is None else self.glyphs.text(metric.form(value))

    def absent(self, metric: Metric) -> str:
        """The text where a number of a metric is not known."""
        return NOT_AVAILABLE if self.amounts.is_unknown(metric) else self.glyphs.missing

    def definition_counts(self) -> list[int]:
        """How many ops each line defines."""
        tree = self.tree
        if not self.is_list:
            of_lines: list[int] = tree.definitions[self._rows_of_lines].tolist()
            return of_lines
        options = tree.options
        counts_all = options.account_everything and not options.account_displayed_op_only
        whole = len(tree.ops) if counts_all else len(tree.members)
        counts = [whole, *(len(tree.members_of(line.row)) for line in self.lines[1:])]
        if self.lines[-1].row == OTHERS:
            counts[-1] = whole - sum(counts[1:-1])
        return counts

    def _definitions(self) -> Numbers:
        counts = self.definition_counts()
        texts = [human_count(count) for count in counts]
        nothing = [None] * len(counts)
        return Numbers("defined", "", counts, texts, [""] * len(counts), nothing, 0)
