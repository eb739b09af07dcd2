"""A block of some thousand events, as columns and as JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.captures.model.xspace_stats import Buffer, ByteArray, StatKind, StatValue, text_at
from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire.compiled import is_native, native_module

_native: Any = native_module("trace")

_PS_PER_US: Final = 10**6
_PS_PER_NS: Final = 10**3
_EXACT: Final = 1 << 53
"""Integers from here on become texts: JavaScript has no such numbers."""

Int32Array = np.ndarray[Any, np.dtype[np.int32]]

quoted: Callable[[str], str] = json.encoder.encode_basestring_ascii
"""Encodes a text as JSON."""


class Texts(NamedTuple):
    """A text for each event.

    Attributes:
        numbers: Place of each event's text, -1 for none, shape (n,).
        texts: The texts.
    """

    numbers: Int32Array
    texts: list[str]


def each(texts: Sequence[str]) -> Texts:
    """Give each event a text of its own."""
    return Texts(np.arange(len(texts), dtype=np.int32), list(texts))


def one(text: str, n_events: int) -> Texts:
    """Give all events the same text."""
    return Texts(np.zeros(n_events, np.int32), [text])


class OwnStats(NamedTuple):
    """Own stats of events, event by event.

    Attributes:
        ends: The place after the last stat of each event, shape (n,).
        heads: Names of stats: places in ``head_texts``, -1 for hidden stats, shape (n stats,).
        kinds: ``StatKind`` of each value.
        values: As in ``StatTable``; for references, places in ``references``.
        head_texts: Names, with the colon.
        references: Texts that references point to.
        data: Buffer that holds the texts.
    """

    ends: Int64Array
    heads: Int32Array
    kinds: ByteArray
    values: Int64Array
    head_texts: list[str]
    references: list[str]
    data: Buffer


@dataclass(frozen=True, eq=False)
class Block:
    """Events of a thread, or of several.

    Attributes:
        places: Process and thread of each event, as JSON; without texts if unused.
        starts_ps: Starts in the time of the trace, shape (n,).
        durations_ps: Durations; events with duration 0 are instants.
        names: Names of the events; without texts if unused.
        args: Arguments, as JSON.
        stats: Own stats of the events, which are also arguments.
        as_texts: Whether all values are texts.
    """

    places: Texts
    starts_ps: Int64Array
    durations_ps: Int64Array
    names: Texts
    args: Sequence[Texts]
    stats: OwnStats | None
    as_texts: bool

    def to_json(self) -> bytes:
        """Encode the events, with commas and line ends between them."""
        if not (is_native() and _native is not None):
            return self.to_json_pure()
        data = self.stats.data if self.stats is not None else b""

        def text(kind: int, value: int) -> str:
            return stat_text(kind, value, data, as_texts=self.as_texts)

        made: bytes = _native.events_text(
            (np.ascontiguousarray(self.starts_ps), np.ascontiguousarray(self.durations_ps)),
            [
                (np.ascontiguousarray(column.numbers, np.int32), column.texts)
                for column in (self.places, self.names, *self.args)
            ],
            None if self.stats is None else tuple(self.stats),
            self.as_texts,
            text,
        )
        return made

    def to_json_pure(self) -> bytes:
        """Encode the events in pure Python."""
        rows = zip(
            self.starts_ps.tolist(), self.durations_ps.tolist(), self._texts(self.places),
            self._texts(self.names), self._members(), strict=True,
        )  # fmt: skip
        lines = [
            (
                f'{{"ph":"X",{place},"ts":{micros(start)},"dur":{micros(lasting)},"name":{name}'
                if lasting
                else f'{{"ph":"i","s":"t",{place},"ts":{micros(start)},"name":{name}'
            )
            + (f',"args":{{{args}}}}}' if args else "}")
            for start, lasting, place, name, args in rows
        ]
        return ",\n".join(lines).encode("ascii")

    def arguments(self) -> list[str]:
        """Return the arguments of each event as a JSON object."""
        return [f"{{{members}}}" for members in self._members()]

    def _members(self) -> list[str]:
        columns = [self._texts(column) for column in self.args]
        if self.stats is not None:
            columns.append(stat_texts(self.stats, as_texts=self.as_texts))
        return joined(columns, len(self.starts_ps))

    @staticmethod
    def _texts(column: Texts) -> list[str]:
        texts = column.texts
        return [texts[number] if number >= 0 else "" for number in column.numbers.tolist()]


def stat_texts(stats: OwnStats, *, as_texts: bool) -> list[str]:
    """Encode the stats of each event as JSON, with commas between them."""
    heads, references, data = stats.head_texts, stats.references, stats.data
    columns = zip(stats.heads.tolist(), stats.kinds.tolist(), stats.values.tolist(), strict=True)
    texts = [
        ""
        if head < 0
        else heads[head] + references[value]
        if kind == StatKind.REF
        else heads[head] + stat_text(kind, value, data, as_texts=as_texts)
        for head, kind, value in columns
    ]
    bounds = [0, *stats.ends.tolist()]
    return [",".join(filter(None, texts[start:end])) for start, end in pairwise(bounds)]


def stat_text(kind: int, value: int, data: Buffer, *, as_texts: bool) -> str:
    """Encode the value of a stat that is not a reference."""
    shown: StatValue = value
    if kind in (StatKind.STR, StatKind.BYTES):
        octets = text_at(data, value)
        shown = octets if kind == StatKind.BYTES else str(octets, "utf-8", "replace")
    elif kind == StatKind.DOUBLE:
        shown = float(np.array(value).view(np.float64))
    elif kind == StatKind.UINT64:
        shown = value % (1 << 64)
    elif kind == StatKind.NONE:
        shown = None
    return value_text(shown, as_texts=as_texts)


def value_text(value: StatValue, *, as_texts: bool) -> str:
    """Encode a value as JSON, or as a text, with six digits for doubles."""
    if isinstance(value, bytes):
        return '"<opaque bytes>"' if as_texts else f'"<{len(value)} bytes>"'
    if isinstance(value, str) or value is None:
        return quoted(value or "")
    if as_texts:
        return f'"{value:g}"' if isinstance(value, float) else f'"{value}"'
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'"{value}"'
    return str(value) if -_EXACT < value < _EXACT else f'"{value}"'


def joined(columns: Sequence[Sequence[str]], n_events: int) -> list[str]:
    """Join the texts of each event, with commas between those that are not empty."""
    kept = [column for column in columns if any(column)]
    if not kept:
        return [""] * n_events
    lines = list(kept[0])
    for column in kept[1:]:
        lines = [
            f"{text},{more}" if text and more else text or more
            for text, more in zip(lines, column, strict=True)
        ]
    return lines


def in_whole_ns(starts_ps: Int64Array, durations_ps: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Cut times to whole nanoseconds, still in picoseconds, shape (n,) each.

    Viewers that count nanoseconds round starts and durations separately. Slices side by side would
    then overlap, and a viewer would drop one of them.
    """
    starts = starts_ps - starts_ps % _PS_PER_NS
    ends = starts_ps + durations_ps
    return starts, ends - ends % _PS_PER_NS - starts


def micros(ps: int) -> str:
    """Write picoseconds as microseconds with six decimals."""
    whole, rest = divmod(abs(ps), _PS_PER_US)
    return f"{'-' if ps < 0 else ''}{whole}.{rest:06d}"
