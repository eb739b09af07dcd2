"""The clock of a host, for comparing times of different hosts."""

from __future__ import annotations

from tfprof.captures.events.timeline import clocks
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host


@fact
def unix_base_ns(host: Host) -> int | None:
    """Zero of the host's times, in ns since 1970; None if unknown."""
    return clocks.unix_base_ns(host.timeline.axis)
