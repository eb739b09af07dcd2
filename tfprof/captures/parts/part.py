"""The partial result of some hosts of a run, and how partial results merge.

``merge`` is associative, does not depend on the order, and has an identity, ``Part()``. It does not
round: it adds whole numbers, and keeps everything else for each host. So answers are the same, bit
for bit, regardless of how the hosts were distributed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

from tfprof.captures.parts.codec import decode, encode
from tfprof.captures.rules import BY_NAME
from tfprof.captures.run.fact import Fact, Key
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.errors import MalformedProfileError


class HostPart(NamedTuple):
    """The reduced data of one host.

    Attributes:
        label: Name of its file up to ``.xplane.pb``.
        n_bytes: Size of its file.
        notes: Notes on its capture; their host is its label.
        facts: Its answers as bytes of ``codec``, by the keys of facts.
        error: Why it is unreadable; empty if it is not.
    """

    label: str
    n_bytes: int
    notes: tuple[Note, ...] = ()
    facts: Mapping[Key, bytes] = {}
    error: str = ""


class Segment(NamedTuple):
    """The sum of the answers of neighbouring hosts, ``[begin, end)``."""

    begin: int
    end: int
    answer: Any


class Wanted(NamedTuple):
    """Requested facts.

    Attributes:
        own: Facts of each host.
        summed: Facts whose answers are summed over all hosts.
    """

    own: tuple[Key, ...] = ()
    summed: tuple[Key, ...] = ()

    def without(self, other: Wanted) -> Wanted:
        """The facts that another request does not have."""
        return Wanted(
            tuple(key for key in self.own if key not in other.own),
            tuple(key for key in self.summed if key not in other.summed),
        )


@dataclass(frozen=True, eq=False)
class Part:
    """The partial result of some hosts.

    Attributes:
        hosts: The reduced data of each host, by the place of its file among all.
        sums: Summed answers, by the keys of facts, each as segments in order.
    """

    hosts: Mapping[int, HostPart] = field(default_factory=dict)
    sums: Mapping[Key, Sequence[Segment]] = field(default_factory=dict)

    def merge(self, *others: Part) -> Part:
        """This and other parts as one.

        Raises:
            ValueError: Several parts contain a host, which would count twice.
        """
        hosts: dict[int, HostPart] = {}
        sums: dict[Key, list[Segment]] = {}
        for part in (self, *others):
            again = hosts.keys() & part.hosts.keys()
            if again:
                labels = ", ".join(part.hosts[place].label for place in sorted(again))
                raise ValueError(f"in several parts, and would count twice: {labels}")
            hosts.update(part.hosts)
            for key, segments in part.sums.items():
                sums.setdefault(key, []).extend(segments)
        return Part(
            dict(sorted(hosts.items())),
            {key: _joined(key, sums[key]) for key in sorted(sums)},
        )

    def with_facts_of(self, other: Part) -> Part:
        """The same hosts with the facts and sums of another part of them, too."""
        hosts = {
            place: host._replace(facts={**other.hosts[place].facts, **host.facts})
            for place, host in self.hosts.items()
        }
        return Part(hosts, {**other.sums, **self.sums})

    def sum(self, key: Key) -> Any:
        """The sum of a fact over all hosts of this part."""
        answers = [segment.answer for segment in self.sums.get(key, ())]
        return answers[0] if len(answers) == 1 else _merged(key, answers)

    def to_bytes(self) -> bytes:
        """The part as bytes, for sending or storing; equal parts have equal bytes."""
        return encode((dict(self.hosts), {key: list(own) for key, own in self.sums.items()}))

    @classmethod
    def from_bytes(cls, data: bytes) -> Part:
        """The part of bytes from ``to_bytes``.

        Raises:
            MalformedProfileError: The bytes are damaged, or from another version of tfprof.
        """
        value = decode(data)
        if not (isinstance(value, tuple) and len(value) == 2):
            raise MalformedProfileError("these bytes are not partial results of hosts")
        return cls(*value)


def merge(parts: Iterable[Part]) -> Part:
    """Several parts as one; ``Part()`` for none."""
    return Part().merge(*parts)


_HOMES = ("captures.", "insight.", "sql.", "ui.")
"""Packages of facts."""


def fact_of(key: Key) -> Fact[Any, ..., Any]:
    """The fact of a key.

    Raises:
        MalformedProfileError: The fact does not exist: the key is from another version.
    """
    module, _, name = key.fact.partition(":")
    known = None
    if module.startswith(_HOMES):
        known = getattr(import_module(f"tfprof.{module}"), name, None)
    if not isinstance(known, Fact):
        raise MalformedProfileError(f"{key.fact} is not a fact of this version of tfprof")
    return known


def answer_of(host: Host, key: Key) -> Any:
    """The answer of a host to a fact, by the rules of its key."""
    return fact_of(key)(host.by(BY_NAME[key.rules]), **dict(key.options))


def nothing(key: Key, place: int) -> Segment:
    """The contribution of an unreadable host to a sum."""
    return Segment(place, place + 1, _merged(key, []))


def _merged(key: Key, answers: Sequence[Any]) -> Any:
    fact = fact_of(key)
    assert fact.merged is not None
    return fact.merged(answers)


def _joined(key: Key, segments: Sequence[Segment]) -> list[Segment]:
    """Segments in order, with neighbours merged: sums may depend on the order of hosts."""
    runs: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: one.begin):
        if runs and runs[-1][-1].end == segment.begin:
            runs[-1].append(segment)
        else:
            runs.append([segment])
    return [
        run[0]
        if len(run) == 1
        else Segment(run[0].begin, run[-1].end, _merged(key, [one.answer for one in run]))
        for run in runs
    ]
