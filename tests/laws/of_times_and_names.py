"""Laws about captures whose answers change as they must: other names, other times, more events."""

from __future__ import annotations

import random
import re
from typing import Any

from tests.laws.drawn import RENAMED
from tests.laws.law import Law, of_tfprof
from tests.laws.of_captures import Spaces
from tfprof.core.wire import messages as pb

_TIMES = frozenset(("ps", "ns", "us", "ms", "s"))
_WITHOUT_TIMES = frozenset(("fraction", "percent", "count", "bytes", ""))
_BEFORE_NS = 5_000_000


def _renamed_text(text: str) -> str:
    return re.sub("|".join(RENAMED), lambda found: RENAMED[found[0]], text)


def _renamed(chance: random.Random, spaces: Spaces) -> Spaces:
    """Ops have other names, as long as the first ones and in the same order."""
    for space in spaces.values():
        for plane in space.planes:
            for entry in plane.event_metadata.values():
                entry.name = _renamed_text(entry.name)
            for event in (event for line in plane.lines for event in line.events):
                for stat in event.stats:
                    if stat.WhichOneof("value") == "str_value":
                        stat.str_value = _renamed_text(stat.str_value)
    return spaces


def _with_new_names(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {_renamed_text(key): _with_new_names(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_with_new_names(one) for one in answer]
    return _renamed_text(answer) if isinstance(answer, str) else answer


def _twice_as_long(chance: random.Random, spaces: Spaces) -> Spaces:
    """All times from the beginning on are twice as long."""
    for space in spaces.values():
        lines = [line for plane in space.planes for line in plane.lines]
        since_ns = min(line.timestamp_ns for line in lines if line.events)
        for line in lines:
            line.timestamp_ns = since_ns + 2 * (line.timestamp_ns - since_ns)
            for event in line.events:
                event.offset_ps *= 2
                event.duration_ps *= 2
    return spaces


def _tables(answer: Any, factor: int = 1) -> Any:
    """Tables with their times, and with shares, counts and sizes; rates and sentences are not."""
    if not isinstance(answer, dict):
        return answer
    return {
        name: [_numbers(row, table["columns"], factor) for row in table["rows"]]
        for name, table in answer.get("tables", {}).items()
    }


def _numbers(row: dict[str, Any], columns: list[dict[str, Any]], factor: int) -> dict[str, Any]:
    kept = {}
    for column in columns:
        unit, value = column.get("unit", ""), row[column["id"]]
        if unit in _TIMES:
            kept[column["id"]] = None if value is None else value * factor
        elif unit in _WITHOUT_TIMES and not re.search(r"\d [µm]?s\b", str(value)):
            kept[column["id"]] = value
    return kept


def _outside(chance: random.Random, spaces: Spaces) -> Spaces:
    """Events on a thread of their own, long before the first step and after the last one."""
    for space in spaces.values():
        lines = [line for plane in space.planes for line in plane.lines if line.events]
        since_ns = min(line.timestamp_ns for line in lines)
        last_ns = max(
            line.timestamp_ns + max(e.offset_ps + e.duration_ps for e in line.events) // 1000
            for line in lines
        )
        host = next(plane for plane in space.planes if plane.name == "/host:CPU")
        number = max(host.event_metadata) + 1
        host.event_metadata[number].id, host.event_metadata[number].name = number, "apart:Apart"
        apart = pb.XLine(id=77, name="apart", timestamp_ns=since_ns - _BEFORE_NS)
        for begin_ns in (0, last_ns - since_ns + 2 * _BEFORE_NS):
            apart.events.add(metadata_id=number, offset_ps=begin_ns * 1000, duration_ps=10**9)
        host.lines.append(apart)
    return spaces


_OF_STEPS = ("tool pod", "tool stragglers", "tool collectives", "whatif", "page pod")
_SCALED = (
    "tool op-stats", "tool kernel-stats", "tool pod", "tool stragglers", "tool collectives",
    "whatif",
)  # fmt: skip

LAWS: tuple[Law[Spaces], ...] = (
    Law("other names", _renamed, of_tfprof, expected=_with_new_names),
    Law("twice as long", _twice_as_long, _SCALED.__contains__,
        expected=lambda answer: _tables(answer, 2),
        compared=lambda answer: _tables(answer) if "tables" in answer else answer),
    Law("events outside of all steps", _outside, _OF_STEPS.__contains__),
)  # fmt: skip
