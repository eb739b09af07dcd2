"""Run metadata as pprof profiles, one for each device.

The default is complete: every node that ran is there, with the whole Python stack that made it.
Classic mode gives what TensorFlow's ``pprof_profiler.py`` did: only calls outside of
``apply_op``, which graphs of TensorFlow 2 do not have; the caller's line paired with the
callee's function; units that say nanoseconds for microseconds.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tfprof.core.columns.frames import EMPTY_STACK, Frame
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire import messages as pb
from tfprof.profiles.model.profile import Profile, label_op

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
            if function not in self.functions:
                texts = self.strings.intern(name), self.strings.intern(function[0])
                self.functions[function] = (len(self.functions) + 1, *texts)
            known = self.locations[key] = (len(self.locations) + 1, self.functions[function][0])
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


NO_CALL_STACK = "(no call stack)"
"""Function of ops that no Python line made, such as ``_Send`` and ``_Recv``."""

_NOT_OPS = ("_SOURCE", "_SINK")
_APPLY_OP = "apply_op"
_VALUES = ("count", "all_time", "op_time")


def device_profiles(
    run: pb.RunMetadata, profile: Profile, *, classic: bool
) -> dict[str, pb.Profile]:
    """One profile for each device of a run that has something to show.

    A sample is a node. Its values are the number of executions, the whole time, and the time in
    the kernel alone, in microseconds.

    Args:
        run: The run.
        profile: Op types and call stacks by node name.
        classic: As TensorFlow does it.

    Returns:
        Profiles by device name, in the order of the run.
    """
    devices = _devices_of(run, classic)
    tables = PprofTables()
    profiles = {}
    for number, (device, stats) in enumerate(devices, start=1):
        if not classic:
            tables = PprofTables()
        made = pb.Profile()
        _Writer(profile, tables, device, classic).write(stats, made)
        if not made.sample:
            continue
        made.comment.append(len(made.string_table))
        made.string_table.append(f"Device {number} of {len(devices)}: {device}")
        profiles[device] = made
    return profiles


def file_names(devices: Iterable[str], timestamp: str) -> list[str]:
    """A file name for each device: ``job_localhost_…_CPU_0_20240131120000.pb.gz``.

    Characters that a file system may refuse become underscores; names stay distinct.

    Args:
        devices: Device names.
        timestamp: ``YYYYmmddHHMMSS``.
    """
    return [f"{stem}_{timestamp}.pb.gz" for stem in file_stems(devices)]


def file_stems(devices: Iterable[str]) -> list[str]:
    """A distinct part of a file name for each device: ``job_localhost_…_CPU_0``."""
    stems: list[str] = []
    for device in devices:
        name = stem = re.sub(r"[^\w.=-]", "_", device.strip("/"))
        copy = 1
        while stem in stems:
            copy += 1
            stem = f"{name}_{copy}"
        stems.append(stem)
    return stems


def encode(profile: pb.Profile) -> bytes:
    """The content of a ``.pb.gz`` file; equal profiles give equal bytes."""
    return gzip.compress(profile.SerializeToString(deterministic=True), compresslevel=6, mtime=0)


def _devices_of(run: pb.RunMetadata, classic: bool) -> list[tuple[str, list[pb.NodeExecStats]]]:
    """Devices with their stats; blocks of the same device are one, unless classic."""
    blocks = [(block.device, list(block.node_stats)) for block in run.step_stats.dev_stats]
    if classic:
        return blocks
    together: dict[str, list[pb.NodeExecStats]] = {}
    for device, stats in blocks:
        together.setdefault(device, []).extend(stats)
    return list(together.items())


class _Writer:
    def __init__(self, profile: Profile, tables: PprofTables, device: str, classic: bool) -> None:
        self._profile = profile
        self._tables = tables
        self._device = device
        self._classic = classic
        self._locations: dict[int, list[int]] = {}

    def write(self, stats: Iterable[pb.NodeExecStats], made: pb.Profile) -> None:
        """Fill an empty profile; one without samples is not usable."""
        samples: dict[str, pb.Sample] = {}
        for stat in stats:
            name = stat.node_name
            if name in _NOT_OPS:
                continue
            sample = samples.get(name)
            if sample is None:
                locations = self._locations_of(self._row(name))
                if locations is None:
                    continue
                sample = samples[name] = made.sample.add(location_id=locations, value=[0, 0, 0])
                self._add_labels(sample, stat)
            elif self._classic:
                sample.location_id.extend(self._locations_of(self._row(name)) or ())
            sample.value[0] += 1
            sample.value[1] += stat.all_end_rel_micros
            sample.value[2] += stat.op_end_rel_micros - stat.op_start_rel_micros
        self._add_types(made)  # after the samples, as in the original: strings are numbered alike
        self._tables.write(made)

    def _add_types(self, made: pb.Profile) -> None:
        intern = self._tables.strings.intern
        unit = "nanoseconds" if self._classic else "microseconds"
        for name in _VALUES:
            made.sample_type.add(
                type=intern(name), unit=intern("count" if name == "count" else unit)
            )
        if not self._classic:
            made.default_sample_type = intern("all_time")

    def _row(self, node_name: str) -> int:
        """Op row of a stat; the name of a GPU kernel may be ``op:Type``."""
        ops = self._profile.ops
        row = ops.row(node_name)
        if row < 0 and not self._classic:
            row = ops.row(node_name.partition(":")[0])
        return row

    def _add_labels(self, sample: pb.Sample, stat: pb.NodeExecStats) -> None:
        labels = [("node_name", stat.node_name), ("op_type", self._op_type(stat))]
        if not self._classic:
            labels.append(("device", self._device))
        intern = self._tables.strings.intern
        for key, text in labels:
            if text or self._classic:
                sample.label.add(key=intern(key), str=intern(text))

    def _op_type(self, stat: pb.NodeExecStats) -> str:
        """Type by the graph, else by the timeline label; empty if neither says."""
        ops = self._profile.ops
        row = self._row(stat.node_name)
        if row >= 0:
            return ops.strings[int(ops.op_ids.array[row])]
        return "" if self._classic else label_op(stat.timeline_label) or ""

    def _locations_of(self, row: int) -> list[int] | None:
        """Locations from the innermost outward; None leaves the node out."""
        stack = int(self._profile.ops.stack_ids.array[row]) if row >= 0 else EMPTY_STACK
        if stack <= EMPTY_STACK:
            return None if self._classic else [self._tables.named(NO_CALL_STACK)]
        locations = self._locations.get(stack)
        if locations is None:
            stacks = self._profile.stacks
            frames = [stacks.frames[frame] for frame in reversed(stacks.frame_ids(stack))]
            calls = self._calls if self._classic else self._lines
            locations = self._locations[stack] = list(calls(frames))
        return locations

    def _lines(self, frames: Sequence[Frame]) -> Iterator[int]:
        """Each function at the line it stood at; frames are innermost first."""
        return (self._tables.call(frame, frame, frame.function) for frame in frames)

    def _calls(self, frames: Sequence[Frame]) -> Iterator[int]:
        """Each call outside of ``apply_op``: the callee, at the caller's line."""
        outside = False
        for callee, caller in pairwise(frames):
            if outside:
                yield self._tables.location(
                    (caller.file, callee.function, unsigned(caller.line_number)),
                    (callee.file, callee.function, unsigned(-1)),
                    callee.function,
                )
            outside = outside or callee.function == _APPLY_OP
