"""Run metadata as columns, against what protobuf's own messages tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfprof._wire import messages as pb
from tfprof._wire.text_index import TextIndex
from tfprof.errors import MalformedProfileError, UnknownFormatError
from tfprof.model.runs import KnownNames
from tfprof.readers.run_metadata import read_run_metadata

sizes = st.one_of(st.integers(0, 10**12), st.integers(-(2**40), 2**40), st.just(0))
names = st.sampled_from(["a", "b", "scope/c", "new", "_arg_x", "größe"])
IDS = {"a": 0, "b": 1, "scope/c": 2}
IS_OP = np.array([True, False, True, False])
WANTED = np.array([True, False, True, False])


def known() -> KnownNames:
    index = TextIndex()
    index.extend(list(IDS))
    return KnownNames(index.find, IS_OP, WANTED)


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
    if dataclasses.is_dataclass(value):
        return as_dict(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def read(run: pb.RunMetadata | bytes) -> dict[str, Any]:
    columns = read_run_metadata(run, known())
    assert columns is not None
    found = as_dict(columns)
    names = columns.allocators  # numbered in order of appearance, which says nothing
    for table in ("allocator_levels", "allocations"):
        found[table]["name_ids"] = [names[number] for number in found[table]["name_ids"]]
    return {**found, "allocators": sorted(names), "devices": columns.devices}


def expected(run: pb.RunMetadata) -> dict[str, Any]:
    """The same, stat by stat."""
    stats = [stat for block in run.step_stats.dev_stats for stat in block.node_stats]
    ids = [IDS.get(stat.node_name, -1) for stat in stats]
    telling = [
        (place, used)
        for place, stat in enumerate(stats)
        for used in stat.memory
        if used.allocator_bytes_in_use or used.allocation_records
    ]
    levels = [(place, used) for place, used in telling if used.allocator_bytes_in_use]
    records = [(place, used, one) for place, used in telling for one in used.allocation_records]
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
        "start_micros": [stat.all_start_micros for stat in stats],
        "duration_micros": [stat.op_end_rel_micros for stat in stats],
        "start_nanos": [stat.all_start_nanos for stat in stats],
        "duration_nanos": [stat.op_end_rel_nanos for stat in stats],
        "requested_bytes": [wrapped(sums["total"] + sums["extra"]) for sums in both],
        "peak_bytes": [wrapped(sums["peak"] + sums["extra"]) for sums in both],
        "residual_bytes": [wrapped(sums["live"] + sums["persistent"]) for sums in both],
        "output_bytes": [
            wrapped(sum(size for owner, _, size, _ in outputs if owner == place))
            for place in range(len(stats))
        ],
        "temporary_bytes": [sums["temporary"] for sums in both],
        "persistent_bytes": [sums["persistent"] for sums in both],
        "outputs": table(["stats", "slots", "sizes", "addresses"], outputs),
        "allocators": sorted({used.allocator_name for _, used in telling}),
        "allocator_levels": table(
            ["stats", "name_ids", "bytes_in_use"],
            [(place, used.allocator_name, used.allocator_bytes_in_use) for place, used in levels],
        ),
        "allocations": table(
            ["stats", "name_ids", "micros", "sizes"],
            [
                (place, used.allocator_name, one.alloc_micros, one.alloc_bytes)
                for place, used, one in records
            ],
        ),
        "output_shapes": {
            ids[place]: shapes_of(stat)
            for place, stat in enumerate(stats)
            if WANTED[ids[place]] and stat.output
        },
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


def shapes_of(stat: pb.NodeExecStats) -> list[tuple[int, ...] | None]:
    return [
        tuple(dim.size for dim in output.tensor_description.shape.dim)
        if output.HasField("tensor_description")
        else None
        for output in stat.output
    ]


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
        return  # damage in a part that nobody reads
    assert found == {**expected(run), "fed_shapes": found["fed_shapes"]}


def test_merged_parts_of_one_field_count_once() -> None:
    half = pb.NodeExecStats(node_name="a", memory_stats=pb.MemoryStats(temp_memory_size=5))
    other = pb.NodeExecStats(memory_stats=pb.MemoryStats(persistent_memory_size=6))
    slices = pb.RunMetadataSlices()
    slices.step_stats.dev_stats.add(
        device="/cpu:0", node_stats=[half.SerializeToString() + other.SerializeToString()]
    )
    found = read(slices.SerializeToString())
    assert found["requested_bytes"] == [11]
    assert found["residual_bytes"] == [6]
