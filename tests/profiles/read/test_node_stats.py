"""Run metadata as columns, against what protobuf's own messages tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfprof.core.columns.compact import CompactColumn
from tfprof.core.columns.shapes import OutputShapes
from tfprof.core.wire import messages as pb
from tfprof.core.wire.text_index import TextIndex
from tfprof.errors import MalformedProfileError, UnknownFormatError
from tfprof.profiles.model.runs import DeviceBlocks, KnownNames, PlacedRun, RunColumns
from tfprof.profiles.read.run_metadata import SeenShapes, read_run_metadata

pytestmark = pytest.mark.slow

sizes = st.one_of(st.integers(0, 10**12), st.integers(-(2**40), 2**40), st.just(0))
names = st.sampled_from(["a", "b", "scope/c", "new", "_arg_x", "größe"])
IDS = {"a": 0, "b": 1, "scope/c": 2}
IS_OP = np.array([True, False, True, False])
WANTED = np.array([True, False, True, False])


def known() -> KnownNames:
    index = TextIndex()
    index.extend(list(IDS))
    return KnownNames(index.find, IS_OP, WANTED, SeenShapes().take_new)


@st.composite
def node_stats(draw: st.DrawFn) -> pb.NodeExecStats:
    stat = pb.NodeExecStats(
        node_name=draw(names),
        all_start_micros=draw(sizes),
        op_end_rel_micros=draw(sizes),
        all_start_nanos=draw(sizes),
        op_end_rel_nanos=draw(sizes),
        timeline_label=draw(st.sampled_from(["", "a = MatMul(b)", "ö = ö()"])),
        thread_id=draw(st.integers(0, 9)),
    )
    for _ in range(draw(st.integers(0, 3))):
        stat.memory.add(
            allocator_name=draw(st.sampled_from(["cpu", "GPU_0_bfc", "größe"])),
            total_bytes=draw(sizes),
            peak_bytes=draw(sizes),
            live_bytes=draw(sizes),
            allocator_bytes_in_use=draw(sizes),
        ).allocation_records.add(alloc_micros=3, alloc_bytes=draw(sizes))
    if draw(st.booleans()):
        stat.memory_stats.temp_memory_size = draw(sizes)
        stat.memory_stats.persistent_memory_size = draw(sizes)
        stat.memory_stats.persistent_tensor_alloc_ids.append(draw(sizes))
    for slot in range(draw(st.integers(0, 3))):
        output = stat.output.add(slot=draw(st.sampled_from([slot, -1, 2**31 - 1])))
        if draw(st.booleans()):
            description = output.tensor_description
            for dim in draw(st.lists(st.integers(0, 5), max_size=3)):
                description.shape.dim.add(size=dim)
            if draw(st.booleans()):
                description.allocation_description.requested_bytes = draw(sizes)
                description.allocation_description.allocated_bytes = draw(sizes)
                description.allocation_description.ptr = draw(st.integers(0, 2**64 - 1))
    return stat


def as_dict(columns: Any) -> dict[str, Any]:
    return {
        field.name: plain(getattr(columns, field.name))
        for field in dataclasses.fields(columns)
        if field.name != "devices"
    }


def plain(value: Any) -> Any:
    if isinstance(value, CompactColumn):
        return value.array().tolist()
    if dataclasses.is_dataclass(value):
        return as_dict(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def read(run: pb.RunMetadata | bytes) -> dict[str, Any]:
    columns = read_run_metadata(run, known())
    assert columns is not None
    found = as_dict(columns)
    names = columns.allocator_names  # numbered in order of appearance, which says nothing
    used, made = found["stats"]["allocators"], found["stats"]["allocations"]
    tells = [
        bool(level) or place in made["allocators"]
        for place, level in enumerate(used["bytes_in_use"])
    ]
    used["name_ids"] = [
        names[number] if told else "" for number, told in zip(used["name_ids"], tells, strict=True)
    ]
    found["allocator_names"] = sorted(names)
    return {**found, "devices": columns.devices, "sums": sums_of(columns)}


def sums_of(columns: RunColumns) -> list[list[int]]:
    """Requested, peak, residual and output bytes of the stats with a start, if all count."""
    n_stats = len(columns.name_ids)
    all_stats = np.ones(n_stats, np.bool_)
    device = DeviceBlocks(np.array([n_stats]), np.zeros(1, int), np.zeros(1, int), np.ones(1, bool))
    placed = PlacedRun(
        columns.stats,
        np.arange(n_stats, dtype=np.int32),
        all_stats,
        all_stats,
        device,
        {},
        columns.allocator_names,
        np.zeros(len(columns.allocator_names) + 1, np.int64),
        classic=False,
    )
    values: list[list[int]] = placed.detail().memory.values[5:9].T.tolist()
    return values


def expected(run: pb.RunMetadata) -> dict[str, Any]:
    """The same, stat by stat."""
    stats = [stat for block in run.step_stats.dev_stats for stat in block.node_stats]
    ids = [IDS.get(stat.node_name, -1) for stat in stats]
    allocators = [(place, used) for place, stat in enumerate(stats) for used in stat.memory]
    telling = [
        used for _, used in allocators if used.allocator_bytes_in_use or used.allocation_records
    ]
    outputs = list(described(stats))
    both = [memory_of(stat) for stat in stats]
    return {
        "devices": [(block.device, len(block.node_stats)) for block in run.step_stats.dev_stats],
        "name_ids": ids,
        "unknown": [
            (place, stat.node_name, stat.timeline_label)
            for place, stat in enumerate(stats)
            if not IS_OP[ids[place]]
        ],
        "stats": {
            "start_micros": [stat.all_start_micros for stat in stats],
            "duration_micros": [stat.op_end_rel_micros for stat in stats],
            "start_nanos": [stat.all_start_nanos for stat in stats],
            "duration_nanos": [stat.op_end_rel_nanos for stat in stats],
            "temporary_bytes": [sums["temporary"] for sums in both],
            "persistent_bytes": [sums["persistent"] for sums in both],
            "outputs": table(["stats", "slots", "sizes", "addresses"], outputs),
            "allocators": table(
                ["stats", "name_ids", "total_bytes", "peak_bytes", "live_bytes", "bytes_in_use"],
                [
                    (
                        place,
                        used.allocator_name if used in telling else "",
                        used.total_bytes,
                        used.peak_bytes,
                        used.live_bytes,
                        used.allocator_bytes_in_use,
                    )
                    for place, used in allocators
                ],
            ),
            "allocations": table(
                ["allocators", "micros", "sizes"],
                [
                    (place, one.alloc_micros, one.alloc_bytes)
                    for place, (_, used) in enumerate(allocators)
                    for one in used.allocation_records
                ],
            ),
        },
        "sums": [
            [
                wrapped(sums["total"] + sums["extra"]),
                wrapped(sums["peak"] + sums["extra"]),
                wrapped(sums["live"] + sums["persistent"]),
                wrapped(sum(size for owner, _, size, _ in outputs if owner == place)),
            ]
            for place, sums in enumerate(both)
            if stats[place].all_start_micros > 0
        ],
        "allocator_names": sorted({used.allocator_name for used in telling}),
        "output_shapes": list(
            dict.fromkeys(
                (ids[place], shapes_of(stat))
                for place, stat in enumerate(stats)
                if WANTED[ids[place]] and stat.output
            )
        ),
        "fed_shapes": {},
    }


def wrapped(number: int) -> int:
    """As 64 bits hold it; only damaged files have such sums."""
    return (number + 2**63) % 2**64 - 2**63


def table(names: list[str], rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def described(stats: list[pb.NodeExecStats]) -> Iterator[tuple[int, int, int, int]]:
    for place, stat in enumerate(stats):
        for output in stat.output:
            if output.tensor_description.HasField("allocation_description"):
                one = output.tensor_description.allocation_description
                size = max(one.allocated_bytes, one.requested_bytes)
                yield place, output.slot, size, wrapped(one.ptr)


def memory_of(stat: pb.NodeExecStats) -> dict[str, int]:
    memory = stat.memory_stats
    return {
        "total": sum(used.total_bytes for used in stat.memory),
        "peak": sum(used.peak_bytes for used in stat.memory),
        "live": sum(used.live_bytes for used in stat.memory),
        "temporary": memory.temp_memory_size,
        "persistent": memory.persistent_memory_size,
        "extra": memory.temp_memory_size + memory.persistent_memory_size,
    }


def shapes_of(stat: pb.NodeExecStats) -> OutputShapes:
    return tuple(
        (
            output.slot,
            tuple(dim.size for dim in output.tensor_description.shape.dim)
            if output.HasField("tensor_description")
            else None,
        )
        for output in stat.output
    )


@pytest.fixture(params=["native", "pure"], autouse=True)
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFPROF_PURE", "1" if request.param == "pure" else "")


def run_of(stats: list[pb.NodeExecStats]) -> pb.RunMetadata:
    run = pb.RunMetadata()
    run.step_stats.dev_stats.add(device="/cpu:0", node_stats=stats[:2])
    run.step_stats.dev_stats.add(device="/gpu:0", node_stats=stats[2:])
    return run


fixtures_stay = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@fixtures_stay
@given(st.lists(node_stats(), max_size=6))
def test_columns_are_what_the_messages_say(stats: list[pb.NodeExecStats]) -> None:
    run = run_of(stats)
    assert read(run) == read(run.SerializeToString()) == expected(run)


@fixtures_stay
@given(st.lists(node_stats(), min_size=1, max_size=3), st.data())
def test_damaged_bytes_are_read_alike_or_refused(
    stats: list[pb.NodeExecStats], data: st.DataObject
) -> None:
    whole = run_of(stats).SerializeToString()
    place = data.draw(st.integers(0, len(whole)))
    damaged = whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + 1 :]
    try:
        found = read(damaged)
    except (MalformedProfileError, UnknownFormatError, AssertionError):
        return
    try:
        run = pb.RunMetadata.FromString(damaged)
    except Exception:
        return  # damage in a part that is not read
    assert found == {**expected(run), "fed_shapes": found["fed_shapes"]}


def test_merged_parts_of_one_field_count_once() -> None:
    half = pb.NodeExecStats(node_name="a", memory_stats=pb.MemoryStats(temp_memory_size=5))
    other = pb.NodeExecStats(memory_stats=pb.MemoryStats(persistent_memory_size=6))
    slices = pb.RunMetadataSlices()
    slices.step_stats.dev_stats.add(
        device="/cpu:0", node_stats=[half.SerializeToString() + other.SerializeToString()]
    )
    found = read(slices.SerializeToString())
    assert found["stats"]["temporary_bytes"] == [5]
    assert found["stats"]["persistent_bytes"] == [6]
