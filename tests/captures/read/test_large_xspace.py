"""Large captures: bytes are released, columns lie in files, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.captures.tools.oracle import folder
from tfprof import tools
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.read import xspace_plane
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb

N_EVENTS = 3000


def _field(number: int, content: bytes) -> bytes:
    size, octets = len(content), bytearray([number << 3 | 2])
    while size >= 0x80:
        octets.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(octets) + bytes([size]) + content


def mixed_capture(far_id: int = 1) -> bytes:
    """Two megabytes, with event metadata between the lines, and an id for the last event."""
    parts = [_field(2, b"/host:CPU")]
    for number in range(6):
        line = pb.XLine(id=number, name=f"thread {number}", display_name="shown " * number)
        for place in range(N_EVENTS):
            event = line.events.add(metadata_id=number, offset_ps=place * 1000, duration_ps=500)
            event.stats.add(metadata_id=1, str_value=f"text {place % 7} " + "x" * 30)
            event.stats.add(metadata_id=2, int64_value=place << 33 if place % 5 else place)
            event.stats.add(metadata_id=3, bytes_value=bytes([place % 256]) * (place % 200))
        if number == 5:
            line.events[-1].metadata_id = far_id
        parts.append(_field(3, line.SerializeToString()))
        entry = pb.XPlane()
        entry.event_metadata[number].name = f"event {number} " + "y" * 9000
        entry.stat_metadata[number + 1].name = f"stat {number + 1}"
        parts.append(entry.SerializeToString())
    return _field(1, b"".join(parts))


def reported(space: XSpace) -> list[object]:
    """All data of a space."""
    (plane,) = space.planes
    events = plane.events
    columns = (
        events.first, events.metadata_ids, events.values, events.which, events.durations_ps,
        events.stats.first, events.stats.metadata_ids, events.stats.kinds,
    )  # fmt: skip
    stats = [plane.stat(f"stat {number}") for number in (1, 2, 3)]
    return [
        plane.name, plane.lines.shown, plane.event_metadata.names.all, space.notices,
        *[column.tolist() for column in columns],
        *[(one.events.tolist(), one.texts[0].tolist(), one.texts[1]) for one in stats],
        stats[1].signed.tolist(), plane.stats_of(6 * N_EVENTS - 1),
    ]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("memory_bytes", [None, 0])
@pytest.mark.parametrize("far_id", [5, 1 << 40])
def test_a_file_reads_as_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int, memory_bytes: int | None,
    far_id: int,
) -> None:  # fmt: skip
    path = tmp_path / "one.xplane.pb"
    path.write_bytes(mixed_capture(far_id))
    (expected,) = [reported(read_xspace(path.read_bytes(), threads=1))]
    for name in ("_CHUNK", "_TASK", "_ALONE"):
        monkeypatch.setattr(xspace_plane, name, 1 << 16)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    space = read_xspace(path, threads=threads, memory_bytes=memory_bytes)
    assert reported(space) == expected
    assert space.planes[0].event_name(0).startswith("event 0 y")
    assert int(space.planes[0].events.metadata_ids[-1]) == far_id
    assert list(tmp_path.iterdir()) == [path]
    assert (space.room.n_spilled_bytes > 0) == (memory_bytes == 0)


def test_equal_texts_are_held_once() -> None:
    space = pb.XSpace()
    line = space.planes.add().lines.add()
    for text in ("a", "bc", "a", "", "bc"):
        line.events.add().stats.add(str_value=text)
    stats = read_xspace(space.SerializeToString()).planes[0].events.stats
    assert bytes(stats.data) == b"\x01a\x02bc\x00"
    assert stats.values.tolist() == [0, 2, 0, 5, 2]


@pytest.mark.parametrize("capture", ["cpu-memory-bfc", "gpu-v100-bert-tf23", "tpu-v6e-jax"])
@pytest.mark.parametrize("classic", [False, True])
def test_tools_answer_the_same_from_columns_in_files(
    capture: str, classic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfprof.files.spill._SMALL_BYTES", 1)
    run, spilled = (tools.open_run(folder(capture), memory=memory) for memory in (None, 0))
    names = ("overview", "op_stats", "memory", "input_pipeline", "kernel_stats", "pod")
    for name in names:
        tool = getattr(tools, name)
        answers = [tool(one, classic=classic).to_dict() for one in (spilled, run)]
        assert answers[0] == answers[1], name
    rooms = [host.space.room for host in spilled.hosts]
    assert all(room.n_spilled_bytes for room in rooms)


def test_memory_is_written_as_people_do(tmp_path: Path) -> None:
    path = tmp_path / "one.xplane.pb"
    path.write_bytes(mixed_capture())
    run = tools.open_run(path, memory="1K")
    assert run.hosts[0].space.room.n_spilled_bytes > 0
    assert np.array_equal(run.hosts[0].timeline.durations_ps, np.full(6 * N_EVENTS, 500))
    with pytest.raises(ValueError, match="'much' is not a size of memory"):
        tools.open_run(path, memory="much")
