"""The tables that every pprof profile has: strings, functions and locations."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfprof.core.columns.frames import Frame
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire import messages as pb

Key = tuple[str, str, int]
"""File, function and line number as unsigned 64 bits, of which an unknown one is -1."""


@dataclass(slots=True)
class PprofTables:
    """Functions and locations of a profile, numbered from 1 by first use."""

    strings: StringTable = field(default_factory=lambda: StringTable([""]))
    functions: dict[Key, tuple[int, int, int]] = field(default_factory=dict)
    locations: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def location(self, key: Key, function: Key, name: str) -> int:
        """Id of the location of a key; its function is added under a name if new."""
        known = self.locations.get(key)
        if known is None:
            function_id = self._function(function, name)
            known = self.locations[key] = (len(self.locations) + 1, function_id)
        return known[0]

    def call(self, caller: Frame, callee: Frame, function: str) -> int:
        """Id of the location of a function of the callee's file, at the caller's line."""
        return self.location(
            (caller.file, function, unsigned(caller.line_number)),
            (callee.file, function, unsigned(callee.function_start_line)),
            module_function(callee.file, function),
        )

    def named(self, name: str) -> int:
        """Id of a location without a line."""
        key = ("", name, 0)
        return self.location(key, key, name)

    def _function(self, key: Key, name: str) -> int:
        known = self.functions.get(key)
        if known is None:
            texts = self.strings.intern(name), self.strings.intern(key[0])
            known = self.functions[key] = (len(self.functions) + 1, *texts)
        return known[0]

    def write(self, profile: pb.Profile) -> None:
        """Add all tables, in the order of their keys."""
        for (_, _, line), (number, function_id) in sorted(self.locations.items()):
            profile.location.add(id=number).line.add(function_id=function_id, line=_signed(line))
        for (_, _, start), (number, name, path) in sorted(self.functions.items()):
            profile.function.add(id=number, name=name, filename=path, start_line=_signed(start))
        profile.string_table.extend(self.strings.values)


def module_function(path: str, function: str) -> str:
    """``net:dense``: the file name without its last extension, and the function.

    ``.hidden`` becomes empty, as in the original.
    """
    name = path.rpartition("/")[2]
    module = name.rpartition(".")[0] if "." in name else name
    return f"{module}:{function}"


def unsigned(number: int) -> int:
    """A 64-bit number without its sign, as the original sorts it."""
    return number % (1 << 64)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number
