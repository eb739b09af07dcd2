"""Checks of XSpace files, which the TensorFlow 2 profiler writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tfprof.captures.facts.arrival import arrival_of, arrival_words
from tfprof.captures.facts.missing import lacking
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.remarks import Lack
from tfprof.captures.run.run import Host
from tfprof.doctor.report import Check, Status
from tfprof.text import how_to_capture
from tfprof.text.wording import sentence

LONGER_WINDOW: Final = f"{sentence(how_to_capture.LONGER)}."

_STATUSES: Final[Mapping[str, Status]] = {
    "error": "error", "warning": "warning", "info": "note",
}  # fmt: skip
_WORSE = ("damage", "events")
"""What tools can live with, but not a file that somebody asks about."""


def check_capture(data: bytes) -> Iterator[Check]:
    """Check the capture of one host; a damaged file as far as it can be read."""
    space = read_xspace(data)
    host = Host("", space)
    name = ", ".join(space.hostnames) or "an unnamed host"
    checks = [_check(lack) for lack in lacking(host)]
    if not any(check.name == "events" for check in checks):
        words = arrival_words(arrival_of(host), len(data))
        yield Check("capture", "ok", f"XSpace of {name}: {words}")
    yield from checks


def _check(lack: Lack) -> Check:
    status = "error" if lack.name in _WORSE else _STATUSES[lack.severity]
    message = f"{lack.what}: {lack.why}" if lack.why else lack.what
    if lack.is_quoted:
        message = f"the profiler recorded: {' '.join(lack.what.split())}"
    remedy = f"{sentence(lack.remedy)}." if lack.remedy else ""
    return Check(lack.name, status, message, remedy, lack.code)
