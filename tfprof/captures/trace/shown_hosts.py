"""The hosts of a run that its trace shows."""

from __future__ import annotations

from typing import Final

from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import Run

_MOST_READ: Final = 4
"""The trace shows at most so many hosts whose events must be re-read: all of them stay open."""


def shows_all_hosts(run: Run) -> bool:
    """Whether the trace shows all hosts: all are open, or there are only a few."""
    return len(run.hosts) <= _MOST_READ or all(host.has_events for host in run.hosts)


def shown_hosts(run: Run) -> list[int]:
    """Places of the hosts that the trace shows: all, or the first and the slowest."""
    places = list(range(len(run.hosts)))
    if shows_all_hosts(run):
        return places
    took_ps = dict.fromkeys(run.hosts, 0)
    for own in run_steps(run).whole.hosts:
        took_ps[own.host] = max(took_ps[own.host], int(own.times.duration_ps.sum()))
    slowest = sorted(places[1:], key=lambda place: (-took_ps[run.hosts[place]], place))
    return sorted([0, *slowest[: _MOST_READ - 1]])
