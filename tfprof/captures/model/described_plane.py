"""A plane without its events: its name, its stats, and the number of its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tfprof.captures.model.xspace import Plane
from tfprof.captures.model.xspace_stats import StatValue


class DescribedPlane(NamedTuple):
    """A device, a host or a set of counters.

    Attributes:
        name: ``/host:CPU``, ``/device:GPU:0``, …
        n_events: Number of its events.
        stats: Its own stats by name.
    """

    name: str
    n_events: int
    stats: Mapping[str, StatValue]


def describe(plane: Plane) -> DescribedPlane:
    """A plane without its events."""
    return DescribedPlane(plane.name, len(plane.events), plane.own_stats())
