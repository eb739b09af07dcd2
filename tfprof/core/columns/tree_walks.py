"""Walks of trees, graphs and names as arrays, natively where the extension was built.

A tree is its parents in preorder: the root first with parent -1, each node after its parent.
``tree_pure`` does the same in Python and NumPy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfprof.core.columns import tree_pure as _tree_pure
from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire.compiled import is_native, native_module
from tfprof.errors import MalformedProfileError

_native: Any = native_module("tree")
_names: Any = native_module("names")


def _compiled() -> Any:
    """The compiled walks, or None to use Python."""
    return _native if _native is not None and is_native() else None


def _column(values: Int64Array) -> Int64Array:
    return np.ascontiguousarray(values, np.int64)


def subtree_ends(parent: Int64Array) -> Int64Array:
    """One past the last node of each subtree, shape (n,)."""
    if _compiled() is None:
        return _tree_pure.subtree_ends(parent)
    sizes = np.empty(len(parent), np.int64)
    _native.subtree_sums(_column(parent), np.ones(len(parent), np.int64), sizes)
    sizes += np.arange(len(parent))
    return sizes


def subtree_sums(parent: Int64Array, end: Int64Array, values: Int64Array) -> Int64Array:
    """Sum of the values over each subtree, its top included; wraps at 64 bits.

    Args:
        parent: The tree, shape (n,).
        end: As ``subtree_ends`` gives it.
        values: Shape (n,).
    """
    if _compiled() is None:
        return _tree_pure.subtree_sums(end, values)
    sums = np.empty(len(parent), np.int64)
    _native.subtree_sums(_column(parent), _column(values), sums)
    return sums


def path_sums(parent: Int64Array, end: Int64Array, values: Int64Array) -> Int64Array:
    """Sum of the values from the root down to each node, both included; wraps at 64 bits.

    Arguments as in ``subtree_sums``.
    """
    if _compiled() is None:
        return _tree_pure.path_sums(end, values)
    sums = np.empty(len(parent), np.int64)
    _native.path_sums(_column(parent), _column(values), sums)
    return sums


def sorted_preorder(parent: Int64Array, keys: Int64Array) -> Int64Array:
    """Preorder of the tree when siblings are sorted by a key; ties keep their order.

    Args:
        parent: The tree, shape (n,).
        keys: Key of each node, shape (n,).

    Returns:
        The nodes, shape (n,).
    """
    if _compiled() is None:
        return _tree_pure.sorted_preorder(parent, keys)
    order = np.empty(len(parent), np.int64)
    _native.sorted_preorder(_column(parent), _column(keys), order)
    return order


def depth_first(
    offsets: Int64Array, producers: Int64Array, tops: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Preorder of a depth-first walk that visits each op once.

    Args:
        offsets: Start of each op's inputs in ``producers``, shape (n + 1,).
        producers: The op of each input, -1 where there is none.
        tops: Where to start, one after the other.

    Returns:
        Ops in preorder, shape (m,); and for the root and each of them the position of its
        parent, shape (m + 1,).
    """
    if _compiled() is None:
        return _tree_pure.depth_first(offsets, producers, tops)
    order = np.empty(len(offsets) - 1, np.int64)
    parent = np.empty(len(offsets), np.int64)
    columns = map(_column, (offsets, producers, tops))
    visited = _native.depth_first(*columns, order, parent)
    return order[:visited], parent[: visited + 1]


def name_order(names: list[str], *, scopes_first: bool = False) -> Int64Array:
    """Places of names in byte order of their UTF-8, which is the order of code points.

    Args:
        names: The names; equal ones keep their order.
        scopes_first: Let ``/`` come before every other byte, so that each name comes directly
            before the names inside it.
    """
    if _compiled() is not None:
        order = np.empty(len(names), np.int64)
        with contextlib.suppress(UnicodeEncodeError):  # lone surrogates have no UTF-8
            _names.name_order(names, order, scopes_first)
            return order
    return _tree_pure.name_order(names, scopes_first)


def scopes(names: list[str], root: str) -> tuple[list[str], Int64Array, Int64Array]:
    """The tree of names and of their prefixes before a ``/``; siblings are in byte order.

    Args:
        names: Distinct names.
        root: Name of the root.

    Returns:
        Name of each node; the tree; place of each node in ``names``, -1 for the root and for
        prefixes that are not names.

    Raises:
        MalformedProfileError: The names of the scopes would take far more room than the names.
    """
    order = name_order(names, scopes_first=True)
    try:
        if _compiled() is None:
            tree = _tree_pure.scopes(names, order, most_scope_bytes)
        else:
            tree = _names.scopes(names, order, _two_columns, most_scope_bytes)
    except UnicodeEncodeError:
        tree = _tree_pure.scopes(names, order, most_scope_bytes)
    if tree is None:
        raise too_many_scopes(names)
    prefixes, parent, places = tree
    prefixes[0] = root
    return prefixes, parent, places


def too_many_scopes(names: Iterable[str]) -> MalformedProfileError:
    """The error for names whose scopes take more than ``most_scope_bytes``."""
    deepest = max(names, key=lambda name: name.count("/"))
    return MalformedProfileError(
        f"op names with too many scopes: {deepest[:60]!r}… lies in {deepest.count('/')}, and the "
        "names of all scopes would take many times the memory of the ops'. If the names are right, "
        "shorten them"
    )


def most_scope_bytes(n_name_bytes: int) -> int:
    """How many bytes the names of all scopes may take.

    The name of a scope includes all scopes around it, so the bytes grow with the square of the
    depth. The scopes of real graphs take less than the names of their ops.
    """
    return (1 << 24) + 16 * n_name_bytes


def _two_columns(size: int) -> tuple[Int64Array, Int64Array]:
    return np.empty(size, np.int64), np.empty(size, np.int64)


def taken(texts: list[str], places: Int64Array) -> list[str]:
    """The texts at some places."""
    if _compiled() is None:
        return list(map(texts.__getitem__, places.tolist()))
    names: list[str] = _names.taken(texts, _column(places))
    return names
