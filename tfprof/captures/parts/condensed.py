"""A run whose hosts are parts: tools answer from facts, as if the hosts had their events.

A fact that no part has is asked of all hosts at once (``Facts.more``). What is not a fact, such as
all events of a step, is read from the host's file again, one host at a time.
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
"""Asks all hosts for some facts."""


class Facts:
    """The facts of all hosts of a run, and where more of them come from.

    Attributes:
        part: What is known.
        more: Asks for more.
        reopen: Reads the events of a host again, by the place of its file.
        n_rounds: How often more was asked for.
        n_reopened: How often a host was read again.
    """

    def __init__(self, part: Part, more: More, reopen: Callable[[int], XSpace]) -> None:
        self.part, self.more, self.reopen = part, more, reopen
        self.n_rounds = self.n_reopened = 0
        self._lock = threading.RLock()
        self._open: tuple[int, Host] | None = None
        self._latest: dict[tuple[int, Key], Any] = {}

    def of(self, place: int, key: Key) -> bytes:
        """The answer of a host."""
        with self._lock:
            if key not in self.part.hosts[place].facts:
                self._ask(Wanted(own=(key,)))
            return self.part.hosts[place].facts[key]

    def latest(self, place: int, key: Key, make: Callable[[], T]) -> T:
        """A large answer of a host, which is kept until a few others were asked for."""
        with self._lock:
            known = (place, key)
            answer: T = self._latest.pop(known) if known in self._latest else make()
            self._latest[known] = answer
            if len(self._latest) > _MOST_LATEST:
                del self._latest[next(iter(self._latest))]
            return answer

    def sum(self, key: Key) -> Any:
        """The answers of all hosts as one."""
        with self._lock:
            if key not in self.part.sums:
                self._ask(Wanted(summed=(key,)))
            return self.part.sum(key)

    def opened(self, place: int, name: str) -> Host:
        """A host with its events; the one that was open before is given up."""
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
        hosts = dict(self.part.hosts)
        for place, host in hosts.items():
            new = told.hosts.get(place)
            if new is None or (new.error and not host.error):
                why = new.error if new is not None else "nothing was told of it"
                raise InputError(f"{host.label}: could be read before, and no longer: {why}")
            hosts[place] = host._replace(facts={**host.facts, **new.facts})
        self.part = Part(hosts, {**self.part.sums, **told.sums})


class CondensedHost(Host):
    """A host of which only facts are left.

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
        """No."""
        return False

    @property
    def space(self) -> XSpace:
        """Its events, as they were recorded, read again."""
        return self.opened.space

    @property
    def opened(self) -> Host:
        """The host with its events."""
        return self._facts.opened(self.place, self.name).by(self.rules)

    def told(self, key: Key, keep: Callable[[Callable[[], T]], T]) -> T:
        """The answer to a fact.

        Args:
            key: The fact.
            keep: Makes a small answer once.
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
"""Larger answers are made of their bytes again, if others were asked for since: of many hosts, one
after the other takes less memory than all. Few questions ask for one more than twice."""

_MOST_LATEST = 8


class _FactMemo(Memo):
    """Answers of a host without events: facts are told, the rest is worked out from its file."""

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
    """The run of some parts.

    Args:
        name: Folder of the run.
        facts: The parts of its hosts.
        notes: Which run was chosen.
        copies: Files with the same bytes as one of the hosts'.
        is_left_out: Why hosts are missing that have no part; empty if none are.

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
    """Which facts a question asks for.

    Attributes:
        own: Answers to those that are asked of single hosts, as bytes.
        summed: Answers to those whose sums over all hosts are asked for.
    """

    def __init__(self) -> None:
        self.own: dict[Key, bytes] = {}
        self.summed: dict[Key, Any] = {}
        self._depth = 0

    @property
    def wanted(self) -> Wanted:
        """What was asked for so far."""
        return Wanted(tuple(sorted(self.own)), tuple(sorted(self.summed)))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is asked within a fact need not be asked of others."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @property
    def is_question(self) -> bool:
        """Whether the question itself asks, and no fact."""
        return not self._depth


class ProbedHost(Host):
    """A host that notes which facts a question asks for, so that others can be asked at once.

    Args:
        host: The host with its events.
        asked: Receives what is asked for.
        is_all: Whether sums over it are to be sums over all hosts.
    """

    def __init__(self, host: Host, asked: Asked, *, is_all: bool = True) -> None:
        super().__init__(host.name, host.space)
        self._asked, self._is_all = asked, is_all
        self.memo = _ProbedMemo(asked)

    @property
    def has_events(self) -> bool:
        """No: it is to be asked as the others will be."""
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
        """The same host again by another name: what is asked of several may not be asked of one."""
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
