"""What the profile keeps of each execution, by hand."""

from __future__ import annotations

from typing import Any

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.profiles.model.executions import ACCELERATOR, HOST, MEMORY_FIELDS, OTHER, StepDetail
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, graph, op, run, run_on, stat


def details(*runs: pb.RunMetadata) -> tuple[tfprof.Profiler, StepDetail]:
    """One step made of runs of the ops ``a`` and ``b``."""
    profiler = tfprof.Profiler(graph(op("a"), op("b")))
    for run_meta in runs:
        profiler.add_step(3, run_meta)
    return profiler, profiler._session.profile.steps.details[3]


def with_allocators(made: pb.NodeExecStats, **allocators: int) -> pb.NodeExecStats:
    for name, bytes_in_use in allocators.items():
        made.memory.add(allocator_name=name, allocator_bytes_in_use=bytes_in_use)
    return made


def executions(profiler: tfprof.Profiler, detail: StepDetail) -> list[tuple[Any, ...]]:
    strings = profiler._session.profile.steps.strings
    table = detail.executions
    return [
        (
            profiler._session.profile.ops.name(row) if row >= 0 else strings[name_id],
            strings[device],
            *rest,
        )
        for row, name_id, device, *rest in zip(
            table.rows.tolist(),
            table.name_ids.tolist(),
            table.device_ids.tolist(),
            table.kinds.tolist(),
            table.start_micros.tolist(),
            table.duration_micros.tolist(),
            table.start_nanos.tolist(),
            table.duration_nanos.tolist(),
            strict=True,
        )
    ]


def test_executions_keep_device_kind_and_times() -> None:
    fine = stat(0, start=1000)
    fine.all_start_nanos, fine.op_end_rel_nanos = 1_000_250, 300
    profiler, detail = details(
        run_on(
            {
                GPU: {"a": stat(5, start=900)},
                GPU_STREAMS: {"a": fine},
                "/device:GPU:0/stream:7": {"a": stat(2, start=1001)},
                "/device:GPU:0/memcpy": {"MEMCPYHtoD": stat(4, start=990)},
                CPU: {"_SOURCE": 1, "a": 8},
            }
        )
    )
    assert executions(profiler, detail) == [
        ("a", GPU.lower(), HOST, 900, 5, 900_000, 5_000),
        ("a", GPU_STREAMS.lower(), ACCELERATOR, 1000, 1, 1_000_250, 300),
        ("a", "/device:gpu:0/stream:7", OTHER, 1001, 2, 1_001_000, 2_000),
        ("MEMCPYHtoD", "/device:gpu:0/memcpy", OTHER, 990, 4, 990_000, 4_000),
        ("_SOURCE", CPU.lower(), HOST, 1000, 1, 1_000_000, 1_000),
    ]  # the last block's "a" belongs to the GPU, so it is dropped


def test_memory_is_that_of_the_ops_own_device() -> None:
    made = stat(7, start=100, memory=(64, 32, 16), temporary=5, persistent=3, outputs=(40, 9))
    made.output[1].tensor_description.allocation_description.ptr = 2**64 - 1
    _, detail = details(run_on({GPU: {"b": made}, GPU_STREAMS: {"b": made}}))
    assert detail.memory.rows.tolist() == [1]
    assert dict(zip(MEMORY_FIELDS, detail.memory.values[:, 0].tolist(), strict=True)) == {
        "memory_micros": 107,
        "host_temp_bytes": 0,
        "host_persistent_bytes": 0,
        "accelerator_temp_bytes": 5,
        "accelerator_persistent_bytes": 3,
        "requested_bytes": 72,
        "peak_bytes": 40,
        "residual_bytes": 19,
        "output_bytes": 49,
        "allocator_bytes_in_use": 0,
    }
    assert detail.outputs.uses.tolist() == [0, 0]
    assert detail.outputs.slots.tolist() == [0, 1]
    assert detail.outputs.sizes.tolist() == [40, 9]
    assert detail.outputs.addresses.tolist() == [0, -1]


def test_allocators_tell_their_level_and_their_allocations() -> None:
    made = with_allocators(stat(2, start=100), GPU_0_bfc=500, gpu_host_bfc=70, silent=0)
    made.memory[0].allocation_records.add(alloc_micros=101, alloc_bytes=30)
    made.memory[0].allocation_records.add(alloc_micros=109, alloc_bytes=-30)
    profiler, detail = details(run_on({GPU: {"a": made}}))
    strings = profiler._session.profile.steps.strings
    assert detail.memory.values[-1].tolist() == [500]  # "gpu" in small letters does not count
    levels = detail.levels
    assert [strings[i] for i in levels.allocator_ids.tolist()] == ["GPU_0_bfc", "gpu_host_bfc"]
    assert levels.bytes_in_use.tolist() == [500, 70]
    assert levels.micros.tolist() == [102, 102]
    assert detail.allocations.micros.tolist() == [101, 109]
    assert detail.allocations.sizes.tolist() == [30, -30]


def test_a_step_added_twice_holds_both_runs() -> None:
    first = run({"a": stat(1, outputs=(8,))})
    second = run({"b": stat(2, outputs=(16,))})
    _, detail = details(first, second)
    assert detail.executions.rows.tolist() == [0, 1]
    assert detail.memory.rows.tolist() == [0, 1]
    assert detail.outputs.uses.tolist() == [0, 1]
    assert detail.outputs.sizes.tolist() == [8, 16]


def test_an_execution_without_a_start_is_there_but_holds_no_memory() -> None:
    _, detail = details(run({"a": stat(5, start=0, memory=(1, 1, 1))}))
    assert detail.executions.start_micros.tolist() == [0]
    assert detail.executions.start_nanos.tolist() == [0]
    assert len(detail.memory) == 0
