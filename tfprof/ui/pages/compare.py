"""Two runs on one page: the numbers of both beside each other, row by row, and their difference.

It works on documents, so that every page with numbers can be compared. A row is the same in both
runs if its texts are: the op's name, its type, the host. Rows of equal texts are matched in their
order. Rows of only one run stay, with an unknown number for the other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfprof.core.columns.matching import matched, numbered
from tfprof.insight.diff.tables import ORDINALS
from tfprof.ui.pages.compare_trees import tree_of_both
from tfprof.ui.pages.document import Block, Page, column, side_by_side, words
from tfprof.ui.pages.packed_columns import unpacked

_DIFFERENCE = "difference"


def compared(first: Page, second: Page, names: tuple[str, str]) -> Page:
    """A page of two runs.

    Args:
        first: The page of the run in front.
        second: The same page of the other run.
        names: Names of the runs.
    """
    blocks = [words([f"{names[0]} beside {names[1]}."]), *_both(first.blocks, second.blocks, names)]
    return Page(first.id, first.title, first.about, blocks, first.controls)


def _both(first: Sequence[Block], second: Sequence[Block], names: tuple[str, str]) -> list[Block]:
    """The blocks of the first, each with its counterpart; then those of the second only.

    What stands beside others on a page of one run stands beside its counterpart here.
    """
    others: defaultdict[tuple[str, str], list[Block]] = defaultdict(list)
    for block in _single(second):
        others[_key(block)].append(block)
    blocks: list[Block] = []
    for block in _single(first):
        matching = others[_key(block)]
        if matching:
            blocks += _pair(block, matching.pop(0), names)
        else:
            blocks.append(_named(block, names[0]))
    for left in others.values():
        blocks += [_of_second(block, names[1]) for block in left]
    return blocks


def _single(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield from block["blocks"] if block["kind"] == "row" else [block]


def _key(block: Block) -> tuple[str, str]:
    return str(block["kind"]), str(block.get("id", ""))


def _pair(first: Block, second: Block, names: tuple[str, str]) -> list[Block]:
    # If tables hold only the first rows, a missing row may be further down in the other table.
    if first["kind"] == "table" and not first.get("page"):
        return [table_of_both(first, second, names)]
    if first["kind"] == "tree":
        return [tree_of_both(first, second, names)]
    if first["kind"] == "tabs":
        return [_tabs(first, second, names)]
    if first["kind"] == "figures":
        return [_figures(first, second, names)]
    pair = _named(first, names[0]), _of_second(second, names[1])
    is_narrow = first["kind"] == "chart"
    return [side_by_side((1, each) for each in pair)] if is_narrow else [*pair]


def _named(block: Block, name: str) -> Block:
    """A block of one run only, marked as such; columns of a table need no mark."""
    title = f"{block['title']}: {name}" if block.get("title") else name
    return {**block, "title": title, "of_run": name}


def _of_second(block: Block, name: str) -> Block:
    """A block of the second run only: its links lead to pages of that run, and it chooses none."""

    along = {"run": name, "against": ""}

    def led(link: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return link and {**link, "params": {**link["params"], **along}}

    block = _named({key: each for key, each in block.items() if key != "choose"}, name)
    if "point_links" in block:
        block["point_links"] = [led(link) for link in block["point_links"]]
    if block["kind"] == "graph":
        block["nodes"] = [
            {
                **node,
                "link": led(node["link"]),
                "toggle": node["toggle"] and {**node["toggle"], **along},
                "handles": [
                    {**each, "params": {**each["params"], **along}} for each in node["handles"]
                ],
            }
            for node in block["nodes"]
        ]
    if block["kind"] in ("buffers", "code-lines"):
        block["along"] = along
    if block["kind"] == "program-text":
        block["params"] = {**block["params"], "run": name}
    return block


def _tabs(first: Block, second: Block, names: tuple[str, str]) -> Block:
    others = {item["label"]: item["blocks"] for item in second["items"]}
    items = [
        {**item, "blocks": _both(item["blocks"], others.get(item["label"], []), names)}
        for item in first["items"]
    ]
    return {**first, "items": items}


def _figures(first: Block, second: Block, names: tuple[str, str]) -> Block:
    others = {item["label"]: item for item in second["items"]}
    items = []
    for item in first["items"]:
        items.append({**item, "label": f"{item['label']}, {names[0]}"})
        other = others.get(item["label"])
        if other is not None:
            items.append({**other, "label": f"{other['label']}, {names[1]}"})
    return {**first, "items": items}


# Tables


def table_of_both(first: Block, second: Block, names: tuple[str, str]) -> Block:
    """A table with the numbers of two runs: for each column that of either, and the difference.

    Args:
        first: A table block.
        second: One of the same tool, which may have other columns.
        names: What the runs are called.
    """
    mine, theirs = _columns(first), _columns(second)
    numbers = _numeric(first, mine) & _numeric(second, theirs)
    # Unknown sizes are texts: 768·B.
    mixed = (_declared_numeric(first) | _declared_numeric(second)) - numbers
    ids = [
        each["id"]
        for each in first["columns"]
        if each["id"] in theirs and each["id"] not in numbers | mixed
    ]
    pairs = [*matched(_keys(mine, ids, first), _keys(theirs, ids, second))]
    columns, cells = [], []
    for each in first["columns"]:
        if each["id"] not in theirs or each["id"] in ORDINALS:
            continue
        own, other = mine[each["id"]], theirs[each["id"]]
        if each["id"] in mixed:
            sides = [a for a, _ in pairs], [b for _, b in pairs]
            for name, given, rows in zip(names, (own, other), sides, strict=True):
                label = f"{each['label']}: {name}"
                kept = _without(each, "adds", "shade")
                columns.append(
                    {**kept, "type": "string", "id": f"{each['id']}:{name}", "label": label}
                )
                cells.append(column([_shown(given, row) for row in rows]))
            continue
        if each["id"] not in numbers:
            columns.append(each)
            cells.append(column([_text(own, other, a, b) for a, b in pairs]))
            continue
        before, after = _numbers(own, [a for a, _ in pairs]), _numbers(other, [b for _, b in pairs])
        for name, values in ((names[0], before), (names[1], after), (_DIFFERENCE, after - before)):
            label = f"{each['label']}: {name}"
            # Rows of only one run have no difference, but are in its sum.
            kept = _without(each, "adds", "shade") if name == _DIFFERENCE else each
            columns.append({**kept, "id": f"{each['id']}:{name}", "label": label})
            cells.append(column(values))
    links = {
        name: _link_of_both((first, second), name, (mine[name], theirs[name]), pairs)
        for name in (first.get("links") or {}).keys() & (second.get("links") or {}).keys()
        if name in mine and name in theirs
    }
    return {**first, "columns": columns, "cells": cells, "n_rows": len(pairs), "links": links}


def _without(each: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in each.items() if key not in keys}


def _link_of_both(
    blocks: tuple[Block, Block],
    name: str,
    cells: tuple[Sequence[Any], Sequence[Any]],
    pairs: Sequence[tuple[int | None, int | None]],
) -> dict[str, Any]:
    """The links of a column: those of the first run where it has the row.

    Rows of the second alone lead to pages that are searched, not to those that show one thing of
    the first run.
    """
    links = [block["links"][name] for block in blocks]
    at = [unpacked(link["at"]) for link in links]
    values = [
        unpacked(link["values"]) if "values" in link else own
        for link, own in zip(links, cells, strict=True)
    ]
    ways = links[0]["ways"]  # those of one tool are the same in all runs
    is_searched = [param == "find" for _, param in ways]
    places = [(0, a) if a is not None else (1, b or 0) for a, b in pairs]
    kept = [at[run][row] for run, row in places]
    return {
        "ways": ways,
        "at": column(
            [
                way if run == 0 or is_searched[way] else -1
                for way, (run, _) in zip(kept, places, strict=True)
            ]
        ),
        "values": column([values[run][row] for run, row in places]),
    }


def _declared_numeric(block: Block) -> set[str]:
    return {each["id"] for each in block["columns"] if each["type"] == "number"}


def _numeric(block: Block, columns: Mapping[str, Sequence[Any]]) -> set[str]:
    """Columns of numbers, and of nothing else."""
    return {
        name for name in _declared_numeric(block)
        if not any(isinstance(value, str) for value in columns[name])
    }  # fmt: skip


def _columns(block: Block) -> dict[str, Sequence[Any]]:
    pairs = zip(block["columns"], block["cells"], strict=True)
    return {each["id"]: unpacked(cells) for each, cells in pairs}


def _keys(
    columns: Mapping[str, Sequence[Any]], texts: Sequence[str], block: Block
) -> list[tuple[Any, ...]]:
    """Name of each row, and its number among rows of that name."""
    named = zip(*(columns[text] for text in texts), strict=True) if texts else ()
    return numbered(named or [()] * block["n_rows"])


def _text(first: Sequence[Any], second: Sequence[Any], a: int | None, b: int | None) -> Any:
    return first[a] if a is not None else second[b] if b is not None else None


def _shown(values: Sequence[Any], row: int | None) -> str:
    return "" if row is None or values[row] is None else f"{values[row]}"


def _numbers(values: Sequence[Any], rows: Sequence[int | None]) -> np.ndarray[Any, Any]:
    return np.array(
        [math.nan if row is None or values[row] is None else float(values[row]) for row in rows],
        np.float64,
    )
