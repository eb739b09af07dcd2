"""What has arrived from workers: counted, judged, and written beside their captures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tfprof.captures.facts.arrival import Arrival, arrival_of, as_record
from tfprof.captures.facts.missing import Asked, lacking
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.errors import TfprofError
from tfprof.files.run_folder import RECORD_NAME
from tfprof.options.captures import CaptureOptions
from tfprof.remote.staging import Staging


@dataclass(frozen=True, slots=True)
class Arrived:
    """What has arrived.

    Attributes:
        hosts: The counts, in the order of the workers.
        notes: What is missing, with the host it is missing of.
    """

    hosts: tuple[Arrival, ...] = ()
    notes: tuple[Note, ...] = ()


def look_at(
    place: Staging, names: Iterable[str], troubles: Mapping[str, str], options: CaptureOptions
) -> Arrived:
    """Count what has arrived, and write it as ``capture.json``, which appears with the run.

    A capture that cannot be read stays, as does a run whose record cannot be written; a note says
    so.

    Args:
        place: Where the captures are.
        names: Their files.
        troubles: Why workers were not captured, by address.
        options: What was asked for.
    """
    hosts: list[Arrival] = []
    notes = [Note("error", f"{address}: {why}") for address, why in troubles.items()]
    sizes = {}
    for name in names:
        path = place.unfinished(name)
        stem = name.removesuffix(".xplane.pb")
        sizes[stem] = path.stat().st_size
        found, said = _look_at(path, stem, options)
        hosts += found
        notes += said
    try:
        text = as_record(hosts, sizes, notes, asdict(options))
        place.note(RECORD_NAME, text)
    except OSError as error:
        place.unfinished(RECORD_NAME).unlink(missing_ok=True)
        why = error.strerror or error
        notes.append(Note("warning", f"{RECORD_NAME} could not be written: {why}"))
    return Arrived(tuple(hosts), tuple(notes))


def _look_at(path: Path, name: str, options: CaptureOptions) -> tuple[list[Arrival], list[Note]]:
    try:
        host = Host(name, read_xspace(path.read_bytes()))
        return [arrival_of(host)], [lack.note(name) for lack in lacking(host, Asked(options))]
    except (TfprofError, OSError) as error:
        return [], [Note("warning", f"what arrived could not be checked: {error}", name)]
