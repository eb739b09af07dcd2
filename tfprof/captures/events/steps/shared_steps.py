"""Finds hosts that share too few steps with the others to be compared with them.

Only steps that all hosts have count, so a single host with few of them removes most steps of all
others from the result, whose size is hosts times steps. At most a third of the hosts is left out.
Of the choices whose result has more than two thirds of the largest possible size, the one that
leaves out the fewest hosts wins: a host that is left out might be the slow one, and two thirds of
the steps give averages as good as all. Then the one with the most steps wins, then the one with
the earliest steps.

So a host is left out if it has less than two thirds of the steps among many hosts, half of them
among four hosts, or 4 of 10 among three. The order of the hosts does not matter.

>>> from tfprof.captures.events.steps.shared_steps import shared_by_most
>>> shared_by_most([range(100), range(100), range(1, 100), range(90, 130)])
Shared(begin=1, end=100, n_hosts=3)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import Int64Array

FEWEST_HOSTS = 3
"""Two hosts that differ do not show which one is odd."""


class Shared(NamedTuple):
    """Steps that all hosts but a few have.

    Attributes:
        begin: The first of them.
        end: The one after the last.
        n_hosts: Number of hosts that have them all.
    """

    begin: int
    end: int
    n_hosts: int

    def is_within(self, steps: range) -> bool:
        """Whether a host with these steps has all shared ones."""
        return steps.start <= self.begin and self.end <= steps.stop


def most_agree(n_hosts: int) -> int:
    """Number of hosts that must share steps: two thirds."""
    return n_hosts - n_hosts // 3


def shared_by_most(steps: Sequence[range], fewest: int = 0) -> Shared | None:
    """The steps of as many hosts as possible.

    Args:
        steps: The steps of each host, in one count for all.
        fewest: Least number of hosts that must share them; two thirds if that is more.

    Returns:
        The shared steps; None if there are too few hosts, or most of them share no step.
    """
    if len(steps) < FEWEST_HOSTS:
        return None
    spans = _Spans(
        np.array([own.start for own in steps], np.int64),
        np.array([own.stop for own in steps], np.int64),
    )
    choices = spans.choices(max(fewest, most_agree(len(steps))))
    largest = max((n_hosts * n_steps for n_hosts, n_steps in choices), default=0)
    for n_hosts, n_steps in choices:
        if 3 * n_hosts * n_steps > 2 * largest:
            _, begin = spans.sharing(n_steps)
            return Shared(begin, begin + n_steps, n_hosts)
    return None


class _Spans(NamedTuple):
    """The consecutive steps of hosts."""

    begins: Int64Array
    ends: Int64Array

    def choices(self, fewest: int) -> list[tuple[int, int]]:
        """Numbers of hosts, from all down to the fewest, and the most steps that they share.

        Only numbers of hosts that share more steps than all larger numbers.
        """
        most_steps = self.longest(fewest)
        n_hosts, n_steps = len(self.begins), self.longest(len(self.begins))
        found = [(n_hosts, n_steps)] if n_steps else []
        if 3 * n_steps > 2 * most_steps:
            return found  # no other choice is that much larger
        while n_steps < most_steps:
            n_hosts, _ = self.sharing(n_steps + 1)
            n_steps = self.longest(n_hosts)
            found.append((n_hosts, n_steps))
        return found

    def longest(self, n_hosts: int) -> int:
        """The most consecutive steps that this many hosts share; 0 without any."""
        most = max(0, int((self.ends - self.begins).max()))
        lengths = range(1, most + 1)
        return bisect_right(lengths, -n_hosts, key=lambda n_steps: -self.sharing(n_steps)[0])

    def sharing(self, n_steps: int) -> tuple[int, int]:
        """The most hosts that share this many consecutive steps, and the first of these steps."""
        is_long = self.ends - self.begins >= n_steps
        first, last = np.sort(self.begins[is_long]), np.sort(self.ends[is_long] - n_steps)
        if not len(first):
            return 0, 0
        # Hosts whose steps have begun by then, without those with too few steps left. Of hosts
        # that begin together, the last counts them all.
        counts = np.arange(1, len(first) + 1) - np.searchsorted(last, first)
        place = int(np.argmax(counts))
        return int(counts[place]), int(first[place])
