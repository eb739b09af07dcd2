"""The recording behind a capture: when, for how long, with which software."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import NamedTuple

from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.model.xspace import METADATA_PLANE
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host


class Recording(NamedTuple):
    """The recording of a host.

    Attributes:
        began_ns: Start, in ns since 1970; None if the capture lacks it.
        lasted_ms: Duration; 0 if the capture lacks it.
        n_events: Number of events.
        versions: Versions of the software that made it. JAX records them, TensorFlow does not.
    """

    began_ns: int | None
    lasted_ms: float
    n_events: int
    versions: Mapping[str, str]

    @property
    def began(self) -> datetime | None:
        """Start of the recording; None if missing or impossible."""
        # From 2001 to 2100: other numbers are damaged, or come from clocks that start at boot.
        if self.began_ns is None or not 1e18 < self.began_ns < 4.1e18:
            return None
        return datetime.fromtimestamp(self.began_ns / 1e9, timezone.utc)


@fact
def recording(host: Host) -> Recording:
    """The recording of a host."""
    plane = host.space.plane(TASK_PLANE)
    stats = {} if plane is None else plane.own_stats()
    began, ended = stats.get("profile_start_time"), stats.get("profile_stop_time")
    began_ns = began if isinstance(began, int) else None
    lasted_ms = 0.0
    if began_ns is not None and isinstance(ended, int) and ended >= began_ns:
        lasted_ms = (ended - began_ns) / 1e6
    of_software = host.space.plane(METADATA_PLANE)
    said = {} if of_software is None else of_software.own_stats()
    versions = {
        name.removesuffix("_version").replace("_", " "): value
        for name, value in said.items()
        if name.endswith("_version") and isinstance(value, str) and value
    }
    return Recording(began_ns, lasted_ms, host.space.n_events, versions)
