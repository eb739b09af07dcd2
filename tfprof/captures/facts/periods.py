"""The time account of a host: its steps, and the events that count in their periods."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.steps.account import Periods, account, with_between, work_spans
from tfprof.captures.events.steps.step_events import gpu_step_events, step_markers
from tfprof.captures.events.steps.step_times import computing, longest_markers, spans_array
from tfprof.captures.facts.host_devices import uses_gpu
from tfprof.captures.run.run import Host


def periods_of(host: Host) -> Periods:
    """The time account of a host without TPUs: its steps, and what counts in their periods."""
    return host.memo.once("periods", lambda: _periods_of(host))


def _periods_of(host: Host) -> Periods:
    timeline, groups = host.timeline, host.groups()
    markers = step_markers(timeline, groups)
    of_host, work = longest_markers(markers)[0], work_spans(timeline, groups)
    own = np.array(sorted(of_host), np.int64)
    if groups.work is not None and not groups.work.any():
        own = own[:0]  # nothing shows how long the work that they launched takes
    if uses_gpu(host):
        events, markers = gpu_step_events(timeline, groups)
        work = longest_markers(markers)[1]
        own = np.array(sorted(work), np.int64)
        own = own[computing(events, own, has_device=True)]
    steps = account(own, spans_array(of_host, own), spans_array(work, own), groups.names)
    steps = steps.until(host.period_ends())
    return with_between(host.forest(), groups, steps)
