"""Host ops of all hosts, worked out once for all tools."""

from __future__ import annotations

from tfprof.analysis.xspace.host_ops import OpTimes, host_op_times
from tfprof.tools.run import Host


def host_ops(host: Host, *, classic: bool = False) -> OpTimes:
    """The ops on the threads of a host."""

    def make() -> OpTimes:
        return host_op_times(host.timeline, host.eager(classic=classic), classic=classic)

    return host.memo.once(("host_ops", classic), make)
