"""Memory counters of the original's graph timeline, by ``tfprof_timeline.cc``."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.model.executions import MEMORY_FIELDS
from tfprof.views.result import ViewTree
from tfprof.views.write.trace_json import EVENTS_PER_CHUNK, escaped

_PLOT_EVERY_MICROS = 100
_MOST_LISTED = 10
_TIME = MEMORY_FIELDS.index("memory_micros")
_PERSISTENT = MEMORY_FIELDS.index("accelerator_persistent_bytes")
_IN_USE = MEMORY_FIELDS.index("allocator_bytes_in_use")

Curve = list[tuple[int, int]]
"""Times and the bytes from then on, ascending; the first time is 0 or before."""


@dataclass(frozen=True, slots=True)
class MemoryPlot:
    """What is plotted for one device.

    Attributes:
        device: Name of the device, as JSON text.
        samples: Times and bytes in use, every ``_PLOT_EVERY_MICROS`` at most.
        curves: What each op holds, by its name.
        note: What the original prints about the device.
    """

    device: str
    samples: list[tuple[int, int]]
    curves: dict[str, Curve]
    note: str

    def counters(self, pid: int) -> Iterator[list[str]]:
        """Two counters for each sample, in ``pid`` and the process behind it."""
        held = _HeldBytes(self.curves)
        events = []
        for micros, in_use in self.samples:
            held.advance(micros)
            events.append(
                f'{{"args":{{"Allocator Bytes in Use":{in_use}}},"cat":"Memory",'
                f'"name":"Allocated Bytes","ph":"C","pid":{pid},"tid":0,"ts":{micros}}}'
            )
            listed, rest = held.top(in_use)
            args = ",".join(f'"{key}":"{value}"' for key, value in sorted(listed.items()))
            events.append(
                f'{{"args":{{"Not Displayed":"{rest / 1e6:.2f} MB",{args}}},"cat":"Memory",'
                f'"name":"Top Allocations","ph":"C","pid":{pid + 1},"tid":0,"ts":{micros}}}'
            )
            if len(events) >= EVENTS_PER_CHUNK:
                yield events
                events = []
        yield events


class _HeldBytes:
    """What each op holds while time goes on."""

    def __init__(self, curves: dict[str, Curve]) -> None:
        names = sorted(curves)
        self._names = escaped(names)
        self._values = [curves[name][0][1] for name in names]
        self._listed = sorted((-value, op) for op, value in enumerate(self._values))
        self._changes = sorted(
            (micros, op, place, value)
            for op, name in enumerate(names)
            for place, (micros, value) in enumerate(curves[name])
            if place
        )
        self._next = 0

    def advance(self, micros: int) -> None:
        """Take in all that changed before a time."""
        while self._next < len(self._changes) and self._changes[self._next][0] < micros:
            _, op, _, value = self._changes[self._next]
            self._next += 1
            del self._listed[bisect_left(self._listed, (-self._values[op], op))]
            insort(self._listed, (-value, op))
            self._values[op] = value

    def top(self, in_use: int) -> tuple[dict[str, str], int]:
        """The largest holders as arguments of an event, and the bytes of all others."""
        listed = {f"Top Allocation {place:02d}": "N/A" for place in range(1, _MOST_LISTED)}
        count = 0
        for negative, op in self._listed:
            value = -negative
            if value <= 0 or count == _MOST_LISTED:
                break
            if value <= in_use:
                text = f"{value / 1e6:g} MB from {self._names[op]}"
                listed[f"Top Allocation {count:02d}"] = text
                in_use -= value
                count += 1
        return listed, in_use


def plot_memory(tree: ViewTree, step: int, walked: Int64Array) -> list[MemoryPlot]:
    """The plots of all devices but CPUs, in byte order of their names.

    Args:
        tree: The graph view.
        step: The step.
        walked: Rows of the ops that are drawn, in the order of the display.
    """
    facts, ops = tree.facts, tree.profile.ops
    rows_of_device: dict[str, list[int]] = {}
    for row in walked.tolist():
        rows_of_device.setdefault(facts.device(row), []).append(row)
    persistent = _persistent_bytes(tree)
    plots = []
    for device, rows in sorted(rows_of_device.items()):
        if "cpu" in device:
            continue
        samples, most = _samples(tree, step, rows)
        curves = _curves(tree, step, rows, persistent)
        note = f"{device} peak memory: {most / 1e6:.2f} MB\n" if "gpu" in device else ""
        (text,) = escaped([device])
        named = {ops.name(row): curve for row, curve in curves.items()}
        plots.append(MemoryPlot(text, samples, named, note))
    return plots


def _samples(tree: ViewTree, step: int, rows: list[int]) -> tuple[list[tuple[int, int]], int]:
    """What to plot, and the most that was in use."""
    memory = tree.profile.steps.details[step].memory
    rank = {row: place for place, row in enumerate(rows)}
    uses = [(rank[row], place) for place, row in enumerate(memory.rows.tolist()) if row in rank]
    at_time: dict[int, int] = {}
    for _, use in sorted(uses):  # of several samples at one time, the last counts
        micros = int(memory.values[_TIME, use])
        if micros > 0:
            at_time[micros] = int(memory.values[_IN_USE, use])
    plotted = []
    last = 0
    for micros, in_use in sorted(at_time.items()):
        if micros - last >= _PLOT_EVERY_MICROS:
            last = micros
            plotted.append((micros, in_use))
    return plotted, max([0, *at_time.values()])


def _curves(tree: ViewTree, step: int, rows: list[int], persistent: Int64Array) -> dict[int, Curve]:
    """What each op holds over time: its allocations, on top of what stays for all steps."""
    steps = tree.profile.steps
    changes = {row: {0: size} for row, size in zip(rows, persistent[rows].tolist(), strict=True)}
    made = steps.details[step].allocations
    on_gpu = np.array(["GPU" in name for name in steps.strings.values], np.bool_)
    counted = on_gpu[made.allocator_ids]
    columns = (made.rows, made.micros, made.sizes)
    for row, micros, size in zip(*(column[counted].tolist() for column in columns), strict=True):
        if row in changes:
            changes[row][micros] = changes[row].get(micros, 0) + size
    return {row: _accumulated(at_time) for row, at_time in changes.items()}


def _accumulated(changes: dict[int, int]) -> Curve:
    total = 0
    curve = []
    for micros, size in sorted(changes.items()):
        total += size
        curve.append((micros, total))
    return curve


def _persistent_bytes(tree: ViewTree) -> Int64Array:
    """What each op kept on an accelerator, shape (n ops,): its sum in the step with the most."""
    most = np.zeros(len(tree.profile.ops), np.int64)
    for detail in tree.profile.steps.details.values():
        sums = np.zeros_like(most)
        np.add.at(sums, detail.memory.rows, detail.memory.values[_PERSISTENT])
        np.maximum(most, sums, out=most)
    return most
