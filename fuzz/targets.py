"""What is fuzzed: one function takes bytes, and may raise nothing but tfprof's own errors."""

from __future__ import annotations

import functools
import os
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from fuzz.tools_target import every_tool
from tests._wire.engines import by_messages, by_native, by_pure
from tests._wire.random_messages import random_plan
from tfprof._wire.plan import Plan
from tfprof._wire.text_index import TextIndex
from tfprof.errors import TfprofError
from tfprof.model.runs import KnownNames
from tfprof.model.xspace import Plane
from tfprof.readers import xspace, xspace_plane
from tfprof.readers.checkpoint import open_checkpoint
from tfprof.readers.events import read_events
from tfprof.readers.graphdef import read_graph
from tfprof.readers.oplog import read_op_log
from tfprof.readers.profile_proto import read_profile
from tfprof.readers.run_metadata import read_run_metadata
from tfprof.readers.run_shapes import SeenShapes
from tfprof.readers.sniff import Format, check_expected, sniff

RECORDED = Path(__file__).resolve().parent.parent / "tests/readers/checkpoint/recorded"


def one_input(data: bytes) -> None:
    """Let the first byte pick a target, and give it the others.

    Raises:
        Exception: Whatever a reader should not raise.
    """
    if not data:
        return
    targets = list(TARGETS.values())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            targets[data[0] % len(targets)](data[1:])
    except TfprofError:
        pass


def _run_metadata(data: bytes) -> None:
    index = TextIndex()
    index.extend(["a", "b"])
    known = np.array([True, True, False])
    read_run_metadata(data, KnownNames(index.find, known, known, SeenShapes().take_new))


def _profile(data: bytes) -> None:
    try:
        read_profile(data, classic=False)
    except TfprofError:
        read_profile(data, classic=False, recover=True)


def _sniff(data: bytes) -> None:
    name = sniff(data, "file").format
    for expected in Format:
        try:
            check_expected(data, expected, "file")
        except TfprofError:
            continue
    assert name in Format


def _checkpoint_index(data: bytes) -> None:
    """The index of a bundle whose values are there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "x.index").write_bytes(data)
        for stem in ("objects", "types"):
            values = next(RECORDED.glob(f"{stem}.data-*"))
            shutil.copy(values, folder / values.name.replace(stem, "x"))
            _read_all(folder / "x")


def _checkpoint_v1(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x"
        path.write_bytes(data)
        _read_all(path)


def _read_all(path: Path) -> None:
    checkpoint = open_checkpoint(path)
    for variable in checkpoint.variables:
        for verify in (True, False):
            try:
                checkpoint.read(variable.name, verify=verify)
            except TfprofError:
                continue


@functools.lru_cache(maxsize=256)
def _plan(seed: int) -> Plan:
    return random_plan(random.Random(seed))


def _scan(data: bytes) -> None:
    """All engines agree; the first byte is a plan's seed."""
    if data:
        plan, data = _plan(data[0]), data[1:]
        expected = by_messages(plan, data)
        assert by_pure(plan, data) == expected
        assert by_native(plan, data) in (expected, None)


def _xspace(data: bytes) -> None:
    """However lines are cut, all is the same, and can be asked for."""
    expected = _told(data, threads=1)
    with mock.patch.object(xspace, "_SMALL", 0), mock.patch.object(xspace_plane, "_CHUNK", 64):
        assert _told(data, threads=2) == expected


def _xspace_engines(data: bytes) -> None:
    """Both engines agree."""
    assert _told(data, threads=1, pure=True) == _told(data, threads=1)


def _told(data: bytes, *, threads: int, pure: bool = False) -> str:
    with mock.patch.dict(os.environ, TFPROF_PURE="1" if pure else ""):
        try:
            space = xspace.read_xspace(data, threads=threads)
        except TfprofError as error:
            return str(error)
        texts = space.errors, space.warnings, space.hostnames, [one.text for one in space.notices]
        return repr((texts, [_plane_told(plane) for plane in space.planes]))


def _plane_told(plane: Plane) -> Any:
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


TARGETS: dict[str, Callable[[bytes], object]] = {
    "graph": read_graph,
    "run_metadata": _run_metadata,
    "op_log": read_op_log,
    "profile": _profile,
    "checkpoint_index": _checkpoint_index,
    "checkpoint_v1": _checkpoint_v1,
    "sniff": _sniff,
    "scan": _scan,
    "xspace": _xspace,
    "xspace_engines": _xspace_engines,
    "tools": every_tool,
    "events": read_events,
}
"""By name; inputs know them by their place here."""
