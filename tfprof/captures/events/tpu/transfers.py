"""Transfers between TPU cores, and their collectives, step by step.

The Cloud TPU profiler showed these in its pod viewer; here they come from the instructions of a
capture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.events.tpu.categories import spent_on
from tfprof.captures.events.tpu.cores import Core
from tfprof.captures.events.tpu.steps import op_spans, rows_of, self_times
from tfprof.captures.model.replica_groups import groups_in
from tfprof.captures.rules import OURS
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.numerals import LARGEST, whole_number

_SEND, _RECEIVED = "send", "recv-done"


class Instruction(NamedTuple):
    """The content of an instruction's text.

    Attributes:
        name: ``all-reduce.9``.
        text: The whole text.
        category: Its ``hlo_category``.
        channel: Its channel, -1 without one.
        n_bytes: Size of its result; of a sent tuple, the size of the first part, the data.
    """

    name: str
    text: str
    category: str
    channel: int
    n_bytes: int

    @property
    def replica_groups(self) -> str:
        """Which replicas take part together, as written; empty if the text does not state it."""
        return groups_in(self.text)


@dataclass(frozen=True, eq=False)
class CoreTransfers:
    """Communication of a core.

    Attributes:
        core_id: Number of the core in the whole run.
        instructions: The instructions that it ran.
        which: The instruction of each run, shape (n,).
        step: The step of each; before ``in_steps``, its group.
        start_ps: Start of each, by the device's clock.
        end_ps: End of each.
        own_ps: Self time of each.
    """

    core_id: int
    instructions: Sequence[Instruction]
    which: Int64Array
    step: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array
    own_ps: Int64Array

    def in_steps(self, groups: Int64Array, core_id: int) -> CoreTransfers:
        """The runs in some groups, which become the steps, in order.

        Args:
            groups: The groups, shape (n steps,).
            core_id: Number of the core in the whole run.
        """
        row, is_in = rows_of(self.step, groups)
        return CoreTransfers(
            core_id,
            self.instructions,
            self.which[is_in],
            row[is_in],
            self.start_ps[is_in],
            self.end_ps[is_in],
            self.own_ps[is_in],
        )


class Channel(NamedTuple):
    """Transfers from one core to another in a step; times are averages, ps.

    Attributes:
        step: The step.
        channel: Number of the channel.
        source: The core that sends.
        target: The core that receives.
        n_bytes: Size of the data.
        latency_ps: From the start of sending to the end of receiving.
        send_delay_ps: Time that the receiver waited before sending began.
        occurrences: Number of transfers.
        names: The instructions.
    """

    step: int
    channel: int
    source: int
    target: int
    n_bytes: int
    latency_ps: float
    send_delay_ps: float
    occurrences: int
    names: tuple[str, ...]


class Collective(NamedTuple):
    """A collective of several cores in a step.

    Attributes:
        step: The step.
        instruction: The instruction, which all of them run.
        duration_ps: Its average duration.
        start_ps: Start on the first core.
        end_ps: End on the last core.
        occurrences: Number of runs on all cores.
    """

    step: int
    instruction: Instruction
    duration_ps: float
    start_ps: int
    end_ps: int
    occurrences: int


_CHANNEL = re.compile(r"channel_id=(\d+)")
_SHAPE = re.compile(r"\b(\w+)\[([\d,]*)\]")
_ELEMENT = re.compile(r"([a-z]+)(\d*)")


def core_transfers(timeline: Timeline, groups: Groups, core: Core) -> CoreTransfers:
    """The communication of a core in all groups.

    Args:
        timeline: The events of its host.
        groups: Their groups.
        core: The core.
    """
    spans = op_spans(timeline, core)
    group = groups.of_event[spans.events]
    stat = timeline.stat("hlo_category")
    wanted = [
        category in (_SEND, _RECEIVED) or spent_on(category, rules=OURS) is Spent.DEVICE_COLLECTIVES
        for category in stat.texts
    ]
    category = stat.texts_at(spans.events)
    chosen = np.flatnonzero((group >= 0) & np.array([*wanted, False], np.bool_)[category])
    kinds = timeline.kinds[spans.events[chosen]]
    distinct, first, which = np.unique(kinds, return_index=True, return_inverse=True)
    instructions = [
        _instruction(timeline.names[kind], timeline.display_names[kind], stat.texts[number])
        for kind, number in zip(distinct.tolist(), category[chosen[first]].tolist(), strict=True)
    ]
    return CoreTransfers(
        core.id,
        instructions,
        which.reshape(-1),
        group[chosen],
        spans.start_ps[chosen],
        spans.end_ps[chosen],
        self_times(spans)[chosen],
    )


def _instruction(text: str, shown: str, category: str) -> Instruction:
    head, _, rest = text.partition(" = ")
    channel_text = _CHANNEL.search(text)
    sizes = [_n_bytes(*match.groups()) for match in _SHAPE.finditer(_result(rest))]
    size = sum(sizes) if category != _SEND else next(iter(sizes), 0)
    name = shown or head.lstrip("%")
    return Instruction(
        name, text, category, whole_number(channel_text[1]) if channel_text else -1, size
    )


def _result(text: str) -> str:
    """The shape before the opcode; tuples and layouts contain brackets, too."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == " " and depth == 0:
            return text[:place]
    return text


def _n_bytes(element: str, dimensions: str) -> int:
    """Size of an array; 0 if its element has no size, or if it exceeds any memory."""
    element_text = _ELEMENT.search(element)
    if element_text is None:
        return 0
    n_bits = 8 if element_text[1] == "pred" else whole_number(element_text[2])
    for size in dimensions.split(","):
        n_bits = n_bits * whole_number(size, 1)
        if n_bits > LARGEST:
            return 0
    return (n_bits + 7) // 8


class _Runs(NamedTuple):
    """Runs of all cores: step, channel, core, begin, end, and which instruction, shape (n, 6)."""

    table: Int64Array
    instructions: list[Instruction]


def channels(parts: Sequence[CoreTransfers]) -> list[Channel]:
    """Channels with one sender and one receiver in a step.

    If more cores share a channel, as when all run the same program, sender and receiver of a
    transfer are unknown, and the channel is left out.
    """
    sent, received = _runs(parts, _SEND), _runs(parts, _RECEIVED)
    merged_channels = []
    theirs = _by_key(received)
    for (step, channel), sending in _by_key(sent).items():
        receiving = theirs.get((step, channel))
        if receiving is None:
            continue
        sources, targets = np.unique(sending[:, 2]), np.unique(receiving[:, 2])
        n_pairs = min(len(sending), len(receiving))
        if len(sources) != 1 or len(targets) != 1:
            continue
        begin, wait, end = sending[:n_pairs, 3], receiving[:n_pairs, 3], receiving[:n_pairs, 4]
        one = sent.instructions[int(sending[0, 5])]
        other = received.instructions[int(receiving[0, 5])]
        merged_channels.append(
            Channel(
                step, channel, int(sources[0]), int(targets[0]), one.n_bytes,
                float((end - begin).mean()), float(np.maximum(begin - wait, 0).mean()), n_pairs,
                (one.name, other.name),
            )
        )  # fmt: skip
    return merged_channels


def _runs(parts: Sequence[CoreTransfers], category: str) -> _Runs:
    tables = [np.zeros((0, 6), np.int64)]
    instructions: list[Instruction] = []
    for part in parts:
        wanted = [one.category == category and one.channel >= 0 for one in part.instructions]
        chosen = np.array([*wanted, False], np.bool_)[part.which]
        number = np.array([one.channel for one in part.instructions] or [-1], np.int64)
        which = part.which[chosen]
        core = np.full(len(which), part.core_id)
        columns = [
            part.step[chosen], number[which], core, part.start_ps[chosen], part.end_ps[chosen],
            which + len(instructions),
        ]  # fmt: skip
        tables.append(np.stack(columns, axis=1))
        instructions += part.instructions
    return _Runs(np.concatenate(tables), instructions)


def _by_key(runs: _Runs) -> dict[tuple[int, int], Int64Array]:
    """Runs by step and channel, each in order of time."""
    table = runs.table
    table = table[np.lexsort((table[:, 3], table[:, 1], table[:, 0]))]
    is_new = (np.diff(table[:, :2], axis=0) != 0).any(axis=1)
    pieces = np.split(table, np.flatnonzero(is_new) + 1)
    return {(int(piece[0, 0]), int(piece[0, 1])): piece for piece in pieces if len(piece)}


def collectives(parts: Sequence[CoreTransfers]) -> list[Collective]:
    """Collectives of the cores, by step, in order of time."""
    known: dict[tuple[int, str], list[tuple[Instruction, float, int, int, int]]] = {}
    for part in parts:
        n_kinds = len(part.instructions)
        key = part.step * n_kinds + part.which
        distinct, place, count = np.unique(key, return_inverse=True, return_counts=True)
        own = np.zeros(len(distinct), np.int64)
        begin = np.full(len(distinct), np.iinfo(np.int64).max)
        end = np.zeros(len(distinct), np.int64)
        np.add.at(own, place, part.own_ps)
        np.minimum.at(begin, place, part.start_ps)
        np.maximum.at(end, place, part.end_ps)
        for row, number in enumerate(distinct.tolist()):
            one = part.instructions[number % n_kinds]
            if one.category in (_SEND, _RECEIVED):
                continue
            entry = (one, float(own[row]), int(begin[row]), int(end[row]), int(count[row]))
            known.setdefault((number // n_kinds, one.name), []).append(entry)
    merged_collectives = [
        Collective(
            step, entries[0][0], sum(e[1] for e in entries) / sum(e[4] for e in entries),
            min(e[2] for e in entries), max(e[3] for e in entries), sum(e[4] for e in entries),
        )
        for (step, _), entries in known.items()
    ]  # fmt: skip
    return sorted(
        merged_collectives, key=lambda one: (one.step, one.start_ps, one.instruction.name)
    )
