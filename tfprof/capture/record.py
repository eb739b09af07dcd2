"""Writes ``capture.json``: what arrived, beside the captures of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from tfprof.captures.facts.arrival import VERSION, arrival_of, as_record
from tfprof.captures.run.capture_record import notes_at_capture, record_of
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run
from tfprof.files.disk import write_file
from tfprof.files.run_folder import RECORD_NAME, capture_files, host_name
from tfprof.options.captures import CaptureOptions


def write_record(
    folder: Path, run: Run, host: str, options: CaptureOptions, notes: Iterable[Note]
) -> None:
    """Write what arrived, all at once; what other workers said of their hosts stays.

    Args:
        folder: The run's folder.
        run: The capture.
        host: The host of this process in it.
        options: What was asked for.
        notes: What is missing of this host.

    Raises:
        InputError: The folder cannot be written; then it is as it was before.
    """
    said = [replace(note, host=host) for note in notes]
    said = [*_said_before(folder, {each.name for each in run.hosts} - {host}), *said]
    sizes = {host_name(path): path.stat().st_size for path in capture_files(folder)}
    text = as_record(
        [arrival_of(each) for each in run.hosts],
        sizes,
        sorted(said, key=lambda note: note.host),
        asdict(options),
    )
    write_file(folder / RECORD_NAME, [text.encode()], overwrite=True)


def _said_before(folder: Path, hosts: set[str]) -> list[Note]:
    """What an earlier record says of some hosts; a damaged one says nothing."""
    if record_of(folder).get("version") != VERSION:
        return []
    return [note for host in sorted(hosts) for note in notes_at_capture(folder, host)]
