"""Checks of XSpace files, which the TensorFlow 2 profiler writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tfprof.captures.facts.arrival import arrival_of, arrival_words
from tfprof.captures.facts.missing import lacking
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.capture_record import notes_at_capture
from tfprof.captures.run.remarks import Lack
from tfprof.captures.run.run import Host
from tfprof.core.text import how_to_capture
from tfprof.core.text.wording import sentence
from tfprof.doctor.report import Check, Status
from tfprof.files.remote.path import AnyPath

LONGER_WINDOW: Final = f"{sentence(how_to_capture.LONGER)}."

_STATUSES: Final[Mapping[str, Status]] = {
    "error": "error", "warning": "warning", "info": "note",
}  # fmt: skip
_WORSE = ("damage", "events")
"""What tools can live with, but not a file that somebody asks about."""

_QUOTED = "the profiler recorded: "
_AT_CAPTURE = "when it was captured: "


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


def check_record(run: AnyPath, host: str, checks: Iterable[Check]) -> Iterator[Check]:
    """What was missing when a host was captured, beyond what its file shows.

    Args:
        run: The folder of the run.
        host: The name of the host's file, up to ``.xplane.pb``.
        checks: Those of the file.
    """
    shown = tuple(check.message.removeprefix(_QUOTED) for check in checks)
    for note in notes_at_capture(run, host):
        if not " ".join(note.message.split()).startswith(shown):
            status = _STATUSES.get(note.severity, "note")
            yield Check("when captured", status, f"{_AT_CAPTURE}{note.message}")


def _check(lack: Lack) -> Check:
    status = "error" if lack.name in _WORSE else _STATUSES[lack.severity]
    message = f"{lack.what}: {lack.why}" if lack.why else lack.what
    if lack.is_quoted:
        message = f"{_QUOTED}{' '.join(lack.what.split())}"
    remedy = f"{sentence(lack.remedy)}." if lack.remedy else ""
    return Check(lack.name, status, message, remedy, lack.code)
