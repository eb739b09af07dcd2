"""The walks of ``tree_walks`` in Python and NumPy: the reference for the compiled ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array


def subtree_ends(parent: Int64Array) -> Int64Array:
    """One past the last node of each subtree."""
    parents = parent.tolist()
    sizes = [1] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    ends: Int64Array = np.arange(len(parents)) + np.array(sizes, np.int64)
    return ends


def subtree_sums(end: Int64Array, values: Int64Array) -> Int64Array:
    """Differences of a running sum: a subtree is a slice."""
    running = np.zeros(len(end) + 1, np.int64)
    np.cumsum(values, out=running[1:])
    sums: Int64Array = running[end] - running[:-1]
    return sums


def path_sums(end: Int64Array, values: Int64Array) -> Int64Array:
    """A running sum that forgets a value where its subtree ends."""
    steps = np.zeros(len(end) + 1, np.int64)
    steps[:-1] = values
    np.subtract.at(steps, end, values)
    sums: Int64Array = np.cumsum(steps[:-1])
    return sums


def sorted_preorder(parent: Int64Array, keys: Int64Array) -> Int64Array:
    """Each node's place is its parent's and the sizes of the siblings before it."""
    size = len(parent)
    if size <= 1:
        return np.arange(size, dtype=np.int64)
    end = subtree_ends(parent)
    weight = end - np.arange(size)
    siblings = np.lexsort((np.arange(1, size), keys[1:], parent[1:])) + 1
    before = np.cumsum(weight[siblings]) - weight[siblings]
    groups = parent[siblings]
    first_of_group = np.searchsorted(groups, groups, side="left")
    offset = np.zeros(size, np.int64)
    offset[siblings] = before - before[first_of_group] + 1
    order = np.empty(size, np.int64)
    order[path_sums(end, offset)] = np.arange(size)
    return order


def depth_first(
    offsets: Int64Array, producers: Int64Array, tops: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """A stack of (op, position of its consumer) replaces recursion.

    An op is visited when it is taken from the stack, so its parent is the consumer from which
    recursion would reach it.
    """
    known = producers >= 0
    bounds = np.concatenate([[0], np.cumsum(known)])[offsets]
    # A stack reverses the order, so inputs are kept from last to first.
    inputs = producers[known][::-1].tolist()
    first = (len(inputs) - bounds[1:]).tolist()
    stop = (len(inputs) - bounds[:-1]).tolist()
    visited = bytearray(len(first))
    order: list[int] = []
    parent = [-1]
    pending: list[int] = []
    consumers: list[int] = []
    for top in tops.tolist():
        if visited[top]:
            continue
        pending.append(top)
        consumers.append(0)
        while pending:
            op = pending.pop()
            consumer = consumers.pop()
            if visited[op]:
                continue
            visited[op] = 1
            order.append(op)
            parent.append(consumer)
            below = inputs[first[op] : stop[op]]
            if below:
                pending += below
                consumers += [len(order)] * len(below)
    return np.array(order, np.int64), np.array(parent, np.int64)


def name_order(names: Sequence[str], scopes_first: bool) -> Int64Array:
    """Python compares strings by code point, which is the byte order of their UTF-8."""
    keys: Sequence[str | list[str]] = names
    if scopes_first:
        keys = [name.replace("/", "\0") for name in names]
        if any("\0" in name for name in names):
            keys = [name.split("/") for name in names]
    return np.array(sorted(range(len(names)), key=keys.__getitem__), np.int64)


def scopes(
    names: Sequence[str], order: Int64Array, most_bytes: Callable[[int], int]
) -> tuple[list[str], Int64Array, Int64Array] | None:
    """Open and close scopes from name to name; None if their names take too many bytes.

    Args:
        names: Distinct names.
        order: Their places in preorder.
        most_bytes: Gives the most bytes of scope names, from the bytes of all names.
    """
    room = most_bytes(sum(map(_n_bytes, names)))
    prefixes = [""]
    parent = [-1]
    places = [-1]
    # The scopes of the last name, each with the slash after it, and their positions.
    open_scopes = [""]
    open_positions = [0]
    for place in order.tolist():
        name = names[place]
        while not name.startswith(open_scopes[-1]):
            open_scopes.pop()
            open_positions.pop()
        slash = name.find("/", len(open_scopes[-1]))
        while slash >= 0:
            parent.append(open_positions[-1])
            open_positions.append(len(prefixes))
            open_scopes.append(name[: slash + 1])
            prefixes.append(name[:slash])
            room -= _n_bytes(prefixes[-1])
            if room < 0:
                return None
            places.append(-1)
            slash = name.find("/", slash + 1)
        parent.append(open_positions[-1])
        open_positions.append(len(prefixes))
        open_scopes.append(name + "/")
        prefixes.append(name)
        places.append(place)
    return prefixes, np.array(parent, np.int64), np.array(places, np.int64)


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
