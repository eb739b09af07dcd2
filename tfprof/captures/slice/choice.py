"""The user's choice of the part of a capture that a slice holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tfprof.captures.events.timeline.clocks import MOST_NS
from tfprof.captures.events.timeline.names import TASK_PLANE, is_device
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.model.xspace import METADATA_PLANE, SLICE_PLANE
from tfprof.captures.run.result import listed
from tfprof.core.text.matching import compiled
from tfprof.errors import UsageError

_ALWAYS = (TASK_PLANE, METADATA_PLANE, SLICE_PLANE)
"""Planes that describe the capture and hold no recorded events."""

Range = tuple[int | None, int | None]
Seconds = tuple[float | None, float | None]


@dataclass(frozen=True)
class SliceChoice:
    """The part of a capture to keep; every limit is optional.

    Attributes:
        steps: Numbers of the first and the last step, both kept; None for an open end.
        time: Seconds since the first event of a host. Only events that began and ended between
            them are kept, as if the profiler had recorded only then.
        device: Regular expression to find in the names of devices. Planes of hosts are kept.
        planes: The same for planes of any kind; planes that describe the capture and its programs
            are kept.
        hosts: The same for the names of files up to ``.xplane.pb``.

    Raises:
        UsageError: A range ends before it begins, or a regular expression is invalid.
    """

    steps: Range | None = None
    time: Seconds | None = None
    device: str | None = None
    planes: str | None = None
    hosts: str | None = None

    def __post_init__(self) -> None:
        for name in ("device", "planes", "hosts"):
            self._pattern(name)
        for name, unit, ends in (("steps", "", self.steps), ("time", " s", self.time)):
            if ends is None:
                continue
            first, last = ends
            if first is not None and last is not None and first > last:
                raise UsageError(f"{name}: {first}{unit} lies behind {last}{unit}; swap them")
        if any(one is not None and not math.isfinite(one) for one in self.time or ()):
            raise UsageError(f"time={self.time!r} must be finite numbers of seconds")

    @property
    def takes_all_events(self) -> bool:
        """Whether kept planes stay whole."""
        return self.steps is None and self.time is None

    @property
    def takes_all(self) -> bool:
        """Whether kept hosts stay whole."""
        return self.takes_all_events and self.device is None and self.planes is None

    @cached_property
    def span_ps(self) -> tuple[int, int]:
        """The time in ps; open ends are further away than any event."""
        ends = (None, None) if self.time is None else self.time
        far = MOST_NS * 1000
        first, last = (
            default if end is None else max(-far, min(far, round(end * 1e12)))
            for end, default in zip(ends, (-far, 2 * far), strict=True)
        )
        return first, last

    def keeps_plane(self, name: str) -> bool:
        """Whether a plane of this name is kept."""
        if name in _ALWAYS:
            return True
        device, planes = self._pattern("device"), self._pattern("planes")
        if device is not None and is_device(name) and not device.search(name):
            return False
        return planes is None or planes.search(name) is not None

    def check_planes(self, names: Iterable[str]) -> None:
        """Make sure that each pattern matches a plane.

        Args:
            names: Planes of all kept hosts.

        Raises:
            UsageError: A pattern does not match any name.
        """
        known = list(dict.fromkeys(name for name in names if name not in _ALWAYS))
        devices = [name for name in known if is_device(name)]
        for option, what, of_kind in (("device", "device", devices), ("planes", "plane", known)):
            pattern = self._pattern(option)
            if pattern is not None and not any(map(pattern.search, of_kind)):
                has = listed(of_kind) if of_kind else f"no {what}"
                raise UsageError(f"no {what} matches {pattern.pattern!r}; the capture has: {has}")

    def chosen_hosts(self, names: Sequence[str]) -> list[bool]:
        """Whether to keep each of some hosts.

        Raises:
            UsageError: No host matches.
        """
        pattern = self._pattern("hosts")
        kept = [pattern is None or pattern.search(name) is not None for name in names]
        if pattern is not None and not any(kept):
            raise UsageError(f"no host matches {pattern.pattern!r}; the run has: {listed(names)}")
        return kept

    def places(self, steps: RunSteps) -> list[int]:
        """The places of the kept steps of a run.

        Raises:
            UsageError: The first or the last step does not exist, or no step has a number.
        """
        first, last = self.steps or (None, None)
        steps.places(tuple(end for end in (first, last) if end is not None))
        numbers = [name.rpartition(" ")[2] for name in steps.names]
        places = [
            place
            for place, number in enumerate(numbers)
            if re.fullmatch(r"-?\d+", number)
            and (first is None or int(number) >= first)
            and (last is None or int(number) <= last)
        ]
        if not places:
            raise UsageError("no step is chosen: none in this run has a number")
        return places

    def _pattern(self, name: str) -> re.Pattern[str] | None:
        text = getattr(self, name)
        if text is None:
            return None
        try:
            return compiled(text)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None
