"""Short texts on the ops of a row, and remarks on a view: what is not shown, and how to see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.metrics import METRIC_FORMS, NOT_AVAILABLE, Metric
from tfprof.core.text.units import human_memory
from tfprof.files.checkpoint.value_text import value_texts
from tfprof.options.spec import OPTIONS
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.accounting.op_facts import CONTROL_INPUT
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.ordering import METRIC_OF_ORDER, NO_STEPS, lacking
from tfprof.views.result import ViewTree

_MOST_VALUES = 4


def ops_of_row(tree: ViewTree, row: int) -> Int64Array:
    """Rows in the op table of a row's own ops."""
    if tree.kind in ("op", "code"):
        return tree.members_of(row)
    op_rows = tree.op_rows[row : row + 1]
    row_if_op: Int64Array = op_rows[op_rows != NO_OP]
    return row_if_op


def devices_text(tree: ViewTree, ops: Int64Array) -> str:
    """``cpu:0, gpu:0``."""
    _, one_of_each = np.unique(tree.facts.device_ids[ops], return_index=True)
    names = {tree.device(op) for op in ops[one_of_each].tolist()} - {""}
    return ", ".join(sorted(name.rpartition("/device:")[2] for name in names))


def types_text(tree: ViewTree, ops: Int64Array) -> str:
    """Op types, and those that op logs added; devices are left out."""
    types: set[str] = set()
    for op in ops.tolist():
        types |= tree.op_types(op)
    return ", ".join(sorted(text for text in types if not text.startswith("/")))


def shapes_text(tree: ViewTree, ops: Int64Array) -> str:
    """The input shapes of the op, or the most frequent ones of many and how many others."""
    shapes = tree.input_shapes
    counts: dict[tuple[int, ...], int] = {}
    for op in ops.tolist():
        key = shapes.of(op)
        counts[key] = counts.get(key, 0) + 1
    if not counts:
        return ""
    common = max(counts, key=lambda key: counts[key])
    text = ", ".join(
        "x".join(map(str, shapes.dims[shape])) or "?" for shape in common if shape != CONTROL_INPUT
    )
    return text if len(counts) == 1 else f"{text} (+{len(counts) - 1})"


def values_text(tree: ViewTree, row: int) -> str:
    """The first values of a variable: ``2x3: 1.0, 2.5, 0.1, 3.0, …``."""
    value = tree.value_of(row)
    if value is None:
        return ""
    if value.values is None:
        return f"a {value.dtype}"
    shape = "x".join(map(str, value.values.shape))
    texts = [*islice(value_texts(value), _MOST_VALUES), *["…"] * (value.flat.size > _MOST_VALUES)]
    return f"{shape}: {', '.join(texts)}" if shape else ", ".join(texts)


TEXTS = (
    ("device", "device", devices_text),
    ("op_types", "types", types_text),
    ("input_shapes", "input shapes", shapes_text),
)
"""Selected attributes other than numbers: name, title, text of some ops."""


MANY_LINES = 10_000
"""A text of more lines is too long to read."""

_A_SCREEN = 40

Spelling = Callable[[str, str], str]
"""How a user sets an option where the remarks are shown, from its name and value."""


def on_command_line(name: str, value: str) -> str:
    """An option as it is typed: ``--order_by name``."""
    return f"--{name} {value}".rstrip()


def hints(
    tree: ViewTree, spelled: Spelling = on_command_line, n_left_out: int = 0
) -> Iterator[str]:
    """Remarks for every kind of report; they take no time for each row.

    Args:
        tree: The view.
        spelled: How remarks name options.
        n_left_out: Rows of the view that the report does not show.
    """
    hiding = [
        spelled(name, "")
        for name, _ in options_that_are_set(tree)
        if name.startswith("min_") or name.endswith("_regexes")
    ]
    if len(tree) == 1 and hiding:
        yield f"no row is left by {', '.join(hiding)}"
    if is_cut(tree, n_left_out) and cuts_the_largest(tree):
        primary = primary_metric(tree)
        depth = spelled("max_depth", str(tree.options.max_depth))
        order = spelled("order_by", primary.select if primary else "")
        yield f"others: what {depth} cuts off, by name; {order} lists the largest first"
    yield from about_idle(tree, spelled)
    yield from about_unknown(tree, spelled)


def about_unknown(tree: ViewTree, spelled: Spelling = on_command_line) -> Iterator[str]:
    """Why selected numbers are not known."""
    titles = {each.metric: each.title for each in selected_metrics(tree)}
    by_reason: dict[str, list[str]] = {}
    for name, reason in lacking(tree, titles).items():
        by_reason.setdefault(reason, []).append(titles[name])
    for reason, names in by_reason.items():
        if reason == NO_STEPS:
            yield f"{NOT_AVAILABLE}: {reason} ({spelled('run_meta_path', '')})"
        else:
            yield f"{NOT_AVAILABLE} ({', '.join(names)}): {reason}"


def about_idle(tree: ViewTree, spelled: Spelling = on_command_line) -> Iterator[str]:
    """How many rows are left out because they never ran, and how to see them."""
    if tree.n_idle:
        what = "op type" if tree.kind == "op" else "row"
        are = "that never ran is" if tree.n_idle == 1 else "that never ran are"
        plural = "" if tree.n_idle == 1 else "s"
        order = spelled("order_by", "name")
        yield f"{tree.n_idle:,} {what}{plural} {are} not shown; {order} lists all"


def about_length(tree: ViewTree, text: str) -> Iterator[str]:
    """A remark on a text that is too long to read, with ways to shorten it."""
    n_lines = text.count("\n")
    if n_lines <= MANY_LINES:
        return
    size = len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))
    primary, spelled = primary_metric(tree), on_command_line
    least = primary.select if primary and primary.select in METRIC_OF_ORDER else "occurrence"
    yield (
        f"{n_lines:,} lines, {human_memory(size)}; {spelled('max_depth', 'N')} shows fewer levels, "
        f"{spelled(f'min_{least}', 'N')} only large rows, {spelled('format', 'tree')} "
        f"{spelled('max_rows', str(_A_SCREEN))} the largest; {spelled('outfile', 'FILE')} "
        "writes a file"
    )


def is_cut(tree: ViewTree, n_left_out: int) -> bool:
    """Whether a list ends where the depth cuts it."""
    is_whole = tree.kind == "op" and not n_left_out
    return is_whole and len(tree) - 2 == tree.options.max_depth


def cuts_the_largest(tree: ViewTree) -> bool:
    """Whether the rows cut off a list by name hold most of the total."""
    primary = primary_metric(tree)
    if primary is None or tree.options.order_by != "name":
        return False
    shown = int(weights(tree)[1:].sum())
    return 2 * shown < int(tree.total[METRIC_ROW[primary.metric], 0])


def options_that_are_set(tree: ViewTree) -> Iterator[tuple[str, object]]:
    """Options that are not the builder's defaults, and their values; sequences are lists."""
    for option in OPTIONS:
        value, default = tree.options.values[option.name], option.builder_default
        if isinstance(default, list):
            value = list(value)
        if value != default:
            yield option.name, value


def selected_metrics(tree: ViewTree) -> list[Metric]:
    """The metrics that the options select; time is also shown by processor where there are two."""
    select = set(tree.options.select)
    if "micros" in select and tree.total[METRIC_ROW["accelerator_exec_micros"], 0]:
        select |= {"accelerator_micros", "cpu_micros"}
    return [metric for metric in METRIC_FORMS if metric.select in select]


def primary_metric(tree: ViewTree) -> Metric | None:
    """The metric that rows are chosen by: the order's, else the first selected one."""
    selected = selected_metrics(tree)
    known = [metric for metric in selected if tree.total[METRIC_ROW[metric.metric], 0]]
    ordered = [metric for metric in known if metric.select == tree.options.order_by]
    return next(iter(ordered or known), None)


def weights(tree: ViewTree) -> Int64Array:
    """The numbers by which rows are chosen, shape (n,)."""
    primary = primary_metric(tree)
    if primary is None:
        return np.zeros(len(tree), np.int64)
    source = tree.own if tree.kind == "op" else tree.total
    numbers: Int64Array = source[METRIC_ROW[primary.metric]]
    return numbers
