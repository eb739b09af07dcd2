"""The choice of a host on pages of captured runs: the control, and the views of one host."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tfprof.ui.pages.document import Control

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.inputs.opened import Opened
    from tfprof.inputs.profiler import Profiler

_KEPT_HOSTS = 2


def host_control(run: Run, params: Mapping[str, str]) -> list[Control]:
    """The choice of a host; none if there is only one."""
    if len(run.hosts) < 2:
        return []
    hosts = [("", "all hosts"), *((host.name, host.name) for host in run.hosts)]
    return [Control("host", "Host", "choice", params.get("host", ""), "", hosts)]


def host_control_of(opened: Opened, params: Mapping[str, str]) -> list[Control]:
    """The choice of a host for an opened run; profiles other than captured runs have no hosts."""
    return [] if opened.run is None else host_control(opened.run(), params)


def chosen_profiler(opened: Opened, params: Mapping[str, str]) -> Profiler:
    """The views of all hosts, or of the one that ``host`` names; the latest are kept.

    Raises:
        UsageError: There is no such host.
        InputError: The run cannot be read.
    """
    host = params.get("host", "")
    if not host or opened.run is None or opened.profiler_of_host is None:
        return opened.views()
    run, make = opened.run(), opened.profiler_of_host
    if [one.name for one in run.chosen(host)] == [one.name for one in run.hosts]:
        return opened.views()
    return run.memo.once("views of hosts", lambda: lru_cache(_KEPT_HOSTS)(make))(host)
