"""The default timeline of the graph view: all executions, to the nanosecond.

Each device is a process. Its threads are lanes: executions that overlap stand in several. Times
count from the first start in the file, because viewers keep them as floating point numbers, in
which the nanoseconds of today's date have no room; ``otherData`` says when that was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.trace_json import (
    blocks,
    html_safe,
    lines_of,
    metadata_event,
    process_events,
    thread_event,
    whole_trace,
)
from tfprof.core.version import __version__
from tfprof.profiles.model.executions import ACCELERATOR, HOST, MEMORY_FIELDS, NO_OP
from tfprof.profiles.model.ops import OpTable
from tfprof.views.result import ViewTree
from tfprof.views.spans import differs_from_last, expand_spans
from tfprof.views.write.view_timeline.drawn import (
    Drawn,
    Level,
    Thread,
    device_levels,
    draw,
    first_fit_lanes,
)

MOST_ARROWS_INTO: Final = 8
"""Arrows that lead to one execution: those from the inputs that it had to wait for longest."""


class LastRuns:
    """Finds the last scheduling of an op before another execution began, in the same step."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn
        self._n_steps = len(drawn.spans)
        order = np.argsort(drawn.starts, kind="stable")
        self._rank = np.empty(len(order), np.int64)
        self._rank[order] = np.arange(len(order))
        scheduled = np.flatnonzero((drawn.kinds == HOST) & (drawn.rows >= 0))
        keys = self._keys(drawn.rows[scheduled], scheduled)
        by_key = np.argsort(keys)
        self._sorted = keys[by_key]
        self._scheduled = scheduled[by_key]

    def _keys(self, rows: Int64Array, executions: Int64Array) -> Int64Array:
        """Sortable by op, step and start."""
        groups = rows.astype(np.int64) * self._n_steps + self._drawn.steps[executions]
        keys: Int64Array = groups * len(self._rank) + self._rank[executions]
        return keys

    def before(self, rows: Int64Array, executions: Int64Array) -> Int64Array:
        """For each op, its last execution that began before the given one, or -1."""
        if not len(self._sorted):
            return np.full(len(rows), -1, np.int64)
        keys = self._keys(rows, executions)
        at = np.searchsorted(self._sorted, keys) - 1
        size = len(self._rank)
        same = (at >= 0) & (self._sorted[at] // size == keys // size)
        return np.where(same, self._scheduled[at], -1)


def dataflow(drawn: Drawn, ops: OpTable, last: LastRuns) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Arrows from the inputs of scheduled ops, if these ran in another thread.

    Yields:
        Places in ``drawn`` that arrows leave, and those that they lead to.
    """
    offsets, producers = ops.input_offsets(), ops.input_rows()
    scheduled = np.flatnonzero((drawn.kinds == HOST) & (drawn.rows >= 0))
    for block in blocks(len(scheduled)):
        target = scheduled[block]
        edges, which = expand_spans(offsets, drawn.rows[target])
        rows, target = producers[edges], target[which]
        known = rows >= 0
        target = target[known]
        yield _most_awaited(drawn, last.before(rows[known], target), target)


def launches(drawn: Drawn, last: LastRuns) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Arrows from the scheduling of an op to its kernels; yields what ``dataflow`` does."""
    kernels = np.flatnonzero((drawn.kinds == ACCELERATOR) & (drawn.rows >= 0))
    for block in blocks(len(kernels)):
        target = kernels[block]
        yield _most_awaited(drawn, last.before(drawn.rows[target], target), target)


def _most_awaited(
    drawn: Drawn, source: Int64Array, target: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Distinct arrows from other threads; of too many into a target, those that end last."""
    kept = (source >= 0) & (drawn.threads[source] != drawn.threads[target])
    source, target = source[kept], target[kept]
    order = np.lexsort((source, -drawn.ends[source], target))
    source, target = source[order], target[order]
    fresh = differs_from_last(source, target)
    source, target = source[fresh], target[fresh]
    first = np.searchsorted(target, target, side="left")
    kept = np.arange(len(target)) - first < MOST_ARROWS_INTO
    return source[kept], target[kept]


_STEPS_PID: Final = 1
_MEMORY_ARGS: Final = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")
_DECIMALS: Final = ["", *(f".{nanos:03d}".rstrip("0") for nanos in range(1, 1000))]
"""Nanoseconds as decimals of a microsecond."""


@dataclass(frozen=True, slots=True)
class LosslessTimeline:
    """The content of a file.

    Attributes:
        tree: The view.
        steps: The steps in it.
        drawn: The executions.
        origin: Time 0 of the file in ns; a whole microsecond.
    """

    tree: ViewTree
    steps: Sequence[int]
    drawn: Drawn
    origin: int

    @classmethod
    def of_steps(cls, tree: ViewTree, steps: Sequence[int]) -> LosslessTimeline:
        """The timeline of some steps, with the ops that the view shows."""
        drawn = draw(tree, steps)
        begun = [start for start in drawn.spans[:, 0].tolist() if start > 0]
        return cls(tree, steps, drawn, min(begun, default=0) // 1000 * 1000)

    def chunks(self) -> Iterator[bytes]:
        """The file."""
        about = {"steps": ",".join(map(str, self.steps)), "time_origin_nanos": str(self.origin)}
        return lossless_chunks(self._batches(), self.tree.kind, about)

    def _batches(self) -> Iterator[list[str]]:
        processes = dict.fromkeys(thread.track.process for thread in self.drawn.thread_table)
        pids = {name: pid for pid, name in enumerate(processes, _STEPS_PID + 1)}
        places = [
            f'"pid":{pids[thread.track.process]},"tid":{tid},"ts":'
            for tid, thread in enumerate(self.drawn.thread_table, 1)
        ]
        yield from self._step_markers()
        yield from self._threads(pids)
        yield from self._regions(places)
        number, last = 1, LastRuns(self.drawn)
        for name, arrows in (
            ("data", dataflow(self.drawn, self.tree.profile.ops, last)),
            ("launch", launches(self.drawn, last)),
        ):
            for sources, targets in arrows:
                yield self._flows(name, number, sources, targets, places)
                number += len(sources)
        for level in device_levels(self.tree, self.steps):
            if level.process in pids:
                yield from self._counter(level, pids[level.process])

    def _step_markers(self) -> Iterator[list[str]]:
        """A process with a slice for each step that has times."""
        spans = self.drawn.spans - self.origin
        timed = np.flatnonzero(self.drawn.spans[:, 0] > 0)
        if not len(timed):
            return
        order = timed[np.argsort(spans[timed, 0], kind="stable")]
        starts, ends = spans[order, 0], spans[order, 1]
        lanes = first_fit_lanes(starts, ends).tolist()
        # Numbers after those of the devices' threads.
        first = len(self.drawn.thread_table) + 1
        yield process_events(_STEPS_PID, "steps")
        yield [_thread(_STEPS_PID, first + lane, "steps") for lane in range(max(lanes) + 1)]
        yield [
            f'{{"ph":"X","name":"step {self.steps[step]}","cat":"step","pid":{_STEPS_PID},'
            f'"tid":{first + lane},"ts":{_micros(start)},"dur":{_micros(end - start)},'
            f'"args":{{"step":{self.steps[step]}}}}}'
            for step, lane, start, end in zip(
                order.tolist(), lanes, starts.tolist(), ends.tolist(), strict=True
            )
        ]

    def _threads(self, pids: dict[str, int]) -> Iterator[list[str]]:
        """Names of the processes and threads."""
        for name, pid in pids.items():
            yield process_events(pid, name)
        yield [
            _thread(pids[thread.track.process], tid, _thread_name(thread))
            for tid, thread in enumerate(self.drawn.thread_table, 1)
        ]

    def _regions(self, places: Sequence[str]) -> Iterator[list[str]]:
        """What ran; ``places`` has process and thread of an event, by place in the table."""
        drawn = self.drawn
        names = _Names(self.tree, drawn)
        types = names.types
        steps = [f'"step":{step}' for step in self.steps]
        memory = [drawn.memory[MEMORY_FIELDS.index(name)] for name in _MEMORY_ARGS]
        columns = (drawn.rows, drawn.name_ids, drawn.threads, drawn.steps)
        for block in blocks(len(drawn)):
            rows, name_ids, threads, numbers = (column[block].tolist() for column in columns)
            heads = [
                names.of_op[row] if row >= 0 else names.without_op[name_id]
                for row, name_id in zip(rows, name_ids, strict=True)
            ]
            starts = drawn.starts[block]
            times = _quotients(starts - self.origin) + _quotients(drawn.ends[block] - starts)
            used = _memory_texts(drawn.uses[block], memory)
            yield [
                f"{head}{places[thread]}{start}{_DECIMALS[start_rest]},"
                f'"dur":{duration}{_DECIMALS[duration_rest]},"args":{{{types[row]}'
                f"{steps[number]}{memory_text}}}}}"
                for head, row, thread, number, memory_text, start, start_rest, duration,
                duration_rest in zip(
                    heads, rows, threads, numbers, used, *times, strict=True
                )
            ]  # fmt: skip

    def _flows(
        self,
        name: str,
        first: int,
        sources: Int64Array,
        targets: Int64Array,
        places: Sequence[str],
    ) -> list[str]:
        """Arrows; each leaves in the last nanosecond of a region, as its end is outside."""
        drawn = self.drawn
        leave = _quotients(drawn.ends[sources] - self.origin - 1)
        arrive = _quotients(drawn.starts[targets] - self.origin)
        threads = (drawn.threads[sources].tolist(), drawn.threads[targets].tolist())
        return [
            f'{{"ph":"s","name":"{name}","cat":"{name}","id":{number},'
            f"{places[source]}{start}{_DECIMALS[start_rest]}}},\n"
            f'{{"ph":"f","bp":"e","name":"{name}","cat":"{name}","id":{number},'
            f"{places[target]}{end}{_DECIMALS[end_rest]}}}"
            for number, (source, target, start, start_rest, end, end_rest) in enumerate(
                zip(*threads, *leave, *arrive, strict=True), first
            )
        ]

    def _counter(self, level: Level, pid: int) -> Iterator[list[str]]:
        """Bytes in use of one allocator, and a mark where they are most."""
        (name,) = html_safe([level.allocator])
        head = f'"name":"{name}","cat":"memory","pid":{pid},"ts":'
        all_nanos = np.maximum(level.nanos - self.origin, 0)
        for block in blocks(len(all_nanos)):
            nanos, values = all_nanos[block], level.bytes_in_use[block].tolist()
            yield [
                f'{{"ph":"C",{head}{micros}{_DECIMALS[rest]},"args":{{"bytes in use":{value}}}}}'
                for micros, rest, value in zip(*_quotients(nanos), values, strict=True)
            ]
        ops = self.tree.profile.ops
        keys = html_safe([ops.name(row) for row, _ in level.holders])
        sizes = (size for _, size in level.holders)
        held = ",".join(f'"{key}":{size}' for key, size in zip(keys, sizes, strict=True))
        most = int(level.bytes_in_use[level.peak])
        tids = enumerate(self.drawn.thread_table, 1)
        tid = next(tid for tid, thread in tids if thread.track.process == level.process)
        yield [
            f'{{"ph":"i","s":"p","name":"peak of {name}","cat":"memory","pid":{pid},"tid":{tid},'
            f'"ts":{_micros(int(all_nanos[level.peak]))},'
            f'"args":{{"bytes in use":{most},"held by ops":{{{held}}}}}}}'
        ]


class _Names:
    """Names and op types as members of events, by the op row and name id of executions."""

    def __init__(self, tree: ViewTree, drawn: Drawn) -> None:
        ops, strings = tree.profile.ops, tree.profile.steps.strings
        rows = np.unique(drawn.rows[drawn.rows >= 0])
        name_ids = np.unique(drawn.name_ids[drawn.name_ids >= 0]).tolist()
        names = html_safe([ops.name(row) for row in rows.tolist()])
        types = html_safe(tree.facts.strings)
        type_ids = tree.facts.type_ids[rows].tolist()
        self.of_op = {
            row: f'{{"ph":"X","name":"{name}","cat":"op",'
            for row, name in zip(rows.tolist(), names, strict=True)
        }
        self.without_op = {
            name_id: f'{{"ph":"X","name":"{name}","cat":"other",'
            for name_id, name in zip(
                name_ids, html_safe([strings[name_id] for name_id in name_ids]), strict=True
            )
        }
        self.types = {NO_OP: ""} | {
            row: f'"op":"{types[type_id]}",'
            for row, type_id in zip(rows.tolist(), type_ids, strict=True)
        }


def lossless_chunks(
    batches: Iterator[list[str]], view: str, about: dict[str, Any]
) -> Iterator[bytes]:
    """A trace, one event a line; tool, view and steps are named at its end."""
    about = {"tool": f"tfprof {__version__}", "view": view, **about}
    other = json.dumps(about, separators=(",", ":"))
    tail = f'\n],"displayTimeUnit":"ns","otherData":{other}}}\n'
    return whole_trace(map(lines_of, batches), b'{"traceEvents":[\n', tail.encode())


def _memory_texts(uses: Int64Array, memory: Sequence[Int64Array]) -> list[str]:
    """Memory of executions as further arguments, empty for those that used none."""
    texts = [""] * len(uses)
    places = np.flatnonzero(uses >= 0)
    values = np.stack([row[uses[places]] for row in memory])
    some = values.any(axis=0)
    columns = (column.tolist() for column in values[:, some])
    for place, requested, peak, residual, output in zip(
        places[some].tolist(), *columns, strict=True
    ):
        texts[place] = (
            f',"requested_bytes":{requested},"peak_bytes":{peak},'
            f'"residual_bytes":{residual},"output_bytes":{output}'
        )
    return texts


def _quotients(nanos: Int64Array) -> tuple[list[int], list[int]]:
    """Whole microseconds, and nanoseconds beyond."""
    whole, rest = np.divmod(nanos, 1000)
    return whole.tolist(), rest.tolist()


def _micros(nanos: int) -> str:
    """Nanoseconds as microseconds, exactly."""
    whole, rest = divmod(nanos, 1000)
    return f"{whole}{_DECIMALS[rest]}"


def _thread(pid: int, tid: int, name: str) -> str:
    order = metadata_event("thread_sort_index", f'"pid":{pid},"tid":{tid}', f'"sort_index":{tid}')
    return f"{thread_event(pid, tid, name)},\n{order}"


def _thread_name(thread: Thread) -> str:
    return thread.track.thread + (f" ({thread.lane + 1})" if thread.lane else "")
