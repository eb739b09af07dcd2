"""A run whose hosts are parts: tools answer from facts, as if the hosts had their events.

``Facts.more`` requests a missing fact from all hosts at once. Other data, such as all events of a
step, are re-read from the host's file, one host at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, TypeVar

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.threadpool import Regions
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.parts.codec import decode, encode
from tfprof.captures.parts.part import Part, Wanted, answer_of
from tfprof.captures.rules import BY_NAME, OURS, Rules
from tfprof.captures.run.fact import Key
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.missing_hosts import Copy
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host, ReadHost, Run, hosts_of
from tfprof.core.columns.columns import BoolArray
from tfprof.errors import EmptyProfileError, InputError

T = TypeVar("T")

More = Callable[[Wanted], Part]
"""Requests facts from all hosts."""


class Facts:
    """The facts of all hosts of a run, and functions that get more of them.

    Attributes:
        part: The facts so far.
        more: Requests more facts.
        reopen: Re-reads the events of a host, by the place of its file.
        n_rounds: Number of requests for more facts.
        n_reopened: Number of re-read hosts.
    """

    def __init__(self, part: Part, more: More, reopen: Callable[[int], XSpace]) -> None:
        self.part, self.more, self.reopen = part, more, reopen
        self.n_rounds = self.n_reopened = 0
        self._lock = threading.RLock()
        self._open: tuple[int, Host] | None = None
        self._latest: dict[tuple[int, Key], Any] = {}

    def of(self, place: int, key: Key) -> bytes:
        """The encoded answer of a host to a fact."""
        with self._lock:
            if key not in self.part.hosts[place].facts:
                self._ask(Wanted(own=(key,)))
            return self.part.hosts[place].facts[key]

    def latest(self, place: int, key: Key, make: Callable[[], T]) -> T:
        """A large answer of a host, from a cache of a few such answers."""
        with self._lock:
            known = (place, key)
            answer: T = self._latest.pop(known) if known in self._latest else make()
            self._latest[known] = answer
            if len(self._latest) > _MOST_LATEST:
                del self._latest[next(iter(self._latest))]
            return answer

    def sum(self, key: Key) -> Any:
        """The merged answers of all hosts."""
        with self._lock:
            if key not in self.part.sums:
                self._ask(Wanted(summed=(key,)))
            return self.part.sum(key)

    def opened(self, place: int, name: str) -> Host:
        """A host with its events; closes the one that was open before."""
        with self._lock:
            if self._open is None or self._open[0] != place:
                if self._open is not None:  # one at a time
                    self._open[1].memo.forget()
                    self._open = None
                self._open = (place, Host(name, self.reopen(place)))
                self.n_reopened += 1
            return self._open[1]

    def _ask(self, wanted: Wanted) -> None:
        self.n_rounds += 1
        told = self.more(wanted)
        for place, host in self.part.hosts.items():
            new = told.hosts.get(place)
            if new is None or (new.error and not host.error):
                why = new.error if new is not None else "it is missing"
                raise InputError(f"{host.label}: could be read before, and no longer: {why}")
        self.part = self.part.with_facts_of(told)


class CondensedHost(Host):
    """A host without events, which has only facts.

    Args:
        name: Its name in the run.
        place: The place of its file.
        facts: The facts of all hosts.
        places: The places of all hosts of the run.
    """

    def __init__(self, name: str, place: int, facts: Facts, places: frozenset[int]) -> None:
        self.name, self.place = name, place
        self._facts, self._places = facts, places
        self.rules, self.memo, self._first = OURS, _FactMemo(self, OURS), None

    @property
    def has_events(self) -> bool:
        """False: it has only facts."""
        return False

    @property
    def space(self) -> XSpace:
        """The events, re-read from the file."""
        return self.opened.space

    @property
    def opened(self) -> Host:
        """The host with its events."""
        return self._facts.opened(self.place, self.name).by(self.rules)

    def told(self, key: Key, keep: Callable[[Callable[[], T]], T]) -> T:
        """The answer to a fact.

        Args:
            key: The fact.
            keep: Makes a small answer once, and keeps it.
        """
        written = self._facts.of(self.place, key)

        def make() -> T:
            answer: T = decode(written, stands_for={"host": self.by(BY_NAME[key.rules])})
            return answer

        if len(written) > _MOST_KEPT_BYTES:
            return self._facts.latest(self.place, key, make)
        return keep(make)

    def sums(self, hosts: Sequence[Host], key: Key) -> Callable[[], Any] | None:
        """The sum of a fact over all hosts; None for some of them."""
        places = {host.place for host in hosts if isinstance(host, CondensedHost)}
        return None if places != self._places else lambda: self._facts.sum(key)

    def _forest(self) -> Forest:
        return self.opened._forest()

    def _groups(self) -> Groups:
        return self.opened._groups()

    def _eager(self) -> BoolArray:
        return self.opened._eager()

    def _with_regions(self) -> tuple[Timeline, Regions]:
        return self.opened._with_regions()


_MOST_KEPT_BYTES = 1 << 10
"""Larger answers are kept only for a while, then decoded again from their bytes: one host after
the other takes less memory than all of them. Few questions need an answer more than twice."""

_MOST_LATEST = 8


class _FactMemo(Memo):
    """Answers of a host without events: from its facts, all others from its file."""

    def __init__(self, host: CondensedHost, rules: Rules) -> None:
        super().__init__()
        self._host, self._rules = host, rules

    def _part(self, name: str) -> Memo:
        return _FactMemo(self._host, BY_NAME[name])

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if not isinstance(key, Key):
            return self._host.opened.by(self._rules).memo.once(key, make)
        answer: T = self._host.told(key, partial(super().once, key))
        return answer


def condensed_run(
    name: str,
    facts: Facts,
    notes: Sequence[Note] = (),
    copies: Sequence[Copy] = (),
    *,
    is_left_out: str = "",
) -> Run:
    """A run from parts.

    Args:
        name: Folder of the run.
        facts: The parts of its hosts.
        notes: Notes of the choice of the run.
        copies: Files with the same bytes as the file of one of the hosts.
        is_left_out: Why hosts without a part are missing; empty if none are.

    Raises:
        EmptyProfileError: No host could be read.
    """
    readable = {place: one for place, one in facts.part.hosts.items() if not one.error}
    if not readable:
        errors = [one.error for one in facts.part.hosts.values()]
        raise EmptyProfileError(errors[0] if errors else "no host was read")
    places = frozenset(readable)
    hosts, damage = hosts_of(
        {
            place: ReadHost(
                one.label,
                None if one.error else _maker(place, facts, places),
                one.notes,
                one.error,
            )
            for place, one in sorted(facts.part.hosts.items())
        },
        copies,
    )
    left_out = [Note("warning", is_left_out)] if is_left_out else []
    return Run(name, tuple(hosts), (*notes, *left_out, *damage), Memo())


def _maker(place: int, facts: Facts, places: frozenset[int]) -> Callable[[str], Host]:
    return lambda name: CondensedHost(name, place, facts, places)


class Asked:
    """The facts that a question needs.

    Attributes:
        own: Answers to the facts that it needs of single hosts, as bytes.
        summed: Answers to the facts whose sums over all hosts it needs.
    """

    def __init__(self) -> None:
        self.own: dict[Key, bytes] = {}
        self.summed: dict[Key, Any] = {}
        self._depth = 0

    @property
    def wanted(self) -> Wanted:
        """The facts that the question needed so far."""
        return Wanted(tuple(sorted(self.own)), tuple(sorted(self.summed)))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A context for facts within a fact, which need not be requested from other hosts."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @property
    def is_question(self) -> bool:
        """Whether the question itself needs a fact, not another fact."""
        return not self._depth


class ProbedHost(Host):
    """A host that records the facts that a question needs, for one request to all other hosts.

    Args:
        host: The host with its events.
        asked: Receives these facts.
        is_all: Whether sums over this host stand for sums over all hosts.
    """

    def __init__(self, host: Host, asked: Asked, *, is_all: bool = True) -> None:
        super().__init__(host.name, host.space)
        self._asked, self._is_all = asked, is_all
        self.memo = _ProbedMemo(asked)

    @property
    def has_events(self) -> bool:
        """False, so that a question uses it like the other hosts."""
        return False

    def sums(self, hosts: Sequence[Host], key: Key) -> Callable[[], Any] | None:
        """The answer of this host alone."""
        if not self._is_all:
            return None

        def of_one() -> Any:
            with self._asked.inside():
                answer = answer_of(self, key)
            if self._asked.is_question:
                self._asked.summed[key] = answer
            return answer

        return of_one

    def twin(self) -> Host:
        """The same host with another name: questions may need more facts of several hosts."""
        twin = copy(self)
        twin.name = f"{self.name} (twin)"
        return twin


class _ProbedMemo(Memo):
    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._asked = asked

    def _part(self, name: str) -> Memo:
        return _ProbedMemo(self._asked)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if not isinstance(key, Key):
            return super().once(key, make)

        def inner() -> T:
            with self._asked.inside():
                return make()

        answer = super().once(key, inner)
        if self._asked.is_question and key not in self._asked.own:
            self._asked.own[key] = encode(answer, stands_for={Host: "host"})
        return answer
