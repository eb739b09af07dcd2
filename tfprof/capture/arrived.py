"""What a capture of this process holds, compared with what was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.facts.missing import Asked, notes_of_missing
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run
from tfprof.options.captures import CaptureOptions


def arrived(
    run: Run,
    host: str,
    options: CaptureOptions,
    framework: str,
    devices: Sequence[str] = (),
    unsupported: Sequence[str] = (),
) -> list[Note]:
    """Remarks on what is missing in a capture of this process, and how to mend it.

    Args:
        run: The capture, with its own remarks; other workers may have written to it, too.
        host: The host of this process in the run.
        options: What was asked for.
        framework: Whose profiler recorded, for people.
        devices: Accelerators that the program can use.
        unsupported: Options that this profiler does not have.
    """  # fmt: skip
    asked = Asked(options, framework, tuple(devices), tuple(unsupported))
    notes = [note for note in run.notes if note.host in ("", host)]
    for own in run.hosts:
        if own.name == host:
            notes += notes_of_missing(own, asked)
    return notes
