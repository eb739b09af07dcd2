"""The partial result of some hosts of a run, and how partial results merge.

``merge`` is associative, does not depend on the order, and has an identity, ``Part()``. Nothing is
rounded: what adds up are whole numbers, and everything else is kept for each host. So answers are
the same, bit for bit, however the hosts were shared out.
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
    """What is left of a host.

    Attributes:
        label: What its file is called, up to ``.xplane.pb``.
        n_bytes: Size of its file.
        notes: What its capture says of itself; their host is its label.
        facts: Its answers as ``codec`` writes them, by the names of facts.
        error: Why it could not be read; empty if it could.
    """

    label: str
    n_bytes: int
    notes: tuple[Note, ...] = ()
    facts: Mapping[Key, bytes] = {}
    error: str = ""


class Segment(NamedTuple):
    """Neighbouring hosts, ``[begin, end)``, with the sum of their answers."""

    begin: int
    end: int
    answer: Any


class Wanted(NamedTuple):
    """Facts that are asked for.

    Attributes:
        own: Those of each host.
        summed: Those whose answers add up over all hosts.
    """

    own: tuple[Key, ...] = ()
    summed: tuple[Key, ...] = ()

    def without(self, other: Wanted) -> Wanted:
        """What of it is not in another."""
        return Wanted(
            tuple(key for key in self.own if key not in other.own),
            tuple(key for key in self.summed if key not in other.summed),
        )


@dataclass(frozen=True, eq=False)
class Part:
    """The partial result of some hosts.

    Attributes:
        hosts: What is left of each, by the place of its file among all.
        sums: Answers that add up, by the names of facts, each as segments in order.
    """

    hosts: Mapping[int, HostPart] = field(default_factory=dict)
    sums: Mapping[Key, Sequence[Segment]] = field(default_factory=dict)

    def merge(self, *others: Part) -> Part:
        """This and other parts as one.

        Raises:
            ValueError: A host is in several of them, and would count twice.
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

    def sum(self, key: Key) -> Any:
        """The sum of a fact over all hosts of this part."""
        answers = [segment.answer for segment in self.sums.get(key, ())]
        return answers[0] if len(answers) == 1 else _merged(key, answers)

    def to_bytes(self) -> bytes:
        """The part as bytes, to be sent or kept; equal parts are equal bytes."""
        return encode((dict(self.hosts), {key: list(own) for key, own in self.sums.items()}))

    @classmethod
    def from_bytes(cls, data: bytes) -> Part:
        """The part again.

        Raises:
            MalformedProfileError: The bytes are damaged, or of another version of tfprof.
        """
        value = decode(data)
        if not (isinstance(value, tuple) and len(value) == 2):
            raise MalformedProfileError("these bytes are no partial results of hosts")
        return cls(*value)


def merge(parts: Iterable[Part]) -> Part:
    """Several parts as one; ``Part()`` for none."""
    return Part().merge(*parts)


_HOMES = ("captures.", "insight.", "sql.", "ui.")
"""Packages of facts."""


def fact_of(key: Key) -> Fact[Any, ..., Any]:
    """The fact of a key.

    Raises:
        MalformedProfileError: There is none; the key is of another version.
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
    """What a host adds to a sum that could not be read."""
    return Segment(place, place + 1, _merged(key, []))


def _merged(key: Key, answers: Sequence[Any]) -> Any:
    fact = fact_of(key)
    assert fact.merged is not None
    return fact.merged(answers)


def _joined(key: Key, segments: Sequence[Segment]) -> list[Segment]:
    """Segments in order, neighbours as one: sums may depend on the order of hosts."""
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
