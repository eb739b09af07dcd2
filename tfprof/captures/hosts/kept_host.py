"""A host of one large file that keeps its facts for further questions.

It answers like an open host. A fact that an earlier question has found comes from the kept part;
anything else reads the file, on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from tfprof.captures.hosts.asked import Fleet
from tfprof.captures.hosts.kept_part import KeptPart
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.parts.codec import decode, encode
from tfprof.captures.parts.part import HostPart, Part
from tfprof.captures.rules import BY_NAME, OURS
from tfprof.captures.run.fact import Key
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.read_capture import read_capture
from tfprof.captures.run.remarks import remarks
from tfprof.captures.run.run import Host, ReadHost, Run, folder_of, hosts_of

T = TypeVar("T")


class _Facts:
    """The known facts of a host, and those that questions find."""

    def __init__(self, known: Mapping[Key, bytes]) -> None:
        self._known = known
        self.found: dict[Key, Any] = {}

    def of(self, host: Host, key: Key, make: Callable[[], T]) -> T:
        """A known fact, or a new one."""
        if key in self._known:
            known: T = decode(self._known[key], stands_for={"host": host.by(BY_NAME[key.rules])})
            return known
        answer = self.found[key] = make()
        return answer


class _KeptHost(Host):
    def __init__(self, name: str, read: Callable[[], XSpace], facts: _Facts) -> None:
        self.name, self.rules, self._first = name, OURS, None
        self._read, self.memo = read, _KeptMemo(self, facts)

    @property
    def space(self) -> XSpace:
        return (self._first or self).memo.once("space", self._read)


class _KeptMemo(Memo):
    def __init__(self, host: Host, facts: _Facts) -> None:
        super().__init__()
        self._host, self._facts = host, facts

    def _part(self, name: str) -> Memo:
        return _KeptMemo(self._host, self._facts)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if isinstance(key, Key):
            make = partial(self._facts.of, self._host, key, make)
        return super().once(key, make)


def _same(space: XSpace) -> XSpace:
    return space


def open_kept(fleet: Fleet, kept: KeptPart) -> tuple[Run, Callable[[], None]]:
    """A run of one file with the facts that are kept of it, and what keeps those that it lacks.

    Args:
        fleet: The run.
        kept: The place of its part.

    Raises:
        InputError: The file cannot be read.
        MalformedProfileError: It is damaged.
    """
    (file,) = fleet.files
    read: Callable[[], XSpace] = partial(read_capture, file.path)
    part = kept.part()
    if part is None:
        space = read()
        notes = tuple(remark.note(file.label) for remark in remarks(space))
        part = Part({file.place: HostPart(file.label, file.n_bytes, notes)})
        read = partial(_same, space)
    own = part.hosts[file.place]
    facts = _Facts(own.facts)

    def keep() -> None:
        new = {}
        for key, answer in facts.found.items():
            with suppress(TypeError):  # no part may hold it
                new[key] = encode(answer, stands_for={Host: "host"})
        if new:
            kept.keep(Part({file.place: own._replace(facts={**own.facts, **new})}))

    host = ReadHost(own.label, partial(_KeptHost, read=read, facts=facts), own.notes)
    hosts, damage = hosts_of({file.place: host}, fleet.copies)
    folder = folder_of(fleet.name, [file.path])
    return Run(fleet.name, tuple(hosts), (*fleet.notes, *damage), Memo(), folder), keep
