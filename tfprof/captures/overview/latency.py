"""Latency of requests: average and percentiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.captures.events.steps.requests import (
    Requests,
    reference_requests,
    served_requests,
    together,
)
from tfprof.captures.run.columns import amount, text, timed_by
from tfprof.captures.run.fact import fact_by_rules
from tfprof.captures.run.run import Host
from tfprof.captures.run.table import Cell, Table

_PERCENTILES = (50.0, 75.0, 90.0, 99.0, 99.9)
_PS_PER_MS = 1e9

_COLUMNS = timed_by(
    "both",
    text("percentile", "percentile",
         "which request: so many of a hundred took at most as long; or the mean"),
    amount("hostTimeMs", "Host time (in ms)", "ms", "what is left of it for the host", "host"),
    amount("deviceTimeMs", "Device time (in ms)", "ms", "what of it devices computed", "device"),
    amount("communicationTimeMs", "Host-device communication time (in ms)", "ms",
           "what of it was copies to devices and from them alone", "device"),
    amount("totalTimeMs", "Total latency (in ms)", "ms", "how long the request took"),
)  # fmt: skip


def latency(hosts: Sequence[Host], *, trains: bool) -> Table:
    """Make the table of the latency of requests (``compute_inference_latency.cc``).

    Each row except the average is the request at a percentile of the total latency.

    Args:
        hosts: The hosts that served the requests.
        trains: Whether the run trains. A training run has no requests, so the table is empty.
    """
    by_host = [] if trains else list(map(_requests, hosts))
    requests = together(by_host) if by_host else None
    if requests is None or not len(requests):
        return Table("latency", _COLUMNS)
    host_ps = requests.total_ps - requests.device_ps - requests.copies_ps
    parts = (host_ps, requests.device_ps, requests.copies_ps, requests.total_ps)
    ms = np.stack(parts, axis=1) / _PS_PER_MS
    rows: list[tuple[Cell, ...]] = [("Avg", *ms.mean(axis=0).tolist())]
    for percentile in _PERCENTILES:
        place = int(percentile / 100 * len(requests))
        rows.append((f"{percentile:.1f}%", *ms[place].tolist()))
    count = f"{len(requests):,} request{'' if len(requests) == 1 else 's'}"
    return Table("latency", _COLUMNS, rows, title=f"Latency of {count}")


@fact_by_rules
def _requests(host: Host) -> Requests:
    if host.rules.takes_groups_for_requests:
        return reference_requests(host.forest(), host.groups())
    return served_requests(host.forest())
