"""What is fuzzed: one function takes bytes, and may raise nothing but tfprof's own errors."""

from __future__ import annotations

import contextlib
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

import tfprof
from fuzz.budget import question
from fuzz.foreign_targets import FOREIGN
from fuzz.tools_target import every_tool
from tests.core.wire.engines import by_messages, by_native, by_pure
from tests.core.wire.random_messages import random_plan
from tests.hlo_programs import capture
from tfprof.captures.model.xspace import Plane
from tfprof.captures.read import xspace, xspace_plane
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.buffer_memory import memory_viewer
from tfprof.captures.tools.hlo_graph import graph_viewer
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.roofline_model import roofline
from tfprof.core.progress import NoProgress
from tfprof.core.wire import messages as pb
from tfprof.core.wire.plan import Plan
from tfprof.core.wire.text_index import TextIndex
from tfprof.errors import TfprofError, TfprofWarning
from tfprof.files import disk as files
from tfprof.files.checkpoint import open_checkpoint
from tfprof.files.events import read_events
from tfprof.files.open import LoadedFile
from tfprof.files.sniff import Format, check_expected, sniff
from tfprof.graphs.read.graphdef import read_graph
from tfprof.profiles.model.runs import KnownNames
from tfprof.profiles.read.oplog import read_op_log
from tfprof.profiles.read.profile_proto import read_profile
from tfprof.profiles.read.run_metadata import SeenShapes, read_run_metadata
from tfprof.testing.builders import graph, op, options
from tfprof.testing.xspace_builders import event, gpu, host, line

RECORDED = Path(__file__).resolve().parent.parent / "tests/files/checkpoint/recorded"


def one_input(data: bytes) -> None:
    """Let the first byte pick a target, and give it the others.

    Raises:
        Exception: Whatever a reader should not raise.
    """
    if not data:
        return
    targets = list(TARGETS.values())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(targets[data[0] % len(targets)], data[1:])


def asked(ask: Callable[[Any], object], given: object) -> None:
    """Ask, and accept tfprof's own errors."""
    with contextlib.suppress(TfprofError):
        ask(given)


def _whole(name: str, ask: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """A target that runs one function on its data."""

    def answer(data: bytes) -> None:
        with question(name):
            ask(data)

    return answer


def _run_metadata(data: bytes) -> None:
    index = TextIndex()
    index.extend(["a", "b"])
    known = np.array([True, True, False])
    read_run_metadata(data, KnownNames(index.find, known, known, SeenShapes().take_new))


def _profile(data: bytes) -> None:
    try:
        with question("profile"):
            read_profile(data, classic=False)
    except TfprofError:
        with question("what is left of a profile"):
            read_profile(data, classic=False, recover=True)


def _sniff(data: bytes) -> None:
    with question("sniff"):
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
    """However lines are cut, all data are the same and readable."""
    expected = _told(data, threads=1)
    with mock.patch.object(xspace, "_SMALL", 0), mock.patch.object(xspace_plane, "_CHUNK", 64):
        assert _told(data, threads=2) == expected


def _xspace_engines(data: bytes) -> None:
    """Both engines agree."""
    assert _told(data, threads=1, pure=True) == _told(data, threads=1)


def _told(data: bytes, *, threads: int, pure: bool = False) -> str:
    with mock.patch.dict(os.environ, TFPROF_PURE="1" if pure else ""):
        try:
            with question("xspace"):
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


def _views(data: bytes) -> None:
    """Queries on a saved profile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TfprofWarning)
        with question("load"):
            profiler = tfprof.load(data)
        with question("serialize"):
            profiler.serialize_to_string()
        with question("advise"):
            profiler.findings()
        for kind in ("scope", "graph", "op", "code"):
            _view(profiler, kind)
        _files(profiler, "pprof:outfile=p")
        if len(profiler.steps) < 30:  # it is a file for each
            _files(profiler, "timeline:outfile=t")


def _view(profiler: tfprof.Profiler, kind: str) -> None:
    with question(f"{kind} view"):
        try:
            tree = profiler.view(kind, options(select=["micros", "bytes", "input_shapes"]))
            tree.to_rows()
            profiler.report(kind, options())
        except TfprofError:
            return


def _files(profiler: tfprof.Profiler, output: str) -> None:
    for kind in ("scope", "graph", "code"):
        with question(f"{output} of the {kind} view"):
            try:
                for file in profiler.output_files(kind, options(output=output)):
                    for _ in file.chunks:
                        pass
            except TfprofError:
                continue


def _step(data: bytes) -> None:
    """A step of a program whose names are known."""
    profiler = _small_profiler()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TfprofWarning)
        with question("add_step"):
            profiler.add_step(0, data)
        _view(profiler, "graph")
        _files(profiler, "timeline:outfile=t")


def _small_profiler() -> tfprof.Profiler:
    x, y = op("x", "Placeholder"), op("dense/MatMul", "MatMul", "x", "x")
    return tfprof.Profiler(graph(x, y), classic=False)


def _flops(data: bytes) -> None:
    with question("flops"):
        report = tfprof.flops(data)
    with question("by scope"):
        _ = report.by_scope
    with question("rows"):
        report.to_rows()


def _hlo(data: bytes) -> None:
    """What tools say of a program that ran."""
    space = capture(pb.HloProto())
    plane = space.planes[0]
    plane.event_metadata[1].stats[0].bytes_value = data
    ran = event("fusion.1", 0, 10, hlo_op="fusion", hlo_module="test", program_id=1)
    space.planes.add().CopyFrom(gpu(line(ran, name="Stream #1")))
    space.planes.add().CopyFrom(host(line(event("train", 0, 20, step_num=1, _r=1))))
    run = open_run(space)
    for tool in (hlo_stats, memory_viewer, graph_viewer, op_profile, roofline):
        with question(tool.__name__):
            asked(lambda _, tool=tool: tool(run).to_dict(), b"")


def _changing(data: bytes) -> None:
    """Files that are cut or written anew while they are read: the first byte says when and how."""
    when, cut = (data[0] >> 1, data[0] & 1) if data else (0, 0)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "x")
        path.write_bytes(data * (1 + _LARGE_BYTES // max(1, len(data))))

        def change() -> None:
            with path.open("r+b") as stream:
                stream.write(data[::-1])
                if cut:
                    stream.truncate(when << 8)

        with mock.patch.multiple(files, _LARGE_BYTES=_LARGE_BYTES, _CHUNK_BYTES=1 << 12):
            with path.open("rb") as stream:
                try:
                    content = files.content_of(stream, "x", _Changing(when >> 4, change))
                except TfprofError:
                    content = path.read_bytes()
            asked(xspace.read_xspace, LoadedFile("x", content))
            with path.open("rb") as stream:
                parts = files.file_parts(stream, "x")
                asked(sniff, parts)
                change()
                asked(sniff, parts)
                asked(read_events, parts)


_LARGE_BYTES = 1 << 15
"""From this size on ``changing`` has files read in the ways of large ones."""


class _Changing(NoProgress):
    """Changes a file when so many parts of it have been read."""

    def __init__(self, n_parts: int, change: Callable[[], None]) -> None:
        self._left, self._change = n_parts, change

    def advance(self, n_bytes: int) -> None:
        self._left -= 1
        if self._left == 0:
            self._change()


TARGETS: dict[str, Callable[[bytes], object]] = {
    "graph": _whole("graph", read_graph),
    "run_metadata": _whole("run metadata", _run_metadata),
    "op_log": _whole("op log", read_op_log),
    "profile": _profile,
    "checkpoint_index": _checkpoint_index,
    "checkpoint_v1": _checkpoint_v1,
    "sniff": _sniff,
    "scan": _scan,
    "xspace": _xspace,
    "xspace_engines": _xspace_engines,
    "tools": every_tool,
    "events": _whole("events", read_events),
    "views": _views,
    "step": _step,
    "flops": _flops,
    "hlo": _hlo,
    "changing": _changing,
    **FOREIGN,
}
"""By name; inputs know them by their place here."""

MESSAGES: dict[str, str] = {
    "graph": "GraphDef", "run_metadata": "RunMetadata", "op_log": "OpLogProto",
    "profile": "ProfileProto", "xspace": "XSpace", "xspace_engines": "XSpace", "tools": "XSpace",
    "views": "ProfileProto", "step": "RunMetadata", "flops": "GraphDef", "hlo": "HloProto",
    "pprof": "Profile",
}  # fmt: skip
"""Of the targets that read messages, which ones: these get hostile values."""
