"""Small captures with a little of everything that tools look for, and programs of XLA."""

from __future__ import annotations

from collections.abc import Iterator

from tests import hlo_programs
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import (
    Reference,
    Unsigned,
    event,
    gpu,
    host,
    line,
    plane,
    xspace,
)


def small_captures() -> list[pb.XSpace]:
    """Captures with a little of everything that tools look for."""
    details = "regs:32 static_shared:0 dynamic_shared:64 grid:8,1,1 block:256,1,1 occ_pct:100"
    allocator = {
        "allocator_name": "gpu_bfc", "bytes_reserved": 0, "bytes_allocated": 64,
        "bytes_available": 36, "fragmentation": 0.25, "peak_bytes_in_use": 64,
        "requested_bytes": 60, "allocation_bytes": 64, "addr": 4096, "tf_op": "a/b:MatMul",
        "data_type": 1, "shape": "[4]", "region_type": "output",
    }  # fmt: skip
    main = line(
        event("train", 0, 1000, step_num=3, _r=1),
        event("FunctionRun", 5, 700, _pt=1, _p=77),
        event("EagerExecute", 10, 20, is_func=0),
        event("a/b:MatMul", 12, 10, correlation_id=9),
        event("train_step", 12, 400, tf_function_call="traced-xla", tracing_count=2),
        event("MemoryAllocation", 20, 0, **allocator),
        event("MemoryDeallocation", 60, 0, **{**allocator, "bytes_allocated": 0}),
        event("IteratorGetNext:IteratorGetNext", 100, 300),
        event("train", 1000, 900, step_num=4, _r=1),
        event("a/b:MatMul", 1010, 100, correlation_id=10),
        event("ThreadpoolListener::StartRegion", 1200, 0, _c=5),
        event("ThreadpoolListener::StopRegion", 1300, 0),
        name="main",
    )
    pool = line(
        event("ExecutorState::Process", 20, 600, id=1, iter_num=0, _ct=1, _c=77),
        event("IteratorGetNextOp::DoCompute", 30, 500, id=1, iter_num=0),
        event("Iterator::Root", 31, 400, id=Unsigned(2**63 + 5)),
        event("Iterator::Root::Prefetch", 32, 300, id=6, parent_id=Unsigned(2**63 + 5)),
        event("PrefetchConsume", 40, 10, element_id=1),
        event("c/Read:ReadFile", 700, 30, tf_op=Reference("x:Y"), _a=1),
        id=2,
    )
    producer = line(
        event("PrefetchProduce", 10, 200, element_id=1),
        event("Iterator::Root::Prefetch::TFRecordV2[0]", 12, 150, id=7, parent_id=6),
        event("InfeedEnqueueTuple:InfeedEnqueueTuple", 300, 10),
        event("InfeedEnqueueTuple:InfeedEnqueueTuple", 400, 10),
        id=3,
    )
    stream = line(
        event("sgemm_16816", 50, 200, correlation_id=9, kernel_details=details,
              tf_op="a/b:MatMul"),
        event("MemcpyH2D", 300, 50, correlation_id=9),
        event("ncclAllReduce", 1100, 60, correlation_id=10, kernel_details=details),
        event("fusion", 1200, 60, correlation_id=10, hlo_op="fusion.1", hlo_module="jit",
              program_id=3, kernel_details=details),
        id=14, name="Stream #14(Compute)",
    )  # fmt: skip
    device = {
        "device_vendor": "Nvidia", "compute_cap_major": 8, "compute_cap_minor": 0,
        "clock_rate": 1_410_000, "core_count": 108, "memory_bandwidth": 1_555_000_000_000,
    }  # fmt: skip
    tpu = plane(
        "/device:TPU:0",
        line(event("0", 10, 500, group_id=0), event("1", 600, 300, group_id=1), name="Steps"),
        line(event("jit(3)", 10, 500, run_id=4), event("jit(3)", 600, 300, run_id=5), id=2,
             name="XLA Modules"),
        line(event("fusion.1", 10, 300, flops=100, bytes_accessed=Unsigned(64),
                   hlo_category="convolution", program_id=3), id=3, name="XLA Ops"),
        stats={"peak_teraflops_per_second": 1.5, "device_type_string": "TPU v6e"},
        began_ns=5000,
    )  # fmt: skip
    grouped = host(
        line(
            event("train", 0, 100, group_id=0, step_name="train 0", _r=1),
            event("a:B", 10, 20, group_id=0, is_eager=1),
            event("train", 100, 100, group_id=1, step_name="train 1", _r=1),
            event("a:B", 110, 20, group_id=1),
        )
    )
    return [
        xspace(host(main, pool, producer), hostname="one"),
        xspace(host(main, pool, producer), gpu(stream, stats=device), hostname="two"),
        xspace(host(main, began_ns=5000), tpu),
        xspace(grouped, plane("/device:CUSTOM:x", stream)),
    ]


def of_all_stats() -> pb.XSpace:
    """Each kind of value, and what recorders report about themselves."""
    space = pb.XSpace(hostnames=["host"], errors=["error"])
    plane = space.planes.add(id=1, name="/device:GPU:0")
    plane.event_metadata[1].name = "op"
    plane.stat_metadata[2].name = "flops"
    event = plane.lines.add(id=3, timestamp_ns=7).events.add(metadata_id=1, duration_ps=5)
    event.stats.add(metadata_id=2, uint64_value=9)
    event.stats.add(metadata_id=2, ref_value=2)
    event.stats.add(metadata_id=2, str_value="text")
    event.stats.add(metadata_id=2, double_value=1.5)
    plane.lines[0].events.add(metadata_id=1, offset_ps=300, duration_ps=2**40).stats.extend(
        event.stats
    )
    return space


def programs() -> Iterator[pb.HloProto]:
    """A loop around a fusion, and what communicates."""
    loop = [
        hlo_programs.op("p", "parameter", "(f32[4], s32[])"),
        hlo_programs.op("v", "get-tuple-element", "f32[4]", "p"),
        hlo_programs.op("fusion", "fusion", "f32[4]{0}", "v", calls=["fused"]),
        hlo_programs.op("i", "get-tuple-element", "s32[]", "p", tuple_index=1),
        hlo_programs.op("out", "tuple", "(f32[4], s32[])", "fusion", "i"),
    ]
    fused = [
        hlo_programs.op("a", "parameter", "f32[4]"),
        hlo_programs.op("b", "multiply", "f32[4]", "a", "a"),
    ]
    always = [
        hlo_programs.op("q", "parameter", "(f32[4], s32[])"),
        hlo_programs.op("t", "constant", "pred[]"),
    ]
    main = [
        hlo_programs.op("x", "parameter", "f32[4]"),
        hlo_programs.op("n", "parameter", "s32[]", parameter_number=1),
        hlo_programs.op("s", "tuple", "(f32[4], s32[])", "x", "n"),
        hlo_programs.op(
            "w", "while", "(f32[4], s32[])", "s", calls=["loop", "always"],
            backend_config=b'{"known_trip_count":{"n":"4"}}',
        ),
        hlo_programs.op("r", "get-tuple-element", "f32[4]", "w"),
        hlo_programs.op("d", "dot", "f32[]", "r", "r"),
        hlo_programs.op("sum", "all-reduce", "f32[]", "d", calls=["ADD"]),
    ]  # fmt: skip
    yield hlo_programs.program(
        "main", ADD=hlo_programs.ADD, fused=fused, loop=loop, always=always, main=main
    )
