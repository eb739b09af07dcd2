"""Statements as DuckDB's parser writes them in JSON: looked through, compared and changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

Node = dict[str, Any]
"""A part of a statement."""

_PLACES = ("query_location", "query_location_length", "alias")
"""What does not tell expressions apart: where they were written, and what they are called."""


def changed(node: Any, change: Callable[[Node], Node | None]) -> Any:
    """A copy in which expressions are changed; None from ``change`` means: look inside."""
    if isinstance(node, list):
        return [changed(one, change) for one in node]
    if not isinstance(node, dict):
        return node
    if "class" in node:
        new = change(node)
        if new is not None:
            return new
    return {key: changed(one, change) for key, one in node.items()}


def inside(node: Any) -> Iterator[Node]:
    """All expressions of an expression, with itself."""
    if isinstance(node, dict):
        if "class" in node:
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from inside(one)


def column_of(node: Node) -> str | None:
    """The name of a column, without that of its table."""
    if node.get("class") != "COLUMN_REF":
        return None
    name: str = node["column_names"][-1]
    return name.lower()


def columns_in(nodes: Sequence[Node | None]) -> Iterator[str]:
    """The names of all columns in some expressions."""
    for node in nodes:
        for inner in inside(node):
            name = column_of(inner)
            if name is not None:
                yield name


def arguments(node: Node) -> list[Node]:
    """The arguments of a function; newer releases give them names."""
    key = "arguments" if "arguments" in node else "children"
    return [one.get("expression", one) for one in node[key]]


def renamed(node: Node, name: str) -> Node:
    """A call of another function with the same arguments."""
    copy = {**deepcopy(node), "function_name": name}
    if "qualified_name" in copy:
        copy["qualified_name"]["path"][-1] = name
    return copy


def reference(name: str) -> Node:
    """A column by its name."""
    return {
        "class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "query_location": 0,
        "column_names": [name],
    }  # fmt: skip


def bare(node: Node) -> Node:
    """An expression without its alias."""
    return {**node, "alias": ""}


def text_of(node: Any) -> str:
    """What makes two expressions the same."""

    def plain(inner: Any) -> Any:
        if isinstance(inner, list):
            return [plain(one) for one in inner]
        if not isinstance(inner, dict):
            return inner
        name = column_of(inner)
        if name is not None:
            return name
        return {key: plain(one) for key, one in inner.items() if key not in _PLACES}

    return json.dumps(plain(node), sort_keys=True)


def ordinal(node: Node) -> int | None:
    """The place that GROUP BY names by its number, from 1."""
    if node.get("class") != "CONSTANT":
        return None
    text = node["literal"]["text"] if "literal" in node else str(node["value"].get("value"))
    return int(text) if text.isdecimal() else None
