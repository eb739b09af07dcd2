"""The bytes in which TPU ops state their use of memories."""

import pytest

from tests.captures.tools.oracle import folder
from tfprof.captures.hlo.memory_breakdown import HBM, MemoryAccess, memory_accesses
from tfprof.captures.read.xspace import read_xspace
from tfprof.errors import MalformedProfileError


def entry(kind, space, size):
    inside = bytes([8, kind, 16, space, 24, size])
    return bytes([10, len(inside)]) + inside


def test_reads_and_writes():
    data = entry(1, 1, 100) + entry(2, 3, 7) + entry(0, 0, 1) + b"\x10\x05"
    assert memory_accesses(data) == [
        MemoryAccess(True, False, HBM, 100),
        MemoryAccess(False, True, 3, 7),
        MemoryAccess(False, False, 0, 1),
    ]


def test_nothing():
    assert memory_accesses(b"") == []
    assert memory_accesses(b"\x0a\x00") == [MemoryAccess(False, False, 0, 0)]


@pytest.mark.parametrize("data", [b"\x0a\x05", b"\x0a\x02\x08\xff", b"\xff"])
def test_damage_is_refused(data):
    with pytest.raises(MalformedProfileError):
        memory_accesses(data)


def test_a_real_capture():
    space = read_xspace(folder("tpu-v6e-jax") / "tpu_inference_2.xplane.pb")
    plane = space.plane("/device:TPU:0")
    (key,) = plane.stat_metadata.keys_of("memory_access_breakdown")
    stats = plane.event_metadata.stats
    found = [
        memory_accesses(stats.octets(row))
        for row in range(len(stats))
        if int(stats.metadata_ids[row]) == key
    ]
    assert found
    assert all(access.is_read != access.is_write for each in found for access in each)
    assert any(access.memory_space == HBM and access.n_bytes for each in found for access in each)
