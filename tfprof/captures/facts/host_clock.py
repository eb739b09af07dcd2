"""The clock of a host, by which times of different hosts are compared."""

from __future__ import annotations

from tfprof.captures.events.timeline import clocks
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host


@fact
def unix_base_ns(host: Host) -> int | None:
    """What the times of a host count from, in ns since 1970; None if that is not known."""
    return clocks.unix_base_ns(host.timeline.axis)
