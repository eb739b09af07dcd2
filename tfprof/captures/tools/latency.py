"""How long requests, annotated blocks and calls take, by percentile, and where the time goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.program_spans import ANNOTATION, CALL, SERVED
from tfprof.captures.facts.latencies import REQUEST, Latencies, latencies
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.result import Chart, Note, ToolResult, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.claims import Claim, Details, scoped, unknown
from tfprof.errors import UsageError

_PS_PER_MS = 1e9
_PERCENTILES = (50, 90, 99)
_ORDER = (REQUEST, SERVED, ANNOTATION, CALL)
"""What is shown first."""
_N_SLOWEST = 10
"""So many of each kind are in the table of the slowest."""

_WHAT = text(
    "what", "What",
    "request: the spans with one request's number; served: a request in the events of TensorFlow's "
    "server; annotation: a block that the program named; call: of a compiled function or session",
)  # fmt: skip
_LABEL = text(
    "span",
    "Span",
    "its name, for --request: the program's own, or the kind and a number in order of time",
    links=("latency",),
)
_EVENT = text("event", "Event", "its first event on the timeline", links=("trace",))


def _parts(of_each: str) -> tuple[Column, ...]:
    return (
        amount("queue_ms", "In a batch's queue", "ms", f"time{of_each} from joining a batch until "
               "the batch began; empty if the capture has no batch"),
        amount("waiting_ms", "Waiting", "ms", f"time{of_each} in events that only wait, as for "
               "input, and after the end of the block until a device worked on it; none of its "
               "work ran meanwhile"),
        amount("host_ms", "Host", "ms", f"the rest{of_each}: Python, the runtime, and waits that "
               "no event shows"),
        amount("device_ms", "Device", "ms", f"time{of_each} in which its own work ran on a "
               "device, or without devices its ops on any thread; empty if unknown"),
        amount("between_ms", "Between parts", "ms", f"time{of_each} in which no part of the "
               "request ran, as in a queue of the program; empty for all but requests"),
    )  # fmt: skip


KINDS = timed_by(
    "both",
    shared.HOST,
    text("name", "Name", "name of the kind, without the numbers in which names differ"),
    _WHAT,
    count("count", "Count", "how many the capture has"),
    count("timed", "Timed", "how many of these have a known end; the times are theirs"),
    *(
        amount(f"p{p}_ms", f"p{p}", "ms",
               f"{p} of 100 took at most as long: the nearest rank, the smallest time that so many "
               f"reach; empty for fewer than {100 // (100 - p)}")
        for p in _PERCENTILES
    ),
    amount("max_ms", "Max.", "ms", "the longest"),
    amount("mean_ms", "Mean", "ms", "the mean; the parts of the time add up to it"),
    *_parts(" of one on average"),
    amount("block_ms", "Until it returned", "ms", "mean time until the block or call itself "
           "ended; work that it launched may go on"),
    count("compiled", "Compiled", "in how many of them the framework traced or compiled"),
)  # fmt: skip

SLOWEST = timed_by(
    "both",
    shared.HOST,
    _LABEL,
    _WHAT,
    amount("start_ms", "Start", "ms", "when it began, since the capture did"),
    amount("latency_ms", "Latency", "ms", "until it ended and its work on devices was done"),
    *_parts(""),
    _EVENT,
)

PARTS = timed_by(
    "both",
    shared.HOST,
    text("request", "Request", "the chosen span or request"),
    count("order", "Order", "place in order of time"),
    text("part", "Part", "a part of it; parts may be inside of others"),
    _WHAT,
    amount("since_ms", "Since", "ms", "its start, since the request began"),
    amount("start_ms", "Start", "ms", "its start, since the capture began"),
    amount("latency_ms", "Latency", "ms", "until it ended and its work on devices was done"),
    *_parts("")[:-1],
    _EVENT,
)


class _Kind(NamedTuple):
    """The spans of one kind on a host.

    Attributes:
        host: The host.
        of_host: All its spans.
        name: Name of the kind.
        what: What they are.
        rows: All of them, shape (n,).
        timed: Those with a known end, shape (m,).
    """

    host: Host
    of_host: Latencies
    name: str
    what: str
    rows: Int64Array
    timed: Int64Array

    @property
    def total_ms(self) -> list[float]:
        """Latencies, ascending."""
        ascending: list[float] = (np.sort(self.of_host.total_ps[self.timed]) / _PS_PER_MS).tolist()
        return ascending

    @property
    def n_unknown(self) -> int:
        """How many launched work whose end is not in the capture."""
        return int((~self.of_host.is_known[self.rows]).sum())


def percentile(ascending: Sequence[float], percent: int) -> float | None:
    """The nearest rank: the smallest number that at least so many percent do not exceed.

    With n numbers that is the one of rank ceil(n * percent / 100). None if there are so few numbers
    that it would be the largest: fewer than 100 for 99 percent.

    Args:
        ascending: Numbers in order of size.
        percent: From 1 to 99.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 50), percentile([1.0, 2.0, 3.0, 4.0], 90)
    (2.0, None)
    """
    if len(ascending) * (100 - percent) < 100:
        return None
    return ascending[-(-len(ascending) * percent // 100) - 1]


def latency(
    run: Run, *, host: str | None = None, request: str | None = None, classic: bool = False
) -> ToolResult:
    """How long requests, annotated blocks and calls of compiled functions take.

    Args:
        run: The run.
        host: Only this host.
        request: The one whose parts to list, as in the tables: ``request 17``, ``17`` or
            ``decode:3``; a name such as ``decode`` is the slowest of that name. By default the
            slowest of the first kind.
        classic: Has no effect: the reference has no such tool.

    Raises:
        UsageError: There is no such host or request.
    """
    hosts = run.chosen(host)
    kinds = [kind for one in hosts for kind in _kinds(one)]
    chosen = _chosen(kinds, request)
    return ToolResult(
        "latency",
        "Latency",
        claims=scoped(_claims(kinds, len(hosts)), scope_of([one.name for one in hosts]),
                      "annotations, calls and the work that they launched"),
        tables={
            "kinds": Table("kinds", KINDS, list(map(_kind_row, kinds)), title="By kind"),
            "parts": Table("parts", PARTS, list(_part_rows(*chosen)) if chosen else [],
                           title=f"Parts of {chosen[0].of_host.labels[chosen[1]]}" if chosen
                           else "Parts of a request"),
            "slowest": Table("slowest", SLOWEST, list(_slowest(kinds)), title="The slowest"),
        },
        charts=tuple(_charts(kinds)),
        notes=(*run.notes, *_notes(kinds)),
    )  # fmt: skip


def _kinds(host: Host) -> list[_Kind]:
    found = latencies(host)
    kinds = []
    for number, (what, name) in enumerate(found.kinds):
        rows = found.rows_of(number)
        # A block of the program ends by itself; a call only hands its work over.
        has_end = found.is_known if what == CALL else found.is_whole
        timed = rows[has_end[rows]]
        if len(rows):
            kinds.append(_Kind(host, found, name, what, rows, timed))
    return sorted(kinds, key=lambda one: (_ORDER.index(one.what), -sum(one.total_ms), one.name))


def _kind_row(kind: _Kind) -> tuple[Cell, ...]:
    found, total_ms = kind.of_host, kind.total_ms
    block_ms = found.block_ps[kind.rows].mean() / _PS_PER_MS
    return (
        kind.host.name,
        kind.name,
        kind.what,
        len(kind.rows),
        len(kind.timed),
        *(percentile(total_ms, percent) for percent in _PERCENTILES),
        total_ms[-1] if total_ms else None,
        sum(total_ms) / len(total_ms) if total_ms else None,
        *_part_cells(found, kind.timed),
        None if kind.what == REQUEST else float(block_ms),
        int(found.has_compiled[kind.rows].sum()),
    )


def _part_cells(found: Latencies, rows: Int64Array) -> tuple[float | None, ...]:
    """Mean time of some rows in each part: queue, waiting, host, device, between; None: unknown."""
    if not len(rows) or not found.is_known[rows].all():
        return (None,) * 5
    between, host, waiting, queue, device = (
        found.spent_ps[rows].mean(axis=0) / _PS_PER_MS
    ).tolist()
    is_request = rows[0] >= found.n_spans
    return (
        queue if found.has_queue else None,
        waiting,
        host,
        device if found.has_work else None,
        between if is_request else None,
    )


def _slowest(kinds: Iterable[_Kind]) -> Iterator[tuple[Cell, ...]]:
    for kind in kinds:
        found = kind.of_host
        order = np.argsort(-found.total_ps[kind.timed], kind="stable")
        for row in kind.timed[order][:_N_SLOWEST].tolist():
            yield (
                kind.host.name,
                found.labels[row],
                kind.what,
                *(float(ps[row]) / _PS_PER_MS for ps in (found.start_ps, found.total_ps)),
                *_part_cells(found, np.array([row])),
                found.events[row],
            )


def _part_rows(kind: _Kind, row: int) -> Iterator[tuple[Cell, ...]]:
    found = kind.of_host
    for order, part in enumerate([row, *found.parts_of(row).tolist()]):
        begin_ps = int(found.start_ps[part])
        yield (
            kind.host.name,
            found.labels[row],
            order,
            found.labels[part],
            found.kinds[int(found.kind[part])][0],
            (begin_ps - int(found.start_ps[row])) / _PS_PER_MS,
            begin_ps / _PS_PER_MS,
            float(found.total_ps[part]) / _PS_PER_MS,
            *_part_cells(found, np.array([part]))[:-1],
            found.events[part],
        )


def _chosen(kinds: Sequence[_Kind], request: str | None) -> tuple[_Kind, int] | None:
    """The wanted span, or the slowest of the first kind.

    Raises:
        UsageError: There is none of that name.
    """
    if request is not None:
        wanted = (request, f"{REQUEST} {request}")
        for kind in kinds:
            for row in kind.rows.tolist():
                if kind.of_host.labels[row] in wanted:
                    return kind, row
        kinds = [kind for kind in kinds if kind.name == request]
        if not kinds:
            raise UsageError(
                f"request={request!r} is none of the capture; the table slowest has names, such as "
                "'request 17' and 'decode:3'"
            )
    for kind in kinds:
        if len(kind.timed):
            return kind, int(kind.timed[np.argmax(kind.of_host.total_ps[kind.timed])])
    return None


def _claims(kinds: Sequence[_Kind], n_hosts: int) -> Iterator[Claim]:
    if not kinds:
        yield unknown(
            "run", "latency",
            "The capture has no annotation of the program, no call of a compiled function and no "
            "request of a server.",
        )  # fmt: skip
        return
    main = next((kind for kind in kinds if len(kind.timed)), None)
    if main is None:
        yield unknown(
            "run", "latency",
            "None of the requests and calls in the capture has a known end; the notes say why.",
        )  # fmt: skip
        return
    total_ms = main.total_ms
    numbers: Details = {
        "host": main.host.name, "kind_count": len(total_ms), "max_ms": total_ms[-1],
    }  # fmt: skip
    words = "{subject} took {max_ms}"
    known = {p: ms for p in _PERCENTILES if (ms := percentile(total_ms, p)) is not None}
    numbers |= {f"p{p}_ms": ms for p, ms in known.items()}
    if known:
        shares = ", ".join(f"p{p} {{p{p}_ms}}" for p in known)
        words = f"{{subject}}: {shares}, the longest {{max_ms}}, of {{kind_count}}"
    if n_hosts > 1:
        words += ", on {host}"
    yield Claim(main.name, "latency", known.get(50, total_ms[-1]), "ms", details=numbers,
                words=f"{words}.")  # fmt: skip
    yield from _where(main)


def _where(kind: _Kind) -> Iterator[Claim]:
    """Where the time of the main kind goes on average."""
    parts = dict(zip(_WORDS, _part_cells(kind.of_host, kind.timed), strict=True))
    largest = sorted(((ms, name) for name, ms in parts.items() if ms), reverse=True)
    if largest:
        mean_ms = sum(kind.total_ms) / len(kind.timed)
        listed = ", ".join(f"{{{name}_ms}} {_WORDS[name]}" for _, name in largest)
        numbers: Details = {f"{name}_ms": ms for ms, name in largest}
        yield Claim(kind.name, "mean_latency", mean_ms, "ms", details=numbers,
                    words=f"{{subject}} took {{value}} on average: {listed}.")  # fmt: skip


_WORDS = {
    "queue": "in the queue of a batch",
    "waiting": "in known waits",
    "host": "on the host or in unknown waits",
    "device": "in the work that it launched",
    "between": "while no part of it ran",
}
"""Words for the parts of a time, in the order of the columns."""


def _charts(kinds: Sequence[_Kind]) -> Iterator[Chart]:
    shown = [
        (kind, cells)
        for kind in kinds
        if None not in (cells := _part_cells(kind.of_host, kind.timed))[1:3]
    ]
    if shown:
        series = {
            name: tuple(cells[at] or 0.0 for _, cells in shown)
            for at, name in enumerate(("queue", "waiting", "host", "device", "between parts"))
            if any(cells[at] for _, cells in shown)
        }
        names = tuple(f"{kind.name} ({kind.what})" for kind, _ in shown)
        yield Chart("latency", "stacked_bar", "Mean latency by kind", "kind", "ms", names, series)


def _notes(kinds: Sequence[_Kind]) -> Iterator[Note]:
    lost_calls = Counter[str]()
    for kind in kinds:
        lost_calls[kind.host.name] += kind.n_unknown if kind.what == CALL else 0
        n_odd = len(kind.rows) - len(kind.timed)
        if kind.what == REQUEST and n_odd:
            yield Note(
                "warning", f"{n_odd} of {len(kind.rows)} requests are not timed: they lack a part "
                "that most have, or their number comes again.", kind.host.name,
            )  # fmt: skip
        found = kind.of_host
        after = found.total_ps[kind.rows] > found.block_ps[kind.rows]
        if kind.what == ANNOTATION and after.any():
            yield Note(
                "info", f"{int(after.sum())} of {len(kind.rows)} blocks {kind.name} ended before "
                "the work that they launched; their latency ends with that work. The column "
                "block_ms has the block alone.", kind.host.name,
            )  # fmt: skip
        few = len(kind.timed)
        if kind is kinds[0] and few and percentile(kind.total_ms, 99) is None:
            yield Note("info", f"p99 of {kind.name} is unknown: it takes at least 100, and the "
                       f"capture has {few}.", kind.host.name)  # fmt: skip
    for host, n_calls in lost_calls.items():
        if n_calls:
            yield Note(
                "warning", f"No work of {n_calls} calls is in the capture or known to be theirs. "
                "JAX's calls return before their work is done, so these are not timed, and blocks "
                "around them may have ended before it.", host,
            )  # fmt: skip
