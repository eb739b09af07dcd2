"""Arrays on devices by the line that made them, from ``jax.profiler.device_memory_profile``.

JAX writes such a profile for pprof: a sample for each call stack, size and device, with the number
of arrays and their bytes. A sharded array has a sample for each device, with the shard's size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, cast

import numpy as np

from tfprof.captures.facts.statistics import part
from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Cell, Table
from tfprof.core.columns.library_files import is_library_file
from tfprof.core.columns.stacks import StackFrame, Stacks
from tfprof.core.text.claims import Claim

TOOL: Final = "memory"
TITLE: Final = "Arrays on devices"

_TYPES: Final = [("allocations", "count"), ("space", "bytes")]
_KINDS: Final = {"buffer", "executable"}
_NO_STACK: Final = "(no call stack)"

LINE = text("line", "Line", "innermost line of the call stack that belongs to no library; the "
            "innermost line of all if each belongs to one")  # fmt: skip
FUNCTION = text("function", "Function", "function that holds the line")
_THROUGH = text("through", "Through", "function of a library that the line called")
_DEVICE = text("device", "Device", "the device")
_BYTES = amount("bytes", "Held", "bytes", "bytes of the arrays that the program still held")
_SHARE = amount("share", "Share", "fraction", "part of all bytes on all devices")
_ARRAYS = count("arrays", "Arrays", "how many arrays; shards of one array count on each device")

LINES = (
    LINE, FUNCTION, _BYTES, _SHARE, _ARRAYS,
    count("devices", "Devices", "on how many devices they are"),
    amount("largest_bytes", "Largest", "bytes", "size of the largest one, or of its shard"),
)  # fmt: skip
DEVICES = (_DEVICE, _BYTES, _SHARE, _ARRAYS)
ARRAYS = (
    LINE, FUNCTION, _THROUGH, _DEVICE,
    amount("each_bytes", "Each", "bytes", "size of each; of a sharded array, of its shard"),
    _ARRAYS, _BYTES,
)  # fmt: skip
PROGRAMS = (
    LINE, FUNCTION,
    count("programs", "Programs", "how many compiled programs the line has in memory"),
    amount("code_bytes", "Code", "bytes",
           "size of their code; n/a where JAX states 0, as for programs on CPUs"),
)  # fmt: skip


class Place(NamedTuple):
    """A line of the user's that made arrays.

    Attributes:
        line: ``file:line``.
        function: The function that holds it.
    """

    line: str
    function: str


class Entry(NamedTuple):
    """Arrays of one size that one line made on one device.

    Attributes:
        place: The line.
        through: The library's function that the line called; empty for none.
        device: The device; empty for compiled programs.
        each_bytes: Size of each.
        is_program: Whether these are compiled programs instead of arrays.
        n: How many there are.
        all_bytes: Bytes of all of them.
    """

    place: Place
    through: str
    device: str
    each_bytes: int
    is_program: bool
    n: int
    all_bytes: int


def is_device_memory(stacks: Stacks) -> bool:
    """Whether samples are those of a device memory profile of JAX; a difference of two is not."""
    if [tuple(one) for one in stacks.types] != _TYPES or (stacks.values < 0).any():
        return False
    kinds = stacks.labels.get("kind")
    if kinds is None:
        return not len(stacks.nodes)
    return set(kinds.texts) <= _KINDS and bool((kinds.places >= 0).all())


def entries(stacks: Stacks) -> list[Entry]:
    """The arrays and programs of a profile, those with the most bytes first.

    Args:
        stacks: Samples for which ``is_device_memory`` holds.
    """
    if not len(stacks.nodes):
        return []
    kinds, devices = stacks.labels["kind"], stacks.labels.get("device")
    distinct, owner_of = np.unique(stacks.nodes, return_inverse=True)
    owners = [
        _owner([stacks.frames[frame] for frame in path]) for path in stacks.paths(distinct.tolist())
    ]
    found: dict[tuple[Place, str, str, int, bool], tuple[int, int]] = {}
    for row, (n, n_bytes) in enumerate(stacks.values.T.tolist()):
        at = -1 if devices is None else int(devices.places[row])
        device = devices.texts[at] if devices is not None and at >= 0 else ""
        is_program = kinds.texts[int(kinds.places[row])] == "executable"
        key = (*owners[owner_of[row]], device, n_bytes // max(n, 1), is_program)
        before = found.get(key, (0, 0))
        found[key] = before[0] + n, before[1] + n_bytes
    every = [Entry(*key, *amounts) for key, amounts in found.items()]
    return sorted(every, key=lambda one: (-one.all_bytes, one))


def _owner(path: list[StackFrame]) -> tuple[Place, str]:
    """The user's innermost line of a stack, and what it calls; the outermost frame is first."""
    if not path or path == [StackFrame("?")]:
        return Place(_NO_STACK, ""), ""
    own = [at for at, frame in enumerate(path) if not is_library_file(frame.file)]
    at = own[-1] if own else len(path) - 1
    frame = path[at]
    through = path[at + 1].name if at + 1 < len(path) else ""
    return Place(f"{frame.file}:{frame.line}" if frame.file else frame.name, frame.name), through


def device_memory(stacks: Stacks) -> ToolResult:
    """Show what the arrays on devices take, by the line that made them.

    Args:
        stacks: Samples for which ``is_device_memory`` holds.
    """
    every = entries(stacks)
    arrays = [one for one in every if not one.is_program]
    programs = [one for one in every if one.is_program]
    whole = sum(one.all_bytes for one in arrays)
    tables = (
        Table("lines", LINES, _line_rows(arrays, whole), title="Lines that made arrays"),
        Table("devices", DEVICES, _device_rows(arrays, whole), title="Devices"),
        Table("arrays", ARRAYS, _array_rows(arrays), title="Arrays by size"),
        Table("programs", PROGRAMS, _program_rows(programs), title="Compiled programs"),
    )
    return ToolResult(
        TOOL, TITLE, tuple(_claims(tables[0], tables[1], whole)),
        {table.name: table for table in tables if len(table) or table.name == "lines"},
        notes=(NOTE,),
    )  # fmt: skip


NOTE: Final = Note(
    "info",
    "The profile holds the arrays that the program kept at that moment. What a running program "
    "takes for its intermediate values is not in it (tfprof memory-viewer of a capture shows the "
    "compiler's plan of that), nor is memory that the allocator keeps free, nor when an array was "
    "made: tfprof diff of two profiles shows what came in between.",
)


def by_place(arrays: Iterable[Entry]) -> dict[Place, list[Entry]]:
    """Entries of each line, the line with the most bytes first."""
    found: dict[Place, list[Entry]] = {}
    for one in arrays:
        found.setdefault(one.place, []).append(one)
    return dict(sorted(found.items(), key=lambda pair: (-_bytes(pair[1]), pair[0])))


def _bytes(some: Iterable[Entry]) -> int:
    return sum(one.all_bytes for one in some)


def _line_rows(arrays: list[Entry], whole: int) -> list[tuple[Cell, ...]]:
    return [
        (
            *place, _bytes(own), part(_bytes(own), whole), sum(one.n for one in own),
            len({one.device for one in own}), max(one.each_bytes for one in own),
        )
        for place, own in by_place(arrays).items()
    ]  # fmt: skip


def _device_rows(arrays: list[Entry], whole: int) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for device in sorted({one.device for one in arrays}):
        own = [one for one in arrays if one.device == device]
        rows.append((device, _bytes(own), part(_bytes(own), whole), sum(one.n for one in own)))
    return sorted(rows, key=lambda row: -int(row[1] or 0))


def _array_rows(arrays: list[Entry]) -> list[tuple[Cell, ...]]:
    return [
        (*one.place, one.through, one.device, one.each_bytes, one.n, one.all_bytes)
        for one in arrays
    ]


def _program_rows(programs: list[Entry]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for place, own in by_place(programs).items():
        is_stated = all(one.each_bytes for one in own)
        rows.append((*place, sum(one.n for one in own), _bytes(own) if is_stated else None))
    return rows


def _claims(lines: Table, devices: Table, whole: int) -> Iterator[Claim]:
    basis = "the arrays of the device memory profile"
    n_arrays = sum(int(n or 0) for n in lines.column("arrays"))
    yield Claim(
        "the program", "held_memory", whole, "bytes", basis=basis,
        details={"array_count": n_arrays, "device_count": len(devices)},
        words="Arrays hold {value} ({array_count:array}) on {device_count:device}."
        if n_arrays else "The profile names no array.",
    )  # fmt: skip
    if not n_arrays:
        return
    line, function, held, share = lines.rows[0][:4]
    yield Claim(
        str(line), "held_memory", cast(int, held), "bytes", basis=basis,
        details={"line_function": str(function), "held_share": cast(float, share)},
        words="{held_share} of that, {value}, was made at {subject} in {line_function}.",
    )  # fmt: skip
    if len(devices) > 1:
        device, held = devices.rows[0][:2]
        yield Claim(
            str(device), "held_memory", cast(int, held), "bytes", basis=basis,
            words="The device with the most is {subject} with {value}.",
        )  # fmt: skip
