"""What a capture holds, compared with what was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.captures.events.timeline.names import DEVICE_PREFIXES, TASK_PLANE
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.run.result import Note, listed
from tfprof.captures.run.run import Run
from tfprof.options.captures import CaptureOptions
from tfprof.wire.message_fields import BrokenError, message_fields

_LEVEL_FIELDS = {2: "host_tracer_level", 3: "device_tracer_level", 4: "python_tracer_level"}
"""Numbers of fields of the message ``ProfileOptions``."""

_MARKS = {"step_num", "step_name"}


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
    notes = [note for note in run.notes if note.host in ("", host)]
    for space in (each.space for each in run.hosts if each.name == host):
        notes += _on_options(space, options, framework, unsupported)
        if any(len(plane.events) for plane in space.planes):
            notes += _on_steps(space, options)
            notes += _on_devices(space, options, framework, devices)
    return notes


def recorded_levels(space: XSpace) -> dict[str, int] | None:
    """Levels of the tracers that a capture says it was made with; None if it does not say."""
    for plane in space.planes:
        if plane.name == TASK_PLANE:
            message = plane.own_stats().get("profile_options")
            if isinstance(message, bytes):
                return _levels(message)
    return None


def _levels(message: bytes) -> dict[str, int] | None:
    levels = dict.fromkeys(_LEVEL_FIELDS.values(), 0)  # zeros are not written
    data = memoryview(message)
    try:
        for field in message_fields(data, 0, len(data)):
            name = _LEVEL_FIELDS.get(field.tag >> 3)
            if name is not None:
                levels[name] = field.number
    except BrokenError:
        return None
    return levels


def _on_options(
    space: XSpace, options: CaptureOptions, framework: str, unsupported: Sequence[str]
) -> list[Note]:
    recorded = recorded_levels(space)
    if recorded is None:
        return [
            Note("info", f"{framework} does not say in the capture with which options it "
                 "recorded, so they could not be checked")
        ]  # fmt: skip
    notes = []
    for name, wanted in options.levels.items():
        got = recorded[name]
        if got == wanted:
            continue
        why = f"{framework} has no such option" if name in unsupported else "it was not honoured"
        notes.append(
            Note("warning", f"{name}={wanted} was asked for, and {got} recorded: {why}")
        )  # fmt: skip
    return notes


def _on_steps(space: XSpace, options: CaptureOptions) -> list[Note]:
    if any(not _MARKS.isdisjoint(plane.stat_metadata.names) for plane in space.planes):
        return []
    if not options.host_tracer_level:
        return [
            Note("warning", "no step is marked, because host_tracer_level=0 records no markers; "
                 "with 1 or more it does")
        ]  # fmt: skip
    return [
        Note("warning", "no step is marked, so tools guess the steps or have none: put each step "
             "into 'with tfprof.capture.step(number):', or use tfprof.capture.KerasCallback, and "
             "let the capture last for a whole step")
    ]  # fmt: skip


def _on_devices(
    space: XSpace, options: CaptureOptions, framework: str, devices: Sequence[str]
) -> list[Note]:
    if not devices or not options.device_tracer_level:
        return []
    if any(p.name.startswith(DEVICE_PREFIXES) and len(p.events) for p in space.planes):
        return []
    return [
        Note("warning", f"no event of a device, although {framework} has {listed(devices)}: "
             "nothing ran there, or the device's tracer (CUPTI on NVIDIA GPUs) is missing or not "
             "permitted; 'tfprof doctor' on this machine says which")
    ]  # fmt: skip
