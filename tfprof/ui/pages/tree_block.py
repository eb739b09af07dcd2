"""The block ``tree``: nested rows with numbers, as packed columns, for any page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.characters import escaped
from tfprof.ui.pages.document import Block, column

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TreeMeasure:
    """One number of every row.

    Attributes:
        id: Its name in addresses.
        label: Its label.
        unit: Its unit, as in tables.
        totals: Value of each row and all below it, shape (n,); NaN where unknown.
        own: Value of each row itself; NaN where it has none. None if rows have no own numbers.
        own_folded: ``own`` while hideable rows are hidden, with theirs added to the row above
            them. None if there are none.
        whole: The total for shares; 0 without shares.
        absent: Text for unknown values.
        is_cost: Whether the totals are parts of the whole, so that they have shares and a picture.
        meaning: What it is.
    """

    id: str
    label: str
    unit: str
    totals: Numbers
    own: Numbers | None = None
    own_folded: Numbers | None = None
    whole: float = 0
    absent: str = "n/a"
    is_cost: bool = True
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class HiddenRows:
    """Rows that are hidden at first.

    Attributes:
        rows: Mask of these rows, shape (n,).
        label: Their label.
    """

    rows: BoolArray
    label: str


@dataclass(frozen=True, slots=True)
class Places:
    """Places of rows in source files.

    Attributes:
        files: Recorded paths.
        file: Place in ``files`` of each row, -1 for none, shape (n,).
        line: Line of each row, from 1.
        texts: Lines of files that could be read: by place in ``files`` and by line.
    """

    files: Sequence[str]
    file: Int64Array
    line: Int64Array
    texts: Mapping[int, Mapping[int, str]]


def tree_block(
    names: Sequence[str],
    parent: Int64Array,
    measures: Sequence[TreeMeasure],
    *,
    id: str,
    title: str = "",
    header: str = "name",
    full_names: Sequence[str] | None = None,
    texts: Sequence[tuple[str, str, Sequence[str]]] = (),
    primary: str = "",
    is_list: bool = False,
    left_out: Sequence[int] | None = None,
    hidden: HiddenRows | None = None,
    places: Places | None = None,
    is_called: bool = False,
    row_page: tuple[str, str, str] | None = None,
    on_row_page: Sequence[bool] | None = None,
    **more: Any,
) -> Block:
    """A tree with all its rows.

    Args:
        names: Name of each row below its parent; the root is first, parents come before their
            children.
        parent: Row of the parent, shape (n,), -1 for the root.
        measures: Its numbers.
        id: Name of the block on its page.
        title: Its heading.
        header: Header of the names.
        full_names: Whole name of each row; ``names`` where it is None.
        texts: Columns of texts: name, label, and the text of each row.
        primary: ``id`` of the measure that is shown first.
        is_list: All rows are children of the root, which is their sum.
        left_out: How many children of each row are not in the document.
        hidden: Rows that are hidden at first.
        places: Places of rows in source files.
        is_called: Whether parents are callers, so that the tree can be inverted.
        row_page: A page for single rows, its parameter for a row's whole name, and the label of
            the link.
        on_row_page: The rows of that page; all but the root by default.
        more: Keys that only some trees have.
    """
    shown = [escaped(name) for name in names]
    joint, others = _full_names(shown, parent, full_names)
    page: Block | None = None
    if row_page is not None:
        page = dict(zip(("page", "param", "label"), row_page, strict=True))
    if page is not None and on_row_page is not None:
        page["rows"] = column([int(each) for each in on_row_page])
    return {
        "kind": "tree",
        "id": id,
        "title": escaped(title),
        "header": header,
        "n_rows": len(names),
        "names": column(shown),
        "joint": joint,
        "full_names": others,
        "parent": column(parent),
        "measures": [_measure(each) for each in measures],
        "texts": [
            {"id": name, "label": label, "values": column([*values])}
            for name, label, values in texts
        ],
        "primary": primary,
        "is_list": is_list,
        "is_called": is_called,
        "left_out": column(np.array(left_out, np.int64)) if left_out and any(left_out) else None,
        "hidden": None
        if hidden is None
        else {"label": hidden.label, "rows": column(hidden.rows.astype(np.int64))},
        "places": None if places is None else _places(places),
        "row_page": page,
        **more,
    }


def _full_names(
    shown: Sequence[str], parent: Int64Array, full_names: Sequence[str] | None
) -> tuple[str, dict[str, str]]:
    """The separator between a row's name and its parent's, and whole names that differ from it."""
    if full_names is None:
        return "", {}
    whole = [escaped(name) for name in full_names]
    joint = "/" if whole[1:] != [*shown[1:]] else ""
    made = [shown[0]]
    others = {}
    for row, (name, place) in enumerate(zip(shown[1:], parent.tolist()[1:], strict=True), 1):
        derived = f"{whole[place]}{joint}{name}" if joint and place > 0 else name
        made.append(derived)
        if derived != whole[row]:
            others[str(row)] = whole[row]
    return joint, others


def _measure(measure: TreeMeasure) -> dict[str, Any]:
    def packed(values: Numbers | None) -> Any:
        return None if values is None else column(values)

    return {
        "id": measure.id, "label": measure.label, "unit": measure.unit,
        "totals": packed(measure.totals), "own": packed(measure.own),
        "own_folded": packed(measure.own_folded), "whole": measure.whole,
        "absent": measure.absent, "is_cost": measure.is_cost,
        **({"meaning": measure.meaning} if measure.meaning else {}),
    }  # fmt: skip


def _places(places: Places) -> dict[str, Any]:
    return {
        "files": [escaped(path) for path in places.files],
        "file": column(places.file),
        "line": column(places.line),
        "texts": {
            str(file): {str(line): text for line, text in lines.items()}
            for file, lines in places.texts.items()
        },
    }
