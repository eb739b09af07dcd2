"""Events of many kinds in the form of profilers."""

from tests.hlo_programs import capture, op, program
from tfprof.captures.events.ops.host_ops import host_op_times
from tfprof.captures.events.steps.eager import ran_eagerly
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import event, host, line, opened, plane, xspace

MATMUL = program(
    main=[
        op("x", "parameter", "f32[2,3]"),
        op("y", "parameter", "f32[3,4]", parameter_number=1),
        op("dot.1", "dot", "f32[2,4]", "x", "y",
           dot_dimension_numbers={"lhs_contracting_dimensions": [1],
                                  "rhs_contracting_dimensions": [0]}),
    ]
)  # fmt: skip
"""2 x 4 x 3 multiply-adds are 48 float operations; the op reads 6 + 12 floats and writes 8."""


def thunk(name, start, duration, program_id=1):
    return event(name, start, duration, hlo_op=name, hlo_module="test", program_id=program_id)


def space_of(*lines):
    space = capture(MATMUL)
    space.planes.append(host(*lines))
    return space


NOW = "regs:32 static_shared:48 dynamic_shared:64 grid:8,4,2 block:256,2,1 occ_pct:37.5"


def times(*lines, classic=False):
    one = opened(xspace(host(*lines))).hosts[0]
    eager = ran_eagerly(one.forest(classic=classic))
    return host_op_times(one.timeline, eager, rules=REFERENCE if classic else OURS)


KIND = {"+": "MemoryAllocation", "-": "MemoryDeallocation"}


def change(kind, start, address, size, heap, **stats):
    known = {
        "allocator_name": "gpu", "addr": address, "allocation_bytes": size,
        "requested_bytes": size - 1, "bytes_allocated": heap, "bytes_available": 1000 - heap,
        "bytes_reserved": 0, "peak_bytes_in_use": heap, "fragmentation": 0.5,
    }  # fmt: skip
    return event(KIND[kind], start, 0, **{**known, **stats})


def memory(kind, at, address, size=0, in_use=0, allocator="GPU_0_bfc"):
    return event(
        f"Memory{kind}", at, 0, addr=address, allocation_bytes=size, bytes_allocated=in_use,
        allocator_name=allocator,
    )  # fmt: skip


def get_next(name, start, length, number, parent=0, **stats):
    return event(f"Iterator::{name}", start, length, id=number, parent_id=parent, **stats)


READS_HBM = b"\x0a\x06\x08\x01\x10\x01\x18\x28"
"""One access: a read of 40 bytes of memory space 1."""


def instruction(symbol, category="fusion", **stats):
    return {"program_id": 3, "symbol_id": symbol, "hlo_category": category, **stats}


METADATA = {
    "f": instruction(1, flops=100, bytes_accessed=40, memory_access_breakdown=READS_HBM),
    "in": instruction(2, "infeed", bytes_accessed=7),
    "loop": instruction(3, "while", flops=10**6, bytes_accessed=10**6),
    "call": instruction(4, "custom-call"),
    "none": {},
}


def core(number, steps, ops):
    return plane(
        f"/device:TPU:{number}",
        line(*steps, id=1, name="Steps"),
        line(*ops, id=2, name="XLA Ops"),
        metadata=METADATA,
    )
