"""Two device memory profiles of JAX: which lines hold more arrays, and what may be there still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, cast

from tfprof.captures.run.columns import amount, count
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.device_memory import (
    FUNCTION,
    LINE,
    NOTE,
    Entry,
    Place,
    by_place,
    entries,
)
from tfprof.core.columns.stacks import Stacks
from tfprof.core.text.claims import Claim

LINES: Final = (
    LINE, FUNCTION,
    amount("bytes_difference", "Difference", "bytes", "bytes of its arrays: after minus before"),
    amount("bytes_before", "Before", "bytes", "bytes of its arrays in the first profile"),
    amount("bytes_after", "After", "bytes", "bytes of its arrays in the second profile"),
    count("arrays_before", "Arrays before", "its arrays in the first profile"),
    count("arrays_after", "Arrays after", "its arrays in the second profile"),
    amount("new_bytes", "New, at least", "bytes",
           "arrays of a size and device of which the second profile has more than the first"),
    amount("kept_bytes", "Kept, at most", "bytes",
           "arrays of a size and device that both profiles have: at most so much is older than the "
           "first profile, as arrays may have gone and others like them come"),
)  # fmt: skip

_BASIS: Final = "the arrays of both device memory profiles"


def diff_device_memory(
    first: Stacks, second: Stacks, name: str = "before", other: str = "after"
) -> ToolResult:
    """What the arrays on devices take, line by line, in two profiles.

    Args:
        first: Samples of the profile before, for which ``is_device_memory`` holds.
        second: Those of the profile after.
        name: Name of the profile before.
        other: Name of the profile after.
    """
    before, after = (
        by_place(one for one in entries(stacks) if not one.is_program) for stacks in (first, second)
    )
    places = dict.fromkeys([*before, *after])
    rows = [_row(place, before.get(place, []), after.get(place, [])) for place in places]
    rows.sort(key=lambda row: (-abs(_growth(row)), -cast(int, row[4]), str(row[0])))
    table = Table("lines", LINES, rows, title="Lines that made arrays")
    notes = [NOTE]
    if before and after and before.keys().isdisjoint(after):
        text = (
            "No line made arrays in both profiles. If they are of different versions of the "
            "program, its lines have moved and are not matched."
        )
        notes.insert(0, Note("warning", text))
    return ToolResult(
        "diff", f"{name} → {other}", tuple(_claims(table)), {"lines": table},
        notes=tuple(notes),
    )  # fmt: skip


def _row(place: Place, before: list[Entry], after: list[Entry]) -> tuple[Cell, ...]:
    n_before, n_after = _numbers(before), _numbers(after)
    new = sum(size * max(n - n_before[device, size], 0) for (device, size), n in n_after.items())
    kept = sum(size * min(n, n_before[device, size]) for (device, size), n in n_after.items())
    bytes_before, bytes_after = (sum(one.all_bytes for one in some) for some in (before, after))
    return (
        *place, bytes_after - bytes_before, bytes_before, bytes_after,
        sum(n_before.values()), sum(n_after.values()), new, kept,
    )  # fmt: skip


def _numbers(some: list[Entry]) -> defaultdict[tuple[str, int], int]:
    """How many arrays there are of each device and size."""
    found: defaultdict[tuple[str, int], int] = defaultdict(int)
    for one in some:
        found[one.device, one.each_bytes] += one.n
    return found


def _growth(row: Sequence[Cell]) -> int:
    return cast(int, row[2])


def _claims(table: Table) -> Iterator[Claim]:
    def total(name: str) -> int:
        return sum(int(value or 0) for value in table.column(name))

    before, after = total("bytes_before"), total("bytes_after")
    change = after - before
    verb = "{value} more" if change > 0 else "{less_bytes} less" if change < 0 else "as much"
    yield Claim(
        "the program", "held_memory_change", change, "bytes", basis=_BASIS,
        details={"before_bytes": before, "after_bytes": after, "less_bytes": -change},
        words=f"Arrays hold {verb}: {{before_bytes}} before, {{after_bytes}} after.",
    )  # fmt: skip
    grown = [row for row in table.rows if cast(int, row[2]) > 0]
    if grown:
        line, function, growth, _, _, n_before, n_after = max(grown, key=_growth)[:7]
        yield Claim(
            str(line), "held_memory_change", cast(int, growth), "bytes", basis=_BASIS,
            details={"line_function": str(function), "before_count": cast(int, n_before),
                     "after_count": cast(int, n_after)},
            words="What {subject} in {line_function} made grew most: by {value}, "
            "from {before_count:array} to {after_count:array}.",
        )  # fmt: skip
    if after:
        kept = total("kept_bytes")
        yield Claim(
            "the program", "kept_memory", kept, "bytes", high=float(kept), basis=_BASIS,
            words="At most {value} of what is there after was there before; arrays have no names "
            "in these profiles, so this matches lines, sizes and devices.",
        )  # fmt: skip
