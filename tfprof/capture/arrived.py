"""What a capture of this process holds, compared with what was asked for; and its record."""

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
"""Of a capture that chose no framework, in a program that had imported none."""

_NAMES = {"tensorflow": "TensorFlow", "jax": "JAX"}


def arrived(run: Run, host: str, asked: Asked) -> list[Note]:
    """Remarks on what is missing in a capture of this process, and how to mend it.

    Args:
        run: The capture, with its own remarks; other workers may have written to it, too.
        host: The host of this process in the run.
        asked: What was asked for.
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
        framework: Whose profiler recorded.
        options: What the user wants.
        asked: What that profiler was asked for.
    """
    devices: list[str] = []
    with contextlib.suppress(Exception):  # whatever a framework does when it is asked
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
    """Write what arrived as ``capture.json``; what other workers said of their hosts stays.

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
