"""Joins two trees: rows with the same path from the root are one row, with the numbers of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.ui.pages.document import Block, column
from tfprof.ui.pages.packed_columns import unpacked

_NO_ROW = -1


def tree_of_both(first: Block, second: Block, names: tuple[str, str]) -> Block:
    """A tree with the numbers of two runs.

    Rows are matched from the root down, by name and by the place among rows of equal names. Other
    fields than numbers are those of the first tree that has the row.

    Args:
        first: A tree block.
        second: One of the same page.
        names: What the runs are called.
    """
    rows, parent = _matched(first, second)
    in_first, in_second = rows[:, 0], rows[:, 1]
    merged = {
        **first,
        "n_rows": len(rows),
        "parent": column(parent),
        "names": column(_texts_of(first["names"], second["names"], rows)),
        "full_names": _full_names(first, second, rows),
        "left_out": None,
        "places": None,
        "row_page": _row_page(first["row_page"], in_first),
        "measures": _measures(first, second, rows, names),
    }
    others = {each["id"]: each["values"] for each in second["texts"]}
    merged["texts"] = [
        {**each, "values": column(_texts_of(each["values"], others.get(each["id"], []), rows))}
        for each in first["texts"]
    ]
    if first["hidden"] is not None and second["hidden"] is not None:
        hidden = np.zeros(len(rows), np.int64)
        for block, own in ((second, in_second), (first, in_first)):
            values = np.array(unpacked(block["hidden"]["rows"]), np.int64)
            hidden[own >= 0] = values[own[own >= 0]]
        merged["hidden"] = {**first["hidden"], "rows": column(hidden)}
    else:
        merged["hidden"] = None
    return merged


def _row_page(page: Block | None, in_first: Int64Array) -> Block | None:
    """The page for single rows of the first tree, and the rows that it has."""
    if page is None:
        return None
    has_page = np.ones(len(in_first), np.int64)
    if "rows" in page:
        has_page = np.array(unpacked(page["rows"]), np.int64)[in_first]
    return {**page, "rows": column(np.where(in_first >= 0, has_page, 0))}


def _matched(first: Block, second: Block) -> tuple[Int64Array, Int64Array]:
    """Rows of both trees that belong together, parents before their children.

    Returns:
        Row in each, -1 where it has none, shape (n, 2); and the parent of each pair, shape (n,).
    """
    children = [_children(first), _children(second)]
    shown = [unpacked(first["names"]), unpacked(second["names"])]
    pairs: list[tuple[int, int]] = []
    parents: list[int] = []
    waiting = [(0, 0, _NO_ROW)]
    while waiting:
        one, other, parent = waiting.pop()
        place = len(pairs)
        pairs.append((one, other))
        parents.append(parent)
        below: dict[tuple[str, int], list[int]] = {}
        for tree, row in enumerate((one, other)):
            seen: dict[str, int] = {}
            for child in children[tree].get(row, ()) if row >= 0 else ():
                name = shown[tree][child]
                seen[name] = seen.get(name, -1) + 1
                below.setdefault((name, seen[name]), [_NO_ROW, _NO_ROW])[tree] = child
        waiting += [(a, b, place) for a, b in reversed(list(below.values()))]
    return np.array(pairs, np.int64), np.array(parents, np.int64)


def _children(block: Block) -> dict[int, list[int]]:
    lists: dict[int, list[int]] = {}
    for row, parent in enumerate(unpacked(block["parent"])):
        lists.setdefault(int(parent), []).append(row)
    return lists


def _texts_of(first: Any, second: Any, rows: Int64Array) -> list[str]:
    one, other = unpacked(first), unpacked(second)
    return [one[a] if a >= 0 else other[b] if b < len(other) else "" for a, b in rows.tolist()]


def _full_names(first: Block, second: Block, rows: Int64Array) -> dict[str, str]:
    names = {}
    for place, (a, b) in enumerate(rows.tolist()):
        name = first["full_names"].get(str(a)) if a >= 0 else second["full_names"].get(str(b))
        if name is not None:
            names[str(place)] = name
    return names


def _measures(
    first: Block, second: Block, rows: Int64Array, names: tuple[str, str]
) -> list[dict[str, Any]]:
    """The measures of both runs, each with the difference of its totals."""
    others = {each["id"]: each for each in second["measures"]}
    made: list[dict[str, Any]] = []
    for mine in first["measures"]:
        theirs = others.get(mine["id"])
        if theirs is None:
            continue
        made.append(_placed(mine, rows[:, 0], names[0]))
        made.append({**_placed(theirs, rows[:, 1], names[1]), "id": f"{mine['id']}:other"})
        totals = _numbers(theirs["totals"], rows[:, 1]) - _numbers(mine["totals"], rows[:, 0])
        made.append({
            **mine, "id": f"{mine['id']}:difference", "label": f"{mine['label']}: difference",
            "totals": column(totals), "own": None, "own_folded": None, "whole": 0, "is_cost": False,
        })  # fmt: skip
    return made


def _placed(measure: Mapping[str, Any], rows: Int64Array, name: str) -> dict[str, Any]:
    packed = {
        part: None if measure[part] is None else column(_numbers(measure[part], rows))
        for part in ("totals", "own", "own_folded")
    }
    return {**measure, **packed, "label": f"{measure['label']}: {name}"}


def _numbers(values: Any, rows: Int64Array) -> np.ndarray[Any, Any]:
    known: Sequence[Any] = unpacked(values)
    return np.array(
        [math.nan if row < 0 or known[row] is None else float(known[row]) for row in rows.tolist()]
    )
