"""The compiled programs in the capture of a host, each decoded only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.captures.read.hlo import HloProgram, hlo_programs
from tfprof.captures.rules import OURS

if TYPE_CHECKING:
    from tfprof.captures.run.run import Host


def host_programs(host: Host) -> list[HloProgram]:
    """The programs of a host, by id."""
    host = host.by(OURS)
    return host.memo.once("hlo programs", lambda: hlo_programs(host.space))
