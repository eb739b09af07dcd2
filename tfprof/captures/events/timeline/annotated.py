"""Instructions as annotations of GPU kernels describe them, for programs that the capture lacks.

XLA annotates launches with the instruction and the rest of its framework's op (``name``, after the
``prefix`` that all ops of the program share). With ``--xla_gpu_trace_annotation_level=1`` come type
and name of the op, source file and line, and the shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.numerals import whole_number


class Annotated(NamedTuple):
    """An instruction as an annotation describes it.

    Attributes:
        op_name: The framework's op, with its scopes.
        op_type: Its type; empty if unknown.
        source_file: File of the code that made it; empty if unknown.
        source_line: Line in this file; 0 if unknown.
        shape: Shape of the result; empty if unknown.
    """

    op_name: str
    op_type: str = ""
    source_file: str = ""
    source_line: int = 0
    shape: str = ""

    @property
    def tf_op(self) -> str:
        """The framework's op as in events: ``scope/name:Type``, empty for none."""
        return f"{self.op_name}:{self.op_type}" if self.op_name or self.op_type else ""

    @property
    def place(self) -> str:
        """File and line as ``file:line``; empty without any."""
        return f"{self.source_file}:{self.source_line}" if self.source_file else ""


_NOTHING = Annotated("")
_DETAILS = ("op_name", "name", "prefix", "op_type", "source_file", "shape")


def annotated_instructions(timeline: Timeline) -> dict[HloKey, Annotated]:
    """The instructions that annotations of GPU kernels describe."""
    if not any(len(timeline.stat(name)) for name in _DETAILS):
        return {}
    gpus = {n for n, plane in enumerate(timeline.space.planes) if plane.name.startswith(GPU_PREFIX)}
    on_gpu = timeline.of_lines(lambda line: line.plane in gpus and not line.is_derived)
    events = timeline.stat("hlo_op").events.astype(np.int64)
    events = events[on_gpu[events]]
    if not len(events):
        return {}
    keys, place = hlo_keys(timeline, events)
    used, first = np.unique(place, return_index=True)
    found = {
        key: _of_event(timeline, event)
        for number, event in zip(used.tolist(), events[first].tolist(), strict=True)
        if (key := keys[number]) is not None
    }
    return {key: one for key, one in found.items() if one != _NOTHING}


def _of_event(timeline: Timeline, event: int) -> Annotated:
    at = np.array([event])

    def text(name: str) -> str:
        stat = timeline.stat(name)
        number = int(stat.texts_at(at)[0])
        return stat.texts[number] if number >= 0 else ""

    short = "/".join(part for part in (text("prefix"), text("name")) if part)
    line = text("source_line")  # the collector writes values of annotations as texts or numbers
    number = whole_number(line, int(timeline.stat("source_line").at(at)[0]))
    return Annotated(
        text("op_name") or short, text("op_type"), text("source_file"), number, text("shape")
    )
