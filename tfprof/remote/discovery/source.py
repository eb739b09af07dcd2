"""What all sources of workers have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from tfprof.errors import UsageError
from tfprof.remote.addresses import Address

_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
_MOST_PORTS = 64


class Source(Protocol):
    """Where the workers of a job are listed; the list changes as workers come and go.

    A function may do. One with an attribute ``seconds`` is looked at so often.
    """

    def __call__(self) -> Sequence[Address]:
        """The addresses of all workers now.

        Raises:
            InputError: They cannot be found now; a later call may find them.
            UsageError: The source is wrong, and will not answer.
            MissingDependencyError: It needs a package that is not installed.
        """
        ...


def at_ports(hosts: Iterable[str], ports: Sequence[int]) -> list[Address]:
    """An address for each host and each port, in this order, without repetition."""
    return list(dict.fromkeys(Address(host, port) for host in hosts for port in ports))


def ports_of(text: str) -> tuple[int, ...]:
    """The ports in ``6009``, ``6009,6011`` or ``6009-6016``.

    Raises:
        UsageError: The text is none of these.
    """
    found: list[int] = []
    for part in text.split(","):
        match = _PORTS.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < first <= last < 1 << 16 or last - first >= _MOST_PORTS:
            raise UsageError(
                f"port={text!r} is not a port; write 6009, 6009,6011 or 6009-6016 (at most "
                f"{_MOST_PORTS} in a row)"
            )
        found += range(first, last + 1)
    return tuple(dict.fromkeys(found))
