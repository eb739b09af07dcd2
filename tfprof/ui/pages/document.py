"""A page as plain data: blocks of words, figures, tables, charts and trees, with units.

The front end draws blocks and computes nothing: every number on a page is in its document.
``docs/pages_format.md`` describes the format; ``FORMAT`` counts its versions.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from tfprof.core.text.characters import escaped
from tfprof.core.text.wording import shortened

Params = Mapping[str, str]
"""Parameters of a page's address."""

FORMAT: Final = 1
"""Version of the documents; the front end of a server and of a report comes with it."""

Block = dict[str, Any]
"""A part of a page; ``kind`` says which, the functions of this module make them."""

_TYPED_FROM: Final = 64
"""Shorter columns are lists: they are no larger, and can be read."""

_MOST_REMARKS: Final = 50
"""Most remarks that a block shows; the others are counted."""

_FEW_TEXTS: Final = 0.7
"""Texts are numbered if there are fewer different ones than this share of the rows."""


@dataclass(frozen=True, slots=True)
class Control:
    """A choice on a page; its value is a parameter of the page's address.

    Attributes:
        name: The parameter.
        label: Its label.
        kind: How to choose: one of ``choices``, a whole number, a text, yes or no, several
            texts, or steps by their numbers.
        value: The present value; a list for ``list``.
        default: The value that need not be in the address.
        choices: Pairs of value and label.
        help: One sentence.
        unit: Unit of a number.
        group: Heading over controls that belong together; empty for those that are always visible.
    """

    name: str
    label: str
    kind: Literal["choice", "int", "text", "bool", "list", "steps"]
    value: Any
    default: Any
    choices: Sequence[tuple[str, str]] = ()
    help: str = ""
    unit: str = ""
    group: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name, "label": self.label, "kind": self.kind, "value": self.value,
            "default": self.default, "choices": [list(pair) for pair in self.choices],
            "help": self.help, "unit": self.unit, "group": self.group,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        id: Its name in addresses: ``op-stats``.
        title: Its heading.
        about: One sentence on its content.
        blocks: Its blocks, from top to bottom.
        controls: Its choices.
    """

    id: str
    title: str
    about: str = ""
    blocks: Sequence[Block] = ()
    controls: Sequence[Control] = field(default_factory=tuple)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "format": FORMAT, "page": self.id, "title": self.title, "about": self.about,
            "controls": [control.to_dict() for control in self.controls],
            "blocks": list(self.blocks),
        }  # fmt: skip

    def to_json(self) -> bytes:
        """As JSON, the same bytes for the same page."""
        return to_json(self.to_dict())


def to_json(data: Any) -> bytes:
    """Plain data as compact JSON; numbers that JSON does not have become null."""
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(data), ensure_ascii=False, separators=(",", ":"))
    # Halves of surrogate pairs, from damaged names, are not valid UTF-8.
    return text.encode("utf-8", "replace")


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


# Columns


def column(values: Sequence[Any] | np.ndarray[Any, Any]) -> Any:
    """A column of numbers, texts or booleans, small where it is long.

    Returns:
        A list; or ``{"type": "f64" | "i32", "data": base64 of little-endian numbers}``, where NaN
        is an unknown number; or ``{"texts": [...], "at": a column of places in them, -1 for
        none}``.
    """
    if isinstance(values, np.ndarray):
        if len(values) < _TYPED_FROM:
            return [_plain(value) for value in values.tolist()]
        return _typed(values)
    values = list(values)
    if len(values) < _TYPED_FROM:
        return [_plain(value) for value in values]
    if all(isinstance(value, str) or value is None for value in values):
        return _texts(values)
    if all(type(value) in (int, float) or value is None for value in values):
        return _typed(np.array([math.nan if value is None else value for value in values]))
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _texts(values: Sequence[str | None]) -> Any:
    places: dict[str, int] = {}
    at = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
    if len(places) > _FEW_TEXTS * len(values) and -1 not in at:
        return [escaped(str(value)) for value in values]
    return {"texts": [*map(escaped, places)], "at": column(np.array(at, np.int32))}


def _typed(values: np.ndarray[Any, Any]) -> Any:
    fits = values.dtype.kind in "iub" or bool(np.all(values == np.floor(values)))  # NaN does not
    if fits and (not len(values) or (abs(values.min()) < 2**31 and abs(values.max()) < 2**31)):
        return {"type": "i32", "data": _base64(values.astype("<i4"))}
    return {"type": "f64", "data": _base64(values.astype("<f8"))}


def _base64(values: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


# Blocks


def words(sentences: Iterable[str], *, lead: bool = False, title: str = "") -> Block:
    """Sentences, one a paragraph; the first of ``lead`` ones is the answer, in the page's head."""
    items = [escaped(each) for each in sentences if each]
    return {"kind": "words", "lead": lead, "title": title, "items": items}


def facts(items: Iterable[tuple[str, str]], title: str = "", *, short: bool = False) -> Block:
    """Names and values that describe something; ``short`` ones are values in the page's head."""
    pairs = [[escaped(name), escaped(value)] for name, value in items]
    return {"kind": "facts", "title": title, "short": short, "items": pairs}


def side_by_side(blocks: Iterable[tuple[float, Block]]) -> Block:
    """Blocks beside each other in cards, each with its part of the width."""
    pairs = list(blocks)
    return {
        "kind": "row",
        "parts": [part for part, _ in pairs],
        "blocks": [block for _, block in pairs],
    }


def figures(items: Iterable[Mapping[str, Any]]) -> Block:
    """The main numbers of the page: ``label``, ``value``, ``unit`` and ``detail`` each."""
    return {"kind": "figures", "items": [dict(item) for item in items]}


def remarks(items: Iterable[tuple[str, str, str]]) -> Block:
    """Remarks on the numbers: severity (error, warning or info), text, and host.

    Those without an error are counted in the page's head, and open by a click. A file holds any
    number of remarks of any length: the first are shown.
    """
    every = list(items)
    return {
        "kind": "remarks",
        "items": [
            {"severity": severity, "text": escaped(shortened(text)), "host": escaped(host)}
            for severity, text, host in every[:_MOST_REMARKS]
        ],
        "n_more": max(0, len(every) - _MOST_REMARKS),
    }


def tabs(id_: str, items: Iterable[tuple[str, Sequence[Block]]]) -> Block:
    """Blocks of which one group is shown at a time, each with its label."""
    return {
        "kind": "tabs",
        "id": id_,
        "items": [{"label": escaped(label), "blocks": list(blocks)} for label, blocks in items],
    }


def empty(why: str) -> Block:
    """Why a page is empty, and how to fill it."""
    return {"kind": "empty", "text": escaped(why)}
