"""Names of planes, lines and events with a special meaning (``xplane_schema.cc``)."""

from __future__ import annotations

import re

from tfprof.captures.model.xspace import METADATA_PLANE

HOST_PLANE = "/host:CPU"

MERGED_PLANES = (
    HOST_PLANE, "/host:CUPTI", "/host:ROCTRACER", "/host:python-tracer", "/host:TPU-runtime",
    "/host:NVTX-CUPTI",
)  # fmt: skip
"""Planes whose lines are host threads; the recorder merges the others into the first."""

SECOND_STAGE = "Iterator::Prefetch::Generator"
"""Part of a pipeline to a device: its generator takes elements from its parent, the host's
pipeline."""

TASK_PLANE = "Task Environment"

END_OF_STEP = "tfprof.end_of_step"
"""Event that ``tfprof.capture.step`` writes at the end of a step, with ``END_STATS``: if a
recording begins in the middle of the step, the step's own mark is lost."""

END_STATS = ("number", "nanoseconds", "ago", "of")
"""Number of the step, its duration, the nanoseconds since its end, and the name of its mark."""

GPU_PREFIX = "/device:GPU:"
TPU_PREFIX = "/device:TPU:"
CUSTOM_PREFIX = "/device:CUSTOM:"

DEVICE_PREFIXES = (GPU_PREFIX, TPU_PREFIX, CUSTOM_PREFIX)

TRACED = ("traced-xla", "traced-nonXla")
"""Values of the stat ``tf_function_call`` of calls that traced their function."""

PJIT_CALL = re.compile(r"PjitFunction\((.*)\)")
"""Python's call of a function that JAX has compiled: its name."""

TENSOR_CORE = re.compile(r"/device:TPU:\d+")
"""A TensorCore, for ``fullmatch``: names of SparseCores go on after the number."""

_OTHER_PLANES = (
    METADATA_PLANE, TASK_PLANE, "/host:tfstreamz", "/host:__ScopeRangeCallStack__", "#Chip",
    "Syscalls", "Host CPUs",
)  # fmt: skip


def is_known_plane(name: str) -> bool:
    """Whether a plane is of a known kind."""
    return name in MERGED_PLANES or name.startswith((*DEVICE_PREFIXES, *_OTHER_PLANES))


DERIVED_BASE = 0xDEADBEEF - (1 << 32)
"""Id of the first line that converters add; some files have it as an unsigned number."""

DERIVED_LINES = 1 << 20
"""Number of ids from there on that belong to derived lines."""

LOOP_EVENTS = frozenset(
    ("WhileOp-EvalCond", "WhileOp-StartBody", "ForOp", "ParallelForOp", "ForeverOp")
)

TF_DATA_FUNCTIONS = frozenset(
    "InstantiatedCapturedFunction::" + name
    for name in ("Run", "RunWithBorrowedArgs", "RunInstantiated", "RunAsync")
)
"""Events whose ``id`` is that of a function that runs inside an input pipeline."""

GET_NEXT = frozenset(("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute"))

REDUCE_ITERATOR, REDUCE_OP = "ReduceIterator::", "ReduceDatasetOp::DoCompute"
"""Names of events of a loop over a dataset inside a ``tf.function``."""
SCAN = "::Scan"
"""End of the name of the iterator in which the body of such a loop may run."""

EXECUTOR = "ExecutorState::Process"
EAGER_EXECUTE = "EagerExecute"

IMPLICIT_ROOTS = frozenset(("FunctionRun", "SessionRun", "RunGraph", EXECUTOR))
"""Roots without a name from the user: steps do not show these names."""

TRACE_CONTEXT = frozenset(("TraceContext", "Trace"))

_STAGES = ("Prefetch", "ParallelInterleave", "ParallelMap", "MapAndBatch", "ParseExample")

PRODUCE = frozenset(f"{stage}Produce" for stage in (*_STAGES, "ParallelBatch"))
CONSUME = frozenset(f"{stage}Consume" for stage in (*_STAGES, "ParallelBatch"))

INTERNAL_EVENTS = frozenset(
    ("MemoryAllocation", "MemoryDeallocation", "ParallelInterleaveInitializeInput",
     *(stage + end for stage in _STAGES for end in ("Produce", "Consume")))
)  # fmt: skip
"""Events that the reference's trace viewer hides."""

INTERNAL_STATS = frozenset(("_pt", "_p", "_ct", "_c", "_r", "flops", "program_id", "symbol_id"))
"""Stats that the reference does not show as arguments."""


def is_derived(line_id: int) -> bool:
    """Whether a line of this id comes from a converter, not from a recorder."""
    if line_id >= 1 << 31:  # written as an unsigned number
        line_id -= 1 << 32
    return DERIVED_BASE <= line_id < DERIVED_BASE + DERIVED_LINES


def is_device(plane_name: str) -> bool:
    """Whether a plane is a device."""
    return plane_name.startswith(DEVICE_PREFIXES)
