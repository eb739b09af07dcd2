"""The cores of TPUs: their ids, chips and hosts."""

from __future__ import annotations

import re
from typing import NamedTuple

from tfprof.captures.events.timeline.names import TPU_PREFIX
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.numerals import whole_number
from tfprof.core.wire.walk import LENGTH_DELIMITED, VARINT, WireError, walk

FIRST_SPARSE_CORE = 1_000_000
"""Ids of SparseCores begin here."""

_PLANE = re.compile(re.escape(TPU_PREFIX) + r"(\d+)(?: (SparseCore) (\d+))?")

_HOST_NAME, _ORDINAL, _CORE, _LOCAL_CHIP, _CHIP, _GLOBAL_CORE = range(1, 7)


class Core(NamedTuple):
    """A TensorCore or SparseCore.

    Attributes:
        plane: Place of its plane in the space.
        id: Id of its plane, or its place if several planes have the same id; those of SparseCores
            begin at ``FIRST_SPARSE_CORE``.
        ordinal: Number of the device on its host.
        is_sparse: Whether it is a SparseCore.
        host_name: The machine; empty if the file does not state it.
        core: Its number on its chip.
        chip: Number of its chip in the whole system.
    """

    plane: int
    id: int
    ordinal: int
    is_sparse: bool
    host_name: str
    core: int
    chip: int

    @property
    def label(self) -> str:
        """Its name on its host."""
        return f"{self.ordinal} SparseCore {self.core}" if self.is_sparse else str(self.ordinal)


def tpu_cores(timeline: Timeline) -> list[Core]:
    """The cores of a host, TensorCores first, in the order of their planes."""
    cores = []
    for number, plane in enumerate(timeline.space.planes):
        match = _PLANE.fullmatch(plane.name)
        if match is None:
            continue
        details, host_name = _details(plane.own_stats().get("core_details"))
        is_sparse = match[2] is not None
        core = Core(
            number,
            plane.id + (FIRST_SPARSE_CORE if is_sparse else 0),
            details.get(_ORDINAL, whole_number(match[1])),
            is_sparse,
            host_name,
            whole_number(match[3]) if is_sparse else details.get(_CORE, 0),
            details.get(_CHIP, whole_number(match[1])),
        )
        cores.append(core)
    if len({core.id for core in cores}) < len(cores):  # the recorder did not write ids: all are 0
        cores = [
            core._replace(id=core.plane + FIRST_SPARSE_CORE * core.is_sparse) for core in cores
        ]
    return sorted(cores, key=lambda core: core.is_sparse)


def _details(data: object) -> tuple[dict[int, int], str]:
    """Numbers of a serialized ``CoreDetails`` by field, and its host name."""
    numbers: dict[int, int] = {}
    name = ""
    if not isinstance(data, bytes):
        return numbers, name
    try:
        for field in walk(memoryview(data)):
            if field.wire_type == VARINT:
                numbers[field.number] = field.value
            elif field.wire_type == LENGTH_DELIMITED and field.number == _HOST_NAME:
                name = data[field.offset : field.offset + field.value].decode(errors="replace")
    except WireError:  # the rest is known from the plane's name
        return {}, ""
    return numbers, name
