"""Which rows of two tables are the same row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any


def numbered(keys: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The keys with a number behind each: 0 for the first of equal ones, then 1, 2, …

    >>> numbered([("a",), ("b",), ("a",)])
    [('a', 0), ('b', 0), ('a', 1)]
    """
    seen: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    found = []
    for key in keys:
        found.append((*key, seen[key]))
        seen[key] += 1
    return found


def matched(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> Iterator[tuple[int | None, int | None]]:
    """Rows with the same key, in the order of the first; then those that only the second has.

    Args:
        first: Keys of one table, each of them once.
        second: Keys of the other one.

    Yields:
        Row of the first and row of the second; None where it has none.

    >>> list(matched(["a", "b"], ["c", "a"]))
    [(0, 1), (1, None), (None, 0)]
    """
    places = {key: row for row, key in enumerate(second)}
    for row, key in enumerate(first):
        yield row, places.pop(key, None)
    for row in places.values():
        yield None, row
