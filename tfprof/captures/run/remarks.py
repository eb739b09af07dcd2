"""Finds what a capture lacks, why, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tfprof.captures.events.timeline.clocks import time_axis
from tfprof.captures.events.timeline.names import is_known_plane
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.run.recorded_levels import DEVICE_LEVEL, HOST_LEVEL, recorded_levels
from tfprof.captures.run.result import Note, Severity, listed
from tfprof.core.text import how_to_capture
from tfprof.core.text.wording import plural, sentence, shortened

_MOST_RECORDED = 20
"""Errors and warnings of the profiler itself that are shown: a damaged or hostile worker's file may
hold any number, and each answer and ``capture.json`` repeats them."""

_DROPPED = "dropped_traces"
_NO_GRAPHS = "WARNING: CommandBuffer disabled when profiling"

ON_THAT_MACHINE = "run 'tfprof doctor' on the machine that was profiled; it says why"


@dataclass(frozen=True, slots=True)
class Lack:
    """Missing data in the capture of one host, as a ``Note`` on answers or a check of the doctor.

    Attributes:
        name: Stable short name, for programs.
        severity: As in ``Note``.
        what: What is missing or wrong, as a clause.
        why: Why, as a clause; empty if unknown.
        remedy: What to do about it, as a clause; empty if there is no remedy.
        code: Lines of code of the remedy; empty if it is in words only.
        is_quoted: Whether ``what`` holds the profiler's own words.
    """

    name: str
    severity: Severity
    what: str
    why: str = ""
    remedy: str = ""
    code: str = ""
    is_quoted: bool = False

    def note(self, host: str = "") -> Note:
        """Put it in one or two sentences; the profiler's own words stay as they are."""
        if self.is_quoted:
            return Note(self.severity, self.what, host)
        said = f"{self.what}: {self.why}" if self.why else self.what
        if self.remedy:
            said = f"{said.removesuffix('.')}. {sentence(self.remedy)}"
        return Note(self.severity, said, host)


def remarks(space: XSpace) -> Iterator[Lack]:
    """Report what the capture of a host states about itself, and what is implausible in it.

    This counts nothing, so it hardly delays opening a capture.
    """
    yield from _recorded("error", space.errors)
    yield from _recorded("warning", space.warnings)
    for notice in space.notices:
        yield Lack("damage", "warning", notice.text)
    lost = n_dropped(space)
    if lost > 0:
        yield Lack(
            "dropped events",
            "warning",
            f"the profiler dropped {plural(lost, 'event')}",
            "there were too many, and times are too short",
            how_to_capture.LESS,
        )
    yield from _nothing(space)
    yield from _unlikely(space)
    if is_without_graphs(space):
        yield Lack(
            "command buffers",
            "info",
            "launches, and the gaps between kernels, are not those of the real run",
            "XLA runs without command buffers (CUDA graphs) while a profiler records",
            how_to_capture.KEEP_GRAPHS,
        )


def is_without_graphs(space: XSpace) -> bool:
    """Whether XLA wrote that it ran without command buffers because of the capture."""
    return any(_NO_GRAPHS in plane.event_metadata.names for plane in space.planes)


def _nothing(space: XSpace) -> Iterator[Lack]:
    """A capture without events; its levels show whether it could have any.

    If it states no levels, it may be meant for programs alone.
    """
    programs = any(len(plane.event_metadata) for plane in space.planes)
    if space.n_events or (programs and recorded_levels(space) is None):
        return
    what = "holds no events, only programs" if programs else "holds no events"
    levels = recorded_levels(space)
    if levels is not None and not levels[HOST_LEVEL]:
        others = "" if levels[DEVICE_LEVEL] else f", and {how_to_capture.NO_DEVICES}"
        why = f"{how_to_capture.NOTHING_OF_HOST}{others}"
        yield Lack("events", "warning", what, why, how_to_capture.OPS, how_to_capture.CAPTURE)
        return
    why = "the profiler was stopped before the program ran, or every tracer was off"
    yield Lack("events", "warning", what, why, how_to_capture.LONGER)


def n_dropped(space: XSpace) -> int:
    """Number of events that the profiler reports as lost."""
    lost = [plane.own_stats().get(_DROPPED) for plane in space.planes]
    return sum(number for number in lost if isinstance(number, int))


_OF_CUPTI = (
    (
        re.compile(r"privilege|permission|permitted", re.IGNORECASE),
        "the program may not use the GPU's profiler",
    ),
    (
        re.compile(r"could not be (?:loaded|found)|not found|no such file", re.IGNORECASE),
        "CUPTI, which records GPUs, was not found",
    ),
    (
        re.compile(r"multiple.subscribers|already|another", re.IGNORECASE),
        "another tool was profiling the GPU",
    ),
)


def why_without_cupti(space: XSpace) -> str:
    """Why CUPTI recorded nothing, according to the profiler; empty if it does not report it."""
    for text in (*space.errors, *space.warnings):
        if "cupti" in text.lower():
            for pattern, why in _OF_CUPTI:
                if pattern.search(text):
                    return why
    return ""


def _recorded(kind: Literal["error", "warning"], texts: Sequence[str]) -> Iterator[Lack]:
    """Errors or warnings that the profiler itself recorded: the first of them, each once."""
    distinct = list(dict.fromkeys(texts))
    for text in distinct[:_MOST_RECORDED]:
        remedy = ON_THAT_MACHINE if "cupti" in text.lower() else ""
        yield Lack(f"recorded {kind}s", kind, shortened(text), remedy=remedy, is_quoted=True)
    if n_more := len(distinct[_MOST_RECORDED:]):
        what = f"the profiler recorded {plural(n_more, f'more {kind}')}; the file holds them all"
        yield Lack(f"more recorded {kind}s", kind, what)


def _unlikely(space: XSpace) -> Iterator[Lack]:
    axis = time_axis(space)
    unknown = [
        f"{plane.name} ({plural(len(plane.events), 'event')})"
        for plane in space.planes
        if len(plane.events) and not is_known_plane(plane.name)
    ]
    if unknown:
        yield Lack(
            "unknown planes",
            "info",
            f"holds planes of an unknown kind: {listed(unknown)}. They are in the trace only",
        )
    if axis.n_impossible:
        yield Lack(
            "impossible times",
            "warning",
            f"{axis.n_impossible:,} events are left out: their durations are negative, or weeks. "
            "The file or its recorder is faulty",
        )
    if axis.far_lines:
        shown = ", ".join(axis.far_lines[:3]) + (", …" if len(axis.far_lines) > 3 else "")
        yield Lack(
            "clocks",
            "warning",
            f"the clock of {shown} is weeks away from that of the other lines: its events are "
            "shown at the beginning of the capture",
        )
