"""Defines which events on the threads of a host are runs of ops; no other module does.

An op ran if an event

* has the name of an op: ``scope/name:Type``, ``Iterator::…``, a copy;
* has the name ``EagerLocalExecute: Type`` and calls no function: Python ran the op by itself. If
  the op's own event is inside, that one counts instead;
* has ``hlo_op`` and is not a launch: it ran an instruction of a compiled program, which names the
  framework's op. Instructions of different programs are different ops, even with equal names;
* has ``tf_op`` and a duration, is not a launch, and is not inside a run of the same op.

Allocations and launches of kernels name their op, but are not runs of it.

A compiler may turn an op into several instructions or kernels: the op ran as often as the one of
them with the most runs. Outside of compiled programs the capture usually shows which run of the op
launched a kernel: all kernels of one run, of any number and kind, count as one run
(``launching_runs``). Ops of one name on different lines of the source are different ones; their
runs add up (``runs_of_parts``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.op_events import EAGER
from tfprof.captures.events.timeline.op_names import OpKind, OpName, parse_op_name
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys, program_title
from tfprof.captures.events.timeline.sources import place_type
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array, IntArray
from tfprof.core.columns.distinct import distinct_rows

UNKNOWN_MODULE = "XlaModule:"
"""Text in place of an op in annotations of a program's events."""

_NO_OP = -1


class ExecutedOp(NamedTuple):
    """An executed op.

    Attributes:
        kind: Its framework, or the direction of a copy.
        name: Its name without the type.
        type: ``MatMul``, ``Dataset`` …; empty if unknown.
        program: Its compiled program, ``module(id)``; empty without one.
        is_eager: Whether Python ran it by itself: then its name is its type.
        part: The instruction that ran for it; empty for the op itself.
        place: File and line of the code that created the instruction; empty if unknown.
    """

    kind: OpKind
    name: str
    type: str
    program: str = ""
    is_eager: bool = False
    part: str = ""
    place: str = ""

    @property
    def identity(self) -> tuple[str, str, bool]:
        """Key of the op: ops with the same key are one op, even if their types differ."""
        return self.name, self.program, self.is_eager


def runs_of_parts(parts: Iterable[tuple[str, int]]) -> int:
    """Number of runs of an op with several parts.

    Args:
        parts: Place of each part in the source, and its number of runs.
    """
    most: dict[str, int] = {}
    for place, runs in parts:
        most[place] = max(most.get(place, 0), runs)
    return sum(most.values())


def launching_runs(forest: Forest) -> IntArray:
    """The run of its op that launched each event of a device.

    It is the nearest event around the launch that has the op's name, or that ran an op of its type
    eagerly.

    Returns:
        Its place in the timeline, -1 if unknown, shape (n events,).
    """
    timeline, links = forest.timeline, forest.links
    narrow = place_type(len(timeline))  # whole columns are as long as a capture
    run_of = np.full(len(timeline), _NO_OP, narrow)
    tf_op = timeline.stat("tf_op")
    on_device = timeline.on_device[links.targets] & timeline.on_threads[links.sources]
    launches, launched = links.sources[on_device], links.targets[on_device]
    text = _text_of(tf_op, launched)
    launches, launched, text = (column[text >= 0] for column in (launches, launched, text))
    if not len(launched):
        return run_of
    names = {tf_op.texts[number] for number in np.unique(text).tolist()}
    eager_types = [EAGER.fullmatch(name) for name in timeline.names]
    is_run = timeline.kind_mask(
        [
            name in names or type_ is not None
            for name, type_ in zip(timeline.names, eager_types, strict=True)
        ]
    )
    is_run &= timeline.on_threads
    runs = np.where(is_run, np.arange(len(timeline), dtype=narrow), narrow(_NO_OP))
    around = forest.nesting.nearest(runs)[launches].astype(np.int64)
    launched, text, around = (column[around >= 0] for column in (launched, text, around))
    pairs = distinct_rows([timeline.kinds[around], text])
    fits = []
    for kind, number in pairs.values.tolist():
        type_ = eager_types[kind]
        op = tf_op.texts[number]
        same_type = type_ is not None and type_[1] == parse_op_name(op).type
        fits.append(timeline.names[kind] == op or same_type)
    kept = np.array(fits or [False], np.bool_)[pairs.place]
    run_of[launched[kept]] = around[kept]
    return run_of


def _text_of(stat: SparseStat, events: IntArray) -> Int64Array:
    """The number of the text of some events, -1 without one."""
    rows = stat.rows_of(events)
    has_text = rows >= 0
    has_text[has_text] = stat.is_text()[rows[has_text]]
    texts = np.full(len(events), _NO_OP, np.int64)
    texts[has_text] = stat.held[rows[has_text]]
    return texts


def count_runs(of: IntArray, launched_by: IntArray, size: int) -> tuple[Int64Array, Int64Array]:
    """Count runs by the launches of their events.

    Args:
        of: Number of the op or part of each event, below ``size``, shape (n,).
        launched_by: The run that launched each; negative if unknown, shape (n,).
        size: Number of ops or parts.

    Returns:
        For each, the number of runs that launched its events, and the number of events with an
        unknown launch, shape (size,) each.
    """
    is_known = launched_by >= 0
    pairs = distinct_rows([of[is_known], launched_by[is_known]]).values
    unknown: Int64Array = np.bincount(of[~is_known], minlength=size)
    return np.bincount(pairs[:, 0], minlength=size), unknown


@dataclass(frozen=True, eq=False)
class Executions:
    """Runs of ops, line by line in order of time.

    Attributes:
        events: The event of each, as a place in the timeline, ascending, shape (n,).
        ops: Its op: a place in ``names``, shape (n,).
        names: The ops, all distinct.
    """

    events: Int64Array
    ops: IntArray
    names: list[ExecutedOp]


OpOfInstruction = Callable[[HloKey], ExecutedOp | None]
"""The instruction of an event → its op; None if the capture lacks its program."""


def host_executions(
    timeline: Timeline, eager: BoolArray | None = None, op_of: OpOfInstruction | None = None
) -> Executions:
    """Runs of ops on the threads of a host.

    Args:
        timeline: The events.
        eager: Whether each event ran eagerly, shape (n events,); by default none did.
        op_of: Returns the framework's op of an instruction.
    """
    numbers: dict[ExecutedOp, int] = {}
    op = np.full(len(timeline), _NO_OP, np.int32)
    tf_op = timeline.stat("tf_op")
    texts = tf_op.only(tf_op.is_text() & (timeline.durations_ps[tf_op.events] > 0))
    op[texts.events] = _of_text(texts.texts, numbers)[texts.values]
    instructions = timeline.stat("hlo_op")
    compiled = instructions.events[instructions.is_text()].astype(np.int64)
    keys, place = hlo_keys(timeline, compiled)
    by_key = [_NO_OP if key is None else _of_key(key, op_of, numbers) for key in keys]
    op_of_place = np.array(by_key or [_NO_OP], np.int64)[place] if len(place) else place
    op[compiled] = np.where(op_of_place >= 0, op_of_place, op[compiled])
    op[timeline.stat("correlation_id").events] = _NO_OP
    by_name = _by_name(timeline, numbers)
    named = np.flatnonzero(timeline.kind_mask(by_name >= 0))
    op[named] = by_name[timeline.kinds[named]]
    if eager is not None:
        _add_eager(timeline, eager, op, numbers)
    op[~timeline.on_threads] = _NO_OP
    events = np.flatnonzero(op >= 0)
    kept = _once(timeline, events, op[events], list(numbers), texts.events)
    return Executions(events[kept], op[events[kept]], list(numbers))


def _number(numbers: dict[ExecutedOp, int], op: ExecutedOp) -> int:
    return numbers.setdefault(op, len(numbers))


def _of_text(
    texts: list[str], numbers: dict[ExecutedOp, int], unless: Sequence[str] = ("", UNKNOWN_MODULE)
) -> Int64Array:
    op_of_text = [
        _NO_OP if text in unless else _number(numbers, ExecutedOp(*parse_op_name(text)))
        for text in texts
    ]
    return np.array(op_of_text or [_NO_OP], np.int64)


def _by_name(timeline: Timeline, numbers: dict[ExecutedOp, int]) -> Int64Array:
    op_of_name = [
        _NO_OP if op.kind is OpKind.UNKNOWN else _number(numbers, ExecutedOp(*op))
        for op in timeline.ops
    ]
    return np.array(op_of_name, np.int64)


def _of_key(key: HloKey, op_of: OpOfInstruction | None, numbers: dict[ExecutedOp, int]) -> int:
    known = op_of(key) if op_of is not None else None
    return _number(numbers, op_of_instruction(key) if known is None else known)


def op_of_instruction(
    key: HloKey, provenance: str = "", *, category: str = "", place: str = ""
) -> ExecutedOp:
    """The op of an instruction.

    Args:
        key: The instruction.
        provenance: The framework's name of the op; if empty, the name comes from the program.
        category: Its type, if the framework has no name for it.
        place: Its place in the source.
    """
    title = program_title(key.program_id, key.module)
    if provenance:
        op = parse_op_name(provenance)
    else:
        op = OpName(OpKind.UNKNOWN, f"{title}/{key.name}" if title else key.name, category)
    return ExecutedOp(*op, title, part=key.name, place=place)


def _add_eager(
    timeline: Timeline, eager: BoolArray, op: IntArray, numbers: dict[ExecutedOp, int]
) -> None:
    """Add ops that Python ran one by one."""
    types = [EAGER.fullmatch(name) for name in timeline.names]
    events = np.flatnonzero(timeline.kind_mask([op_type is not None for op_type in types]) & eager)
    of_kind = np.full(len(types), _NO_OP, np.int64)
    for kind in np.unique(timeline.kinds[events]).tolist():
        op_type = types[kind]
        assert op_type is not None
        made = ExecutedOp(OpKind.TENSORFLOW, op_type[1], op_type[1], is_eager=True)
        of_kind[kind] = _number(numbers, made)
    op[events] = of_kind[timeline.kinds[events]]


def _once(
    timeline: Timeline,
    events: Int64Array,
    ops: IntArray,
    names: list[ExecutedOp],
    texts: Int64Array,
) -> BoolArray:
    """Whether to keep each event: not those that only repeat the run around them."""
    first = np.searchsorted(events, timeline.first)
    nesting = nest(first, timeline.starts_ps[events], timeline.ends_of(events))
    inner = np.flatnonzero(nesting.parents >= 0)
    outer = nesting.parents[inner]
    types: dict[str, int] = {}
    type_of = np.array([types.setdefault(op.type, len(types)) for op in names] or [0])
    is_eager = np.array([op.is_eager for op in names] or [False])
    kept = np.ones(len(events), np.bool_)
    holds_itself = is_eager[ops[outer]] & (type_of[ops[outer]] == type_of[ops[inner]])
    kept[outer[holds_itself & ~is_eager[ops[inner]]]] = False
    by_text = np.isin(events[inner], texts)
    kept[inner[by_text & (ops[inner] == ops[outer])]] = False
    return kept


def reference_executions(timeline: Timeline) -> Executions:
    """Runs in the reference: events with names of ops, and all events with a ``tf_op``.

    An event may be both, and count for two ops (``host_threads_op_metrics.cc``).
    """
    numbers: dict[ExecutedOp, int] = {}
    by_name = _by_name(timeline, numbers)
    tf_op = timeline.stat("tf_op")
    texts = tf_op.only(tf_op.is_text())
    of_text = _of_text(texts.texts, numbers, unless=("",))
    on_host = timeline.on_threads
    named = np.flatnonzero(on_host & timeline.kind_mask(by_name >= 0))
    more = of_text[texts.values]
    kept = (more >= 0) & on_host[texts.events]
    event = np.concatenate([named, texts.events[kept]])
    op = np.concatenate([by_name[timeline.kinds[named]], more[kept]])
    order = np.argsort(event, kind="stable")
    return Executions(event[order], op[order], list(numbers))
