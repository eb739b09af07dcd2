"""Kinds of events, and the events that a question selects."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tfprof.captures.events.steps.host_code import is_frame, is_input_op
from tfprof.captures.events.timeline.names import PRODUCE, TF_DATA_FUNCTIONS
from tfprof.captures.events.timeline.op_names import OpKind, OpName, parse_op_name
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.matching import compiled, matched
from tfprof.errors import UsageError
from tfprof.insight.whatif.launched import launched_runs
from tfprof.insight.whatif.longest import Factors
from tfprof.insight.whatif.marks import from_around, marks_of
from tfprof.insight.whatif.waits import Recorded, is_kept, is_synchronising

KINDS = (
    "input", "copies", "collectives", "device", "host ops", "waiting",
    "program and runtime", "gaps",
)  # fmt: skip
"""Kinds of parts of the critical path."""

INPUT, COPIES, COLLECTIVES, DEVICE, HOST_OPS, WAITING, RUNTIME, GAPS = range(len(KINDS))

FREE = KINDS[: COLLECTIVES + 1]
"""Words that ``free`` understands; all else is a pattern."""

_COPIES = (OpKind.COPY_H2D, OpKind.COPY_D2H, OpKind.COPY_D2D, OpKind.COPY_H2H)
_COPY = re.compile(r"(?i)memcpy|cumemcpy|eagercopytodevice|batched_?copy")
_COLLECTIVE = re.compile(
    r"(?i)(nccl|rccl|collective|all-?reduce|all-?gather|reduce-?scatter|all-?to-?all)"
)


class Work:
    """Events of a host with their names and kinds.

    Args:
        host: The host.
    """

    def __init__(self, host: Host) -> None:
        forest = host.forest()
        kept = is_kept(forest.timeline)
        timeline = forest.timeline.only(kept)
        place = np.where(kept, np.cumsum(kept) - 1, -1)
        sources, targets = place[forest.links.sources], place[forest.links.targets]
        both = (sources >= 0) & (targets >= 0)
        sources, targets = sources[both], targets[both]
        # Of several causes of an event the last one in time counts, not the last one in the file.
        starts = timeline.starts_ps
        in_time = np.lexsort((timeline.durations_ps[sources], starts[sources], starts[targets]))
        sources, targets = sources[in_time], targets[in_time]
        groups = host.groups()
        roots = np.array([root for root in groups.roots.values() if root >= 0], np.int64)
        roots = place[roots][kept[roots]]
        of_event = groups.of_event[kept].astype(np.int64)
        self.timeline = timeline
        self.recorded = Recorded(
            timeline,
            marks_of(timeline.first, timeline.starts_ps, timeline.ends_ps, _ranks(timeline)),
            sources, targets, of_event,
            roots[of_event[roots] >= 0],
            launched_runs(host, place),
        )  # fmt: skip

    @cached_property
    def op_of(self) -> tuple[Int64Array, list[OpName]]:
        """The op of each event, as a place in a list of ops; -1 for none."""
        timeline = self.timeline
        numbers: dict[OpName, int] = {}
        of_kind = np.array(
            [
                numbers.setdefault(op, len(numbers)) if op.type or is_input_op(name) else -1
                for op, name in zip(timeline.ops, timeline.names, strict=True)
            ],
            np.int64,
        )
        of_event = of_kind[timeline.kinds]
        for stat in ("tf_op", "hlo_op"):
            found = timeline.stat(stat)
            found = found.only(found.is_text())
            ops = [parse_op_name(text) for text in found.texts]
            ids = np.array([numbers.setdefault(op, len(numbers)) for op in ops], np.int64)
            unknown = of_event[found.events] < 0
            of_event[found.events[unknown]] = ids[found.values[unknown]]
        return of_event, list(numbers)

    @cached_property
    def kinds(self) -> Int64Array:
        """Kind of each event, an index into ``KINDS``, shape (n,)."""
        timeline = self.timeline
        names, ops = timeline.names, timeline.ops
        found = np.full(len(timeline), RUNTIME, np.int64)
        of_event, _ = self.op_of
        found[(of_event >= 0) & timeline.on_host] = HOST_OPS
        found[timeline.on_device] = DEVICE
        found[timeline.kind_mask([is_synchronising(name) for name in names])] = WAITING
        found[timeline.kind_mask([
            op.kind in _COPIES or _COPY.match(name) is not None
            for op, name in zip(ops, names, strict=True)
        ])] = COPIES  # fmt: skip
        found[timeline.kind_mask([_COLLECTIVE.match(op.type or op.name) is not None for op in ops])
              ] = COLLECTIVES  # fmt: skip
        found[self._input()] = INPUT
        return found

    @cached_property
    def is_op(self) -> BoolArray:
        """Which events are ops that compute, rather than callers of ops, shape (n,)."""
        of_event, _ = self.op_of
        timeline = self.timeline
        is_call = timeline.named(lambda name: is_input_op(name) or "::" in name)
        return (of_event >= 0) & ~is_call

    @cached_property
    def holds_ops(self) -> BoolArray:
        """Which events have such an op inside, shape (n,)."""
        marks = self.recorded.marks
        so_far = np.concatenate([[0], np.cumsum(self.is_op)])
        first = np.arange(len(self.timeline)) + 1
        return so_far[marks.inside] > so_far[first]

    def _input(self) -> BoolArray:
        """Events of tf.data pipelines, and the events that they cause on other threads."""
        timeline, recorded = self.timeline, self.recorded
        begins = timeline.kind_mask([
            op.kind is OpKind.DATASET or is_input_op(name) or is_input_op(op.type)
            or name in PRODUCE or name in TF_DATA_FUNCTIONS
            for op, name in zip(timeline.ops, timeline.names, strict=True)
        ])  # fmt: skip
        while True:
            covered = self.inside_of(begins)
            more = recorded.targets[covered[recorded.sources]]
            more = more[~covered[more] & timeline.on_host[more]]
            if not len(more):
                return covered
            begins[more] = True

    def inside_of(self, chosen: BoolArray) -> BoolArray:
        """Some events and all inside them, shape (n,)."""
        depth = np.zeros(len(chosen) + 1, np.int64)
        begins = np.flatnonzero(chosen)
        np.add.at(depth, begins, 1)
        np.subtract.at(depth, self.recorded.marks.inside[begins], 1)
        return np.cumsum(depth)[:-1] > 0

    def matching(self, pattern: str) -> BoolArray:
        """Which events have a name, op name or op type that fully matches a pattern, shape (n,).

        Raises:
            UsageError: It is not a regular expression, or takes too long.
        """
        wanted = compiled(pattern)
        found = self.timeline.kind_mask(matched(wanted, self.timeline.names, "fullmatch"))
        of_event, ops = self.op_of
        texts = [text for op in ops for text in (op.name, op.type)]
        is_text = matched(wanted, texts, "fullmatch") & np.array(list(map(bool, texts)), np.bool_)
        found |= np.append(is_text.reshape(-1, 2).any(axis=1), False)[of_event]
        return found

    def names(self) -> list[str]:
        """Names and types of ops, and names of all other events except Python frames."""
        ops = self.op_of[1]
        others = [name for name in self.timeline.names if name and not is_frame(name)]
        return [*dict.fromkeys([text for op in ops for text in (op.type, op.name) if text]
                               + others)]  # fmt: skip

    @cached_property
    def called(self) -> tuple[Int64Array, list[str]]:
        """Display name of each event: an index into a list of names, shape (n,)."""
        of_event, ops = self.op_of
        names: dict[str, int] = {}
        of_kind = [names.setdefault(name, len(names)) for name in self.timeline.names]
        of_op = [
            names.setdefault(f"{op.name}:{op.type}" if op.type not in ("", op.name) else op.name,
                             len(names)) for op in ops
        ]  # fmt: skip
        by_op = np.array([*of_op, 0], np.int64)[of_event]
        by_kind = np.array(of_kind, np.int64)[self.timeline.kinds]
        return np.where(of_event >= 0, by_op, by_kind), list(names)


def _ranks(timeline: Timeline) -> Int64Array:
    """The rank of each thread by its plane and its id: the order in the file decides nothing."""
    planes = timeline.space.planes
    keys = [(planes[line.plane].name, line.id, line.name) for line in timeline.lines]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys))
    return ranks


def factors_of(
    works: Sequence[Work], faster: Mapping[str, float], free: Sequence[str]
) -> list[Factors]:
    """The factor of the time of each event of each host.

    Events inside an event, and events that it causes on other threads, take its factor. Of several
    factors, the innermost event's counts, and for one event that of the last matching pattern.

    Raises:
        UsageError: A factor or a pattern is wrong, or nothing has such a name.
    """
    parts = {name: 1.0 / checked(name, factor) for name, factor in faster.items()}
    parts |= dict.fromkeys(free, 0.0)
    decided = [np.full(len(work.timeline), -1, np.int64) for work in works]
    scales = np.array([*parts.values(), 1.0])
    for place, pattern in enumerate(parts):
        masks = [
            work.kinds == FREE.index(pattern)
            if pattern in free and pattern in FREE
            else work.matching(pattern)
            for work in works
        ]
        if not any(mask.any() for mask in masks):
            raise UsageError(_unknown(pattern, works))
        for mask, one in zip(masks, decided, strict=True):
            one[mask] = place
    found = []
    for work, one in zip(works, decided, strict=True):
        deciding = _deciding(work, one)
        found.append(Factors(scales[np.where(deciding >= 0, one[deciding], -1)], deciding))
    return found


def _deciding(work: Work, values: Int64Array) -> Int64Array:
    """Each event that has a value, or the nearest around it or before it that has one, else -1.

    Threads of a pool work for the event that gave them the work. Work given away by an op belongs
    to that op, unless other ops run there: an op that ends can start the next one on another
    thread.
    """
    recorded = work.recorded
    parents = recorded.marks.parents
    given = np.where(values >= 0, np.arange(len(values)), -1)
    order = np.argsort(work.timeline.starts_ps[recorded.targets], kind="stable")
    sources, targets = recorded.sources[order], recorded.targets[order]
    is_open = (values[targets] < 0) & work.timeline.on_host[targets]
    sources, targets = sources[is_open], targets[is_open]
    has_ops = work.holds_ops[targets]
    found = from_around(parents, given)
    while True:
        decided = found[sources]
        leads = (decided >= 0) & (found[targets] < 0) & ~(has_ops & work.is_op[decided])
        if not leads.any():
            break
        # The last giver of several decides, as it is the nearest.
        given[targets[leads]] = decided[leads]
        found = from_around(parents, given)
    return found


def checked(name: str, factor: float) -> float:
    """A factor, if it is one.

    Raises:
        UsageError: It is below 1, so it makes nothing faster.
    """
    if not (isinstance(factor, (int, float)) and 1.0 <= factor < np.inf):
        raise UsageError(
            f"{name}={factor}: give how many times faster it becomes, a number from 1 on; "
            f"for no time at all, free"
        )
    return float(factor)


def _unknown(pattern: str, works: Sequence[Work]) -> str:
    if pattern in FREE:
        return (
            f"there are no {pattern} in this run that could be free: nothing was recorded of them"
        )
    names = list(dict.fromkeys(name for work in works for name in work.names()))
    close = difflib.get_close_matches(pattern, names, n=3, cutoff=0.4)
    inner = [name for name in names if pattern.lower() in name.lower()][:3]
    near = ", ".join(repr(name) for name in dict.fromkeys([*inner, *close]))
    hint = f"; near it are {near}" if near else ""
    return (
        f"nothing that ran has the name or type {pattern!r}{hint}. A pattern is a regular "
        f"expression of the whole name: '.*{pattern}.*' finds parts of names"
    )
