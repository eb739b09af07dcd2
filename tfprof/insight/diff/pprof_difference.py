"""Two pprof profiles as one: values of the second minus those of the first.

As ``pprof -diff_base`` does it: samples of the base have negative values and the label
``pprof::base``, so that any reader of pprof profiles adds up the difference, and pprof itself shows
what is negative as improvement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError

_BASE = "pprof::base"


def subtracted(before: pb.Profile, after: pb.Profile) -> pb.Profile:
    """The difference of two profiles.

    Args:
        before: The base.
        after: The profile that it is subtracted from; neither is modified.

    Raises:
        UsageError: Their samples have other types or units.
    """
    kinds = [
        [(p.string_table[t.type], p.string_table[t.unit]) for t in p.sample_type]
        for p in (before, after)
    ]
    if kinds[0] != kinds[1]:
        raise UsageError(
            f"the profiles hold different values: {_shown(kinds[0])} before, "
            f"{_shown(kinds[1])} after"
        )
    both = pb.Profile()
    both.CopyFrom(after)
    both.ClearField("comment")
    place = {text: number for number, text in enumerate(both.string_table)}

    def text(number: int) -> int:
        words = before.string_table[number]
        if words not in place:
            place[words] = len(both.string_table)
            both.string_table.append(words)
        return place[words]

    key = place.setdefault(_BASE, len(place))
    if key == len(both.string_table):
        both.string_table.append(_BASE)
    yes = place.setdefault("true", len(place))
    if yes == len(both.string_table):
        both.string_table.append("true")
    mappings = _added(both.mapping, before.mapping, text, ("filename", "build_id"), {})
    functions = _added(
        both.function, before.function, text, ("name", "system_name", "filename"), {}
    )
    locations = _added(both.location, before.location, text, (), {"mapping_id": mappings})
    first = len(both.location) - len(before.location)
    for location in both.location[first:]:
        for line in location.line:
            line.function_id = functions.get(line.function_id, 0)
    for sample in before.sample:
        new = both.sample.add()
        new.location_id.extend(locations.get(number, 0) for number in sample.location_id)
        new.value.extend(-value for value in sample.value)
        for label in sample.label:
            added = new.label.add()
            added.CopyFrom(label)
            for name in ("key", "str"):
                setattr(added, name, text(getattr(label, name)))
        new.label.add(key=key, str=yes)
    return both


def _added(
    into: Any,
    messages: Any,
    text: Callable[[int], int],
    texts: tuple[str, ...],
    numbers: dict[str, dict[int, int]],
) -> dict[int, int]:
    """Append messages under new ids; returns the new id of each."""
    last = max((one.id for one in into), default=0)
    ids = {}
    for message in messages:
        last += 1
        ids[message.id] = last
        one = into.add()
        one.CopyFrom(message)
        one.id = last
        for name in texts:
            setattr(one, name, text(getattr(message, name)))
        for name, known in numbers.items():
            setattr(one, name, known.get(getattr(message, name), 0))
    return ids


def _shown(kinds: list[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} in {unit}" for kind, unit in kinds) or "nothing"
