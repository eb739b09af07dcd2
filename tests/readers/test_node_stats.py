"""The two ways to read node stats, all together and one by one, give the same columns."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof._wire import messages as pb
from tfprof._wire.lockstep import IrregularError
from tfprof.model.runs import KnownNames, RunColumns
from tfprof.model.strings import StringTable
from tfprof.readers.run_metadata import _read_one_by_one, _read_together, read_run_metadata

sizes = st.one_of(st.integers(0, 10**12), st.integers(-(2**40), 2**40), st.just(0))
names = st.sampled_from(["a", "b", "scope/c", "new", "_arg_x", "größe"])
KNOWN = KnownNames(
    ids={"a": 0, "b": 1, "scope/c": 2},
    is_op=np.array([True, False, True, False]),
    shapes_wanted=np.array([True, False, True, False]),
)


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


def together(texts: list[bytes]) -> RunColumns:
    allocators = StringTable()
    columns = _read_together(texts, KNOWN, allocators)
    columns.allocators = allocators.values
    return columns


def one_by_one(stats: list[pb.NodeExecStats]) -> RunColumns:
    run = pb.RunMetadata()
    run.step_stats.dev_stats.add(device="/cpu:0", node_stats=stats)
    return _read_one_by_one(run, KNOWN)


@given(st.lists(node_stats(), max_size=6))
def test_both_ways_agree(stats: list[pb.NodeExecStats]) -> None:
    texts = [stat.SerializeToString() for stat in stats]
    assert as_dict(together(texts)) == as_dict(one_by_one(stats))


@given(st.lists(node_stats(), min_size=1, max_size=3), st.data())
def test_damaged_bytes_are_read_alike_or_declined(
    stats: list[pb.NodeExecStats], data: st.DataObject
) -> None:
    texts = [stat.SerializeToString() for stat in stats]
    place = data.draw(st.integers(0, len(texts[0])))
    texts[0] = texts[0][:place] + data.draw(st.binary(max_size=3)) + texts[0][place + 1 :]
    try:
        read = as_dict(together(texts))
    except IrregularError:
        return
    try:
        parsed = [pb.NodeExecStats.FromString(text) for text in texts]
    except Exception:
        return  # damage in a part that nobody reads
    assert read == as_dict(one_by_one(parsed))


def test_merged_parts_of_one_field_are_left_to_protobuf() -> None:
    half = pb.NodeExecStats(node_name="a", memory_stats=pb.MemoryStats(temp_memory_size=5))
    other = pb.NodeExecStats(memory_stats=pb.MemoryStats(persistent_memory_size=6))
    run = pb.RunMetadata()
    run.step_stats.dev_stats.add(device="/cpu:0").node_stats.add().MergeFromString(
        half.SerializeToString() + other.SerializeToString()
    )
    slices = pb.RunMetadataSlices()
    slices.step_stats.dev_stats.add(
        device="/cpu:0", node_stats=[half.SerializeToString() + other.SerializeToString()]
    )
    for source in (run, slices.SerializeToString()):
        columns = read_run_metadata(source, KNOWN)
        assert columns is not None
        assert columns.requested_bytes.tolist() == [11]
        assert columns.residual_bytes.tolist() == [6]
