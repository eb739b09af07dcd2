"""Devices, types, shapes and values of the ops of a row, as short text."""

from __future__ import annotations

from itertools import islice

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.files.checkpoint.value_text import value_texts
from tfprof.profiles.accounting.op_facts import CONTROL_INPUT
from tfprof.profiles.model.executions import NO_OP
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
    names = {tree.device(op) for op in _distinct(tree.facts.device_ids, ops)} - {""}
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


def _distinct(ids: Int64Array, ops: Int64Array) -> list[int]:
    """One op for each distinct id."""
    places = np.unique(ids[ops], return_index=True)[1]
    chosen: list[int] = ops[places].tolist()
    return chosen


TEXTS = (
    ("device", "device", devices_text),
    ("op_types", "types", types_text),
    ("input_shapes", "input shapes", shapes_text),
)
"""How selected attributes that are no numbers are shown: name, title, text of some ops."""
