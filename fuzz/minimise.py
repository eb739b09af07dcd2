"""Makes an input smaller as long as it fails in the same way: by fields of a message, by bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.message import DecodeError

from fuzz.budget import BUDGET, Finding
from fuzz.case import Format, Question
from fuzz.jail import Jail
from fuzz.workers import execute_alone, in_process
from tfprof.core.wire import messages as pb
from tfprof.core.wire.pool import is_repeated

_SECONDS = 120
"""For one finding, at most."""
_BUDGET = BUDGET._replace(wall_s=2.0 * _SECONDS)

Fails = Callable[[bytes], bool]


def minimised(found: Finding, question: Question, form: Format) -> bytes:
    """A small input that the question fails on in the same way; the same one if none was found."""
    end = time.monotonic() + _SECONDS
    if not found.is_death:
        small = in_process(_BUDGET, _smaller, question, form, found.data, found.kind, end)
        if isinstance(small, bytes):
            return small
    end = time.monotonic() + _SECONDS

    def fails(data: bytes) -> bool:  # each in a process of its own, which dies of it
        if time.monotonic() > end:
            return False
        other = execute_alone(question, form, data)
        return other is not None and other.kind == found.kind

    return _without(found.data, form, fails)


def _smaller(
    jail: Jail, question: Question, form: Format, data: bytes, kind: str, end: float
) -> bytes:
    jail.warm(question, form)

    def fails(data: bytes) -> bool:
        if time.monotonic() > end:
            return False
        other = jail.execute(question, form, data)
        return other is not None and other.kind == kind

    return _without(data, form, fails)


def _without(data: bytes, form: Format, fails: Fails) -> bytes:
    if not fails(data):
        return data
    if form.message is not None:
        data = without_fields(data, form.message, fails)
    return without_bytes(data, fails)


def without_bytes(data: bytes, fails: Fails) -> bytes:
    """Leave out ever smaller pieces."""
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            smaller = data[:at] + data[at + size :]
            if fails(smaller):
                data = smaller
            else:
                at += size
        size //= 2
    return data


def without_fields(data: bytes, name: str, fails: Fails) -> bytes:
    """Leave out fields and submessages, the outer ones first; the same bytes if they are none."""
    try:
        message = getattr(pb, name).FromString(data)
    except (DecodeError, RuntimeWarning):
        return data
    if not fails(whole := message.SerializePartialToString()):
        return data
    level = [message]
    while level:
        for owner in level:
            for field, _ in owner.ListFields():
                whole = _without_field(message, owner, field, whole, fails)
        level = [one for owner in level for one in _submessages(owner)]
    return bytes(whole)


def _without_field(message: Any, owner: Any, field: Any, whole: bytes, fails: Fails) -> bytes:
    """Leave out one field, or pieces of it."""
    before = type(owner)()
    before.CopyFrom(owner)
    owner.ClearField(field.name)
    if fails(smaller := message.SerializePartialToString()):
        return bytes(smaller)
    owner.CopyFrom(before)
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    if is_repeated(field) and not is_map:
        values = list(getattr(before, field.name))
        size = len(values) // 2
        while size:
            at = 0
            while at < len(values):
                fewer = values[:at] + values[at + size :]
                owner.ClearField(field.name)
                getattr(owner, field.name).extend(fewer)
                if fails(smaller := message.SerializePartialToString()):
                    values, whole = fewer, smaller
                else:
                    at += size
            size //= 2
        owner.ClearField(field.name)
        getattr(owner, field.name).extend(values)
    return bytes(whole)


def _submessages(owner: Any) -> Iterator[Any]:
    for field, value in owner.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].message_type is not None:
                yield from value.values()
        elif is_repeated(field):
            yield from value
        else:
            yield value
