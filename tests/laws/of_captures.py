"""Laws about captures: what may change in the files of a run, and what that does to answers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.laws.law import Law, of_tfprof
from tfprof.core.wire import messages as pb

Spaces = dict[str, pb.XSpace]
"""The captures of the hosts of a run, by name."""

_SECOND_NS = 10**9
_EXTRA = "/vendor/extra"
_OF_EVENTS = ("table events", "table event_arguments")


def _plane_by_plane(
    change: Callable[[random.Random, Any], None],
) -> Callable[[random.Random, Spaces], Spaces]:
    def change_all(chance: random.Random, spaces: Spaces) -> Spaces:
        for space in spaces.values():
            for plane in space.planes:
                change(chance, plane)
        return spaces

    return change_all


def _shuffle(chance: random.Random, repeated: Any) -> None:
    """Any order of the messages of a field."""
    _put(repeated, chance.sample(range(len(repeated)), len(repeated)))


def _put(repeated: Any, order: Sequence[int]) -> None:
    copies = [type(repeated[0]).FromString(repeated[at].SerializeToString()) for at in order]
    del repeated[:]
    repeated.extend(copies)


def _stats_of(plane: Any) -> Iterator[Any]:
    yield plane.stats
    yield from (entry.stats for entry in plane.event_metadata.values())
    yield from (event.stats for line in plane.lines for event in line.events)


def _planes(chance: random.Random, spaces: Spaces) -> Spaces:
    for space in spaces.values():
        _shuffle(chance, space.planes)
    return spaces


def _lines(chance: random.Random, plane: Any) -> None:
    _shuffle(chance, plane.lines)


def _events(chance: random.Random, plane: Any) -> None:
    """Any order of events; of equal times only their order decides which is inside which."""
    for line in plane.lines:
        keys = [(event.offset_ps, event.duration_ps) for event in line.events]
        drawn = {key: chance.random() for key in sorted(set(keys))}
        _put(line.events, sorted(range(len(keys)), key=lambda at: (drawn[keys[at]], at)))


def _stats(chance: random.Random, plane: Any) -> None:
    for stats in _stats_of(plane):
        _shuffle(chance, stats)


def _numbers(chance: random.Random, plane: Any) -> None:
    """Other numbers for the names of events and stats."""
    of_events, of_stats = (
        dict(
            zip(sorted(known), chance.sample(range(1, 2 * len(known) + 1), len(known)), strict=True)
        )
        for known in (plane.event_metadata, plane.stat_metadata)
    )
    for stats in _stats_of(plane):
        for stat in stats:
            stat.metadata_id = of_stats.get(stat.metadata_id, 0)
            if stat.WhichOneof("value") == "ref_value":
                stat.ref_value = of_stats.get(stat.ref_value, 0)
    for event in (event for line in plane.lines for event in line.events):
        event.metadata_id = of_events.get(event.metadata_id, 0)
    for field, numbers in (("event_metadata", of_events), ("stat_metadata", of_stats)):
        entries = getattr(plane, field)
        copies = {key: type(entries[key]).FromString(entries[key].SerializeToString())
                  for key in list(entries)}  # fmt: skip
        entries.clear()
        for key, copy in copies.items():
            copy.id = numbers[key]
            if field == "event_metadata":
                copy.child_id[:] = [of_events.get(child, 0) for child in copy.child_id]
            entries[numbers[key]].CopyFrom(copy)


def _references(chance: random.Random, plane: Any) -> None:
    """Texts become references to texts, and these become texts."""
    number = max(plane.stat_metadata, default=0)
    known: dict[str, int] = {}
    for stats in _stats_of(plane):
        for stat in stats:
            kind = stat.WhichOneof("value")
            if kind == "ref_value" and stat.ref_value in plane.stat_metadata:
                stat.str_value = plane.stat_metadata[stat.ref_value].name
            elif kind == "str_value":
                text = stat.str_value
                if text not in known:
                    number += 1
                    known[text] = plane.stat_metadata[number].id = number
                    plane.stat_metadata[number].name = text
                stat.ref_value = known[text]


def _signs(chance: random.Random, plane: Any) -> None:
    """Whole numbers that have a sign have none, and the other way round."""
    for stat in (stat for stats in _stats_of(plane) for stat in stats):
        kind = stat.WhichOneof("value")
        if kind == "int64_value" and stat.int64_value >= 0:
            stat.uint64_value = stat.int64_value
        elif kind == "uint64_value" and stat.uint64_value < 1 << 63:
            stat.int64_value = stat.uint64_value


def _unknown_fields(chance: random.Random, spaces: Spaces) -> Spaces:
    """Fields that a later release may have: 1000 is a text."""
    later = b"\xc2\x3e\x05later"
    for space in spaces.values():
        for plane in space.planes:
            for line in plane.lines:
                line.MergeFromString(later)
            plane.MergeFromString(later)
        space.MergeFromString(later)
    return spaces


def _unknown_stat(chance: random.Random, plane: Any) -> None:
    number = max(plane.stat_metadata, default=0) + 1
    plane.stat_metadata[number].id = number
    plane.stat_metadata[number].name = "of_a_later_release"
    for event in (event for line in plane.lines for event in line.events):
        event.stats.add(metadata_id=number, int64_value=chance.randrange(1000))


def _unknown_plane(chance: random.Random, spaces: Spaces) -> Spaces:
    for space in spaces.values():
        since_ns = min((line.timestamp_ns for line in _lines_of(space)), default=0)
        plane = space.planes.add(name=_EXTRA)
        plane.event_metadata[1].id, plane.event_metadata[1].name = 1, "extra"
        line = plane.lines.add(id=1, name="extra", timestamp_ns=since_ns)
        line.events.add(metadata_id=1, offset_ps=10, duration_ps=100)
    return spaces


def _two_planes(chance: random.Random, spaces: Spaces) -> Spaces:
    """Some threads stand on another plane of the same name."""
    for space in spaces.values():
        for plane in [plane for plane in space.planes if plane.name == "/host:CPU"]:
            other = space.planes.add()
            other.CopyFrom(plane)
            n_first = len(plane.lines) // 2
            del plane.lines[n_first:], other.lines[:n_first]
    return spaces


def _without_extra(answer: Any) -> Any:
    """An answer without notes: the second has one more, on the plane that nothing understands."""
    if isinstance(answer, dict):
        return {key: _without_extra(value) for key, value in answer.items() if key != "notes"}
    if isinstance(answer, list):
        kept = [one for one in answer if not _is_extra(one)]
        return [_without_extra(one) for one in kept]
    return answer


def _is_extra(one: Any) -> bool:
    if isinstance(one, dict):
        return one.get("kind") == "remarks"
    return _EXTRA in str(one) and not isinstance(one, list)


def _lines_of(space: Any) -> Iterator[Any]:
    return (line for plane in space.planes for line in plane.lines if len(line.events))


def _origins(chance: random.Random, spaces: Spaces) -> Spaces:
    """A line begins later, and its events sooner after that; the earliest lines stay."""
    for space in spaces.values():
        earliest_ns = min((line.timestamp_ns for line in _lines_of(space)), default=0)
        stays = next((line for line in _lines_of(space) if line.timestamp_ns == earliest_ns), None)
        for line in _lines_of(space):
            least_ps = min(event.offset_ps for event in line.events)
            later_ns = chance.randrange(0, 1000)
            if line is not stays and least_ps >= later_ns * 1000:
                line.timestamp_ns += later_ns
                for event in line.events:
                    if event.WhichOneof("data") == "offset_ps":
                        event.offset_ps -= later_ns * 1000
    return spaces


def _later(chance: random.Random, spaces: Spaces) -> Spaces:
    """Another day: all clocks show as much more."""
    more_ns = chance.randrange(86_400) * _SECOND_NS
    for space in spaces.values():
        for line in (line for plane in space.planes for line in plane.lines):
            if line.events or line.timestamp_ns:
                line.timestamp_ns += more_ns
    return spaces


def _without_dates(answer: Any) -> Any:
    return json.loads(re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", json.dumps(answer)))


def _reversed(chance: random.Random, spaces: Spaces) -> Spaces:
    return dict(reversed(spaces.items()))


LAWS: tuple[Law[Spaces], ...] = (
    Law("order of planes", _planes, of_tfprof),
    Law("order of lines", _plane_by_plane(_lines), of_tfprof),
    Law("order of events", _plane_by_plane(_events), of_tfprof),
    Law("order of stats", _plane_by_plane(_stats)),
    Law("numbers of names", _plane_by_plane(_numbers), of_tfprof),
    Law("texts and references", _plane_by_plane(_references)),
    Law("signed and unsigned", _plane_by_plane(_signs), of_tfprof),
    Law("unknown fields", _unknown_fields),
    Law("an unknown stat", _plane_by_plane(_unknown_stat),
        lambda name: name not in ("trace", "table event_arguments")),
    Law("an unknown plane", _unknown_plane,
        lambda name: name not in ("page start", "page contents", "trace", "stacks", *_OF_EVENTS),
        compared=_without_extra),
    Law("threads on two planes", _two_planes, of_tfprof),
    Law("origins of lines", _origins, of_tfprof),
    Law("another day", _later,
        lambda name: name not in ("page contents", "classic tf-data", "table profile_op_steps"),
        compared=_without_dates),
    Law("order of files", _reversed),
)  # fmt: skip

SHUFFLES = LAWS[:7]
"""The laws that change nothing but the form of the file."""


def all_shuffled(chance: random.Random, spaces: Spaces) -> Spaces:
    """All changes of ``SHUFFLES`` at once."""
    for law in SHUFFLES:
        spaces = law.change(chance, spaces)
    return spaces
