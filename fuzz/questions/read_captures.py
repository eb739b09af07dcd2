"""Readers of captures: one engine and the other, one thread and two, all data that they return."""

from __future__ import annotations

import os
from typing import Any
from unittest import mock

from fuzz.case import Question
from tfprof.captures.model.xspace import Plane
from tfprof.captures.read import xspace, xspace_plane
from tfprof.captures.read.hlo import read_hlo
from tfprof.errors import TfprofError

PURE = mock.patch.dict(os.environ, TFPROF_PURE="1")


def _read(data: bytes) -> None:
    xspace.read_xspace(data, threads=1)


def _all_data(data: bytes) -> None:
    _shown(data, threads=1)


def _in_pieces(data: bytes) -> None:
    """However lines are cut, all data are the same and readable."""
    expected = _shown(data, threads=1)
    with mock.patch.object(xspace, "_SMALL", 0), mock.patch.object(xspace_plane, "_CHUNK", 64):
        found = _shown(data, threads=2)
    assert found == expected, "two threads read something else than one"


def _engines(data: bytes) -> None:
    with PURE:
        expected = _shown(data, threads=1)
    assert _shown(data, threads=1) == expected, "the compiled reader reads something else"


def _shown(data: bytes, *, threads: int) -> str:
    try:
        space = xspace.read_xspace(data, threads=threads)
    except TfprofError as error:
        return str(error)
    texts = space.errors, space.warnings, space.hostnames, [one.text for one in space.notices]
    return repr((texts, [_of_plane(plane) for plane in space.planes]))


def _of_plane(plane: Plane) -> Any:
    events, entries, lines = plane.events, plane.event_metadata, plane.lines
    columns = (events.first, events.metadata_ids, events.values, events.which, events.durations_ps)
    names = dict.fromkeys(plane.stat_metadata.name_of.values())
    return (
        plane.name,
        [column.tolist() for column in columns],
        [column.tolist() for column in (lines.ids, lines.timestamps_ns, lines.durations_ps)],
        [(name, plane.stat(name).floats.tolist(), plane.stat(name).texts[1]) for name in names],
        (entries.keys.tolist(), entries.shown, lines.names.all, plane.own_stats()),
    )


def _program(data: bytes) -> None:
    read_hlo(data, source="program")


XSPACE, HLO = frozenset({"xspace"}), frozenset({"hlo"})

QUESTIONS = (
    Question("read xspace", XSPACE, _read, "readers", of_bytes=True),
    Question("read all of xspace", XSPACE, _all_data, "readers", of_bytes=True),
    Question("xspace in pieces", XSPACE, _in_pieces, "engines", of_bytes=True),
    Question("xspace by both engines", XSPACE, _engines, "engines", of_bytes=True),
    Question("read hlo", HLO, _program, "readers", of_bytes=True),
)
