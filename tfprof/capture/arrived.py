"""Compares a capture of this process with the requested data, and writes its record."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from tfprof.capture.frameworks import Framework, loaded_frameworks
from tfprof.capture.program import CudaProgram
from tfprof.captures.facts.arrival import VERSION, arrival_of, as_record
from tfprof.captures.facts.missing import Asked, notes_of_missing
from tfprof.captures.run.capture_record import notes_at_capture, record_of
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run
from tfprof.core.text import how_to_capture
from tfprof.core.text.wording import sentence
from tfprof.files.disk import write_file
from tfprof.files.run_folder import RECORD_NAME, capture_files, host_name
from tfprof.options.captures import OPS_LEVEL, CaptureOptions

NOTHING_LOADED = Note("warning", f"{how_to_capture.NO_FRAMEWORK}. "
                      f"{sentence(how_to_capture.LOAD_FRAMEWORK)}")  # fmt: skip
"""Remark on a capture without a chosen framework, in a program that had imported none."""

_NAMES = {"tensorflow": "TensorFlow", "jax": "JAX"}


def arrived(run: Run, host: str, asked: Asked) -> list[Note]:
    """Remarks on missing data in a capture of this process, with remedies.

    Args:
        run: The capture, with its own remarks; other workers may have written to it, too.
        host: The host of this process in the run.
        asked: The requested data.
    """
    own = [notes_of_missing(each, asked) for each in run.hosts if each.name == host]
    return [*(note for note in run.notes if note.host in ("", host)), *chain.from_iterable(own)]


def notes_on(
    run: Run, host: str, framework: Framework, options: CaptureOptions, asked: CaptureOptions
) -> list[Note]:
    """All remarks on a capture that this process has just made.

    Args:
        run: The capture.
        host: The host of this process in it.
        framework: The framework whose profiler recorded.
        options: The user's options.
        asked: The data requested from that profiler.
    """
    devices: list[str] = []
    with contextlib.suppress(Exception):  # whatever a framework raises
        devices = framework.devices()
    wanted = Asked(asked, framework.name, tuple(devices), framework.unsupported)
    notes = arrived(run, host, wanted)
    if isinstance(framework, CudaProgram):
        return notes if options.framework else [*notes, NOTHING_LOADED]
    others = [name for name in loaded_frameworks() if name != framework.name.lower()]
    may_be_wrong = others and not options.framework and asked.host_tracer_level >= OPS_LEVEL
    if may_be_wrong and not any(arrival_of(own).ops for own in run.hosts if own.name == host):
        name = _NAMES[others[0]]
        remedy = sentence(how_to_capture.FRAMEWORK.format(name=name, option=others[0]))
        said = (
            f"no op of {framework.name} ran while its profiler recorded, and {name} is loaded, too"
        )
        notes.append(Note("warning", f"{said}. {remedy}", host))
    return notes


def write_record(
    folder: Path, run: Run, host: str, options: CaptureOptions, notes: Iterable[Note]
) -> None:
    """Write ``capture.json``; records of other workers on their hosts stay.

    Args:
        folder: The run's folder.
        run: The capture.
        host: The host of this process in it.
        options: The options of the capture.
        notes: Missing data of this host.

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
    """An earlier record of some hosts; empty if it is damaged."""
    if record_of(folder).get("version") != VERSION:
        return []
    return [note for host in sorted(hosts) for note in notes_at_capture(folder, host)]
