"""Profiles as call stacks and as traces, re-read from the output of their own writers.

So both have one definition, and no format walks a profile in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.captures.trace.foreign import model_of_json
from tfprof.captures.trace.model import TraceModel
from tfprof.core.columns.stacks import SampleType, StackFrame, Stacks, StackTree
from tfprof.errors import EmptyProfileError
from tfprof.files.chrome_json import read_chrome_json
from tfprof.files.pprof import stacks_of_pprof
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.profiles.write.tables import BY_NAME
from tfprof.views.write.pprof import view_to_pprof

_SCOPE_TYPES = (
    SampleType("micros", "microseconds"),
    SampleType("float_ops", "count"),
    SampleType("requested_bytes", "bytes"),
)
_COLUMN_OF_TYPE = ("exec_micros", "float_ops", "requested_bytes")


def timeline_of_profile(profiler: Profiler) -> Iterator[bytes]:
    """All steps as a trace in Chrome's JSON.

    Raises:
        EmptyProfileError: Nothing ran.
    """
    options = ProfileOptionBuilder().with_timeline_output("trace.json", every_step=True).build()
    for file in profiler.output_files("graph", options):
        yield from file.chunks


def trace_of_profile(profiler: Profiler) -> TraceModel:
    """All steps as a trace; errors as ``timeline_of_profile``."""
    return model_of_json(read_chrome_json(b"".join(timeline_of_profile(profiler)), "profile"))


def stacks_of_profile(profiler: Profiler) -> Stacks:
    """Python's call stacks with the costs of their ops; without any, the scopes of op names."""
    try:
        code = profiler.view("code", ProfileOptionBuilder().build())
        found = stacks_of_pprof(view_to_pprof(code), "profile")
        if len(found.nodes):
            return found
    except EmptyProfileError:
        pass
    return _stacks_of_scopes(profiler)


def _stacks_of_scopes(profiler: Profiler) -> Stacks:
    table = BY_NAME["ops"]
    columns = {field.name: place for place, field in enumerate(table.fields)}
    wanted = [columns[name] for name in _COLUMN_OF_TYPE]
    tree, nodes, values = StackTree(), [], []
    for row in table.rows(session_of(profiler).complete()):
        node = -1
        for part in str(row[columns["name"]]).split("/"):
            node = tree.node(node, StackFrame(part))
        nodes.append(node)
        values.append([int(value) if isinstance(value := row[at], int) else 0 for at in wanted])
    return tree.stacks(_SCOPE_TYPES, nodes, np.array(values, np.int64).reshape(-1, 3).T)
