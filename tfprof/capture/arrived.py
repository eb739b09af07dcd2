"""What a capture of this process holds, compared with what was asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from tfprof.capture.frameworks import Framework, other_framework
from tfprof.capture.program import CudaProgram
from tfprof.captures.facts.arrival import arrival_of
from tfprof.captures.facts.missing import Asked, notes_of_missing
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run
from tfprof.core.text import how_to_capture
from tfprof.core.text.wording import sentence
from tfprof.options.captures import OPS_LEVEL, CaptureOptions

NOTHING_LOADED = Note("warning", f"{how_to_capture.NO_FRAMEWORK}. "
                      f"{sentence(how_to_capture.LOAD_FRAMEWORK)}")  # fmt: skip
"""Of a capture that chose no framework, in a program that had imported none."""

_NAMES = {"tensorflow": "TensorFlow", "jax": "JAX"}


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
    notes = arrived(run, host, asked, framework.name, devices, framework.unsupported)
    other = other_framework(options, framework.name)
    if isinstance(framework, CudaProgram):
        return notes if options.framework else [*notes, NOTHING_LOADED]
    if other and asked.host_tracer_level >= OPS_LEVEL:
        notes += notes_of_framework(run, host, framework.name, other)
    return notes


def notes_of_framework(run: Run, host: str, recorded: str, other: str) -> list[Note]:
    """A remark if no op ran, and another framework is loaded, which was not recorded.

    Args:
        run: The capture.
        host: The host of this process in it.
        recorded: Whose profiler recorded, for people.
        other: The other framework, as an option.
    """
    if any(arrival_of(own).ops for own in run.hosts if own.name == host):
        return []
    name = _NAMES[other]
    remedy = how_to_capture.FRAMEWORK.format(name=name, option=other)
    return [
        Note("warning", f"no op of {recorded} ran while its profiler recorded, and {name} is "
             f"loaded, too. {sentence(remedy)}", host)
    ]  # fmt: skip
