"""Which process and thread of a trace shows what ran on a device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfprof.profiles.model.devices import Device

_PART_OF_DEVICE = re.compile(r"(?s:(.+?)[/:])?((?:stream:|memcpy)(?s:.*))")
_DIGITS = re.compile(r"0*(\d+)")


@dataclass(frozen=True, slots=True)
class Track:
    """Where executions of one device name are drawn.

    Attributes:
        process: Name of the device, also for what is only a stream of it.
        thread: What the track holds: ``ops``, ``kernel launches``, ``stream:7``, ``memcpy``.
    """

    process: str
    thread: str


def tracks_of(names: Sequence[str]) -> list[Track]:
    """The track of each device name, lower case as in ``StepTable.strings``.

    A stream's name often lacks the job that the name of its device begins with; it is drawn
    with the device all the same, unless several devices could be meant.
    """
    devices = [name for name in names if Device.from_name(name).is_canonical]
    return [_track(name, devices) for name in names]


def track_order(track: Track) -> tuple[object, ...]:
    """Sort key: CPUs first, devices and streams by number, launches above streams."""
    return (
        "cpu" not in track.process,
        _natural(track.process),
        track.thread.startswith(("stream", "memcpy")),
        _natural(track.thread),
        track.process,
        track.thread,
    )


def _track(name: str, devices: Sequence[str]) -> Track:
    match = _PART_OF_DEVICE.fullmatch(name)
    if match is None:
        return Track(name, "kernel launches" if "gpu" in name else "ops")
    base = match[1] or ""
    owners = [device for device in devices if base and device.endswith(base)]
    return Track(owners[0] if len(owners) == 1 else base or name, match[2])


def _natural(text: str) -> list[tuple[int, str]]:
    """Text and numbers in turn, so that ``stream:9`` comes before ``stream:10``."""
    parts = _DIGITS.split(text)
    # By length, then by digits: that is by value, and no number is too long for it.
    return [(len(part) if place % 2 else 0, part) for place, part in enumerate(parts)]
