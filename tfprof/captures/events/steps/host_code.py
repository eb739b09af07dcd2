"""Finds the host's events of the program's own code, and those that compile.

Python's frames begin with ``$``. A program's own annotations (``Trace``, ``TraceAnnotation``) look
like events of the runtime. The names of the latter are known; any other name counts as an
annotation, because it is the only information on the time in which no op runs.
"""

from __future__ import annotations

import re

import numpy as np

from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.names import INTERNAL_EVENTS
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray

_RUNTIME = re.compile(
    r".*::|TFE_|Eager|Executor|Function|Session|RunGraph|Pjit|Execute|Thunk|Threadpool|Memory"
    r"|ParseArguments|DevicePut|BlockUntilReady|CopyToMemorySpace|Handle inputs|Handle input event"
    r"|AllocateOutputBuffers|Validate|MakeIterator|Tensor|Prefetch|Wait|Rendezvous|InvokeRendezvous"
    r"|batched_copy|BatchedCopy|shard_args|cpp_pjit|PjRt|H2D|D2H|end: |tf\.constant|tf\.function"
    r"|convert_to_tensor|\[\d+\] |Linearize|Delinearize|Transfer|Buffer|Stream|Memcpy|Memset"
    r"|_(send|recv)_"
)
"""Prefixes of the names of events of TensorFlow's and JAX's runtimes."""

_COMPILES = re.compile(
    r"tf\.function-graph_building|backend_compile|lower_(sharding_computation|jaxpr)"
    r"|trace_to_jaxpr|[\w:]*Compil(e|er|ation)\b.*|Xla\w*Compile.*"
)
"""Names of events in which the runtime traces or compiles a function."""


def is_frame(name: str) -> bool:
    """Whether an event is a frame of the Python tracer."""
    return name.startswith("$")


def is_compiling(name: str) -> bool:
    """Whether an event is the runtime tracing or compiling a function."""
    return not is_frame(name) and _COMPILES.match(name) is not None


def is_input_op(name: str) -> bool:
    """Whether an event is an op taking the next element of an input pipeline."""
    return name.lower().startswith("iteratorgetnext")


def own_code(timeline: Timeline, groups: Groups) -> BoolArray:
    """Whether each event is the program's own: a Python frame or an annotation, shape (n,).

    Annotations count only on the threads on which steps begin.
    """
    is_own = timeline.named(is_frame)
    is_own &= timeline.on_threads
    maybe = np.array(
        [
            op.kind is OpKind.UNKNOWN and not op.type and bool(name) and not is_of_runtime(name)
            for name, op in zip(timeline.names, timeline.ops, strict=True)
        ],
        np.bool_,
    )
    is_annotation = timeline.kind_mask(maybe)
    for stat in ("hlo_op", "tf_function_call", "tf_op", "correlation_id", "_ipl_stage_name"):
        is_annotation[timeline.stat(stat).events] = False
    roots = np.array([root for root in groups.roots.values() if root >= 0], np.int64)
    on_line = np.zeros(len(timeline), np.bool_)
    for line in np.unique(timeline.lines_of(roots)).tolist():
        on_line[timeline.events_of(line)] = True
    is_annotation &= on_line
    is_own |= is_annotation
    return is_own


def is_of_runtime(name: str) -> bool:
    """Whether a name is one of the framework's or of Python's tracer, not of the program's."""
    return (
        is_frame(name)
        or is_compiling(name)
        or is_input_op(name)
        or name in INTERNAL_EVENTS
        or _RUNTIME.match(name) is not None
    )
