"""The fields of a saved profile that are read, as the tables of a plan."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.core.wire.lockstep import IrregularError
from tfprof.core.wire.plan import Entries, Plan, number, rows, text
from tfprof.core.wire.scan import Columns, Texts, reordered, scan
from tfprof.profiles.model.executions import MEMORY_FIELDS
from tfprof.profiles.read.profile_fields import single

if TYPE_CHECKING:
    from tfprof.core.wire.scan import Data

Tables: TypeAlias = dict[str, Columns]
"""Columns by the name of their table."""

NODE = "nodes.value"
EXEC = f"{NODE}.execs.value"


@functools.cache
def profile_plan() -> Plan:
    """All fields; single executions and the values of attributes stay as bytes."""
    times: Entries = [text("key"), rows("value.times", [rows("int64_values")])]
    buffer = [number("key"), number("value.bytes"), number("value.ptr")]
    execution: Entries = [
        number("key"),
        number("value.run_count"),
        number("value.all_start_micros"),
        number("value.latest_end_micros"),
        rows("value.accelerator_execs", times),
        rows("value.cpu_execs", times),
        rows("value.devices"),
        rows("value.memory_execs", [*map(number, MEMORY_FIELDS), rows("output_memory", buffer)]),
        rows("value.allocations", [number("alloc_micros"), number("alloc_bytes")]),
    ]
    numbers = [number("key"), number("value")]
    node: Entries = [
        number("key"),
        text("value.name"),
        rows("value.inputs", numbers),
        rows("value.shape"),
        rows("value.op_types"),
        text("value.canonical_device"),
        number("value.float_ops"),
        text("value.op"),
        rows("value.trace"),
        rows("value.attrs", [text("key"), rows("value")]),
        rows("value.execs", execution),
        rows("value.src_output_index", numbers),
        rows("value.output_shapes", [number("key"), rows("value.int64_values")]),
        rows("value.input_ports"),
        number("value.further_runs"),
    ]
    return Plan(
        "tfprof.SavedProfile",
        [
            rows("nodes", node),
            number("has_trace"),
            rows("steps"),
            rows("id_to_string", [number("key"), text("value")]),
            number("miss_accelerator_stream"),
            rows("step_details"),
            rows("detail_strings"),
        ],
    )


@functools.cache
def _node_plan() -> Plan:
    return Plan("tfprof.SavedNodes", [rows("nodes", [rows("value")])])


def scan_profile(data: Data) -> tuple[Tables, Texts]:
    """The tables of a saved profile, with the nodes in the order of their ids; and the nodes.

    Raises:
        IrregularError: The bytes are no profile, or one that only protobuf can read.
    """
    plan = profile_plan()
    try:
        tables = scan(plan, data)
        _, entries, values = scan(_node_plan(), data)
    except (DecodeError, RuntimeWarning):
        raise IrregularError from None
    nodes = single(values, len(entries))
    place = plan.table("nodes")
    ids = tables[place].number("key")
    if (np.diff(ids) <= 0).any():
        order = np.argsort(ids, kind="stable")
        if (np.diff(ids[order]) == 0).any():
            raise IrregularError  # protobuf takes the last
        tables = reordered(plan, tables, place, order)
        nodes = nodes.take(order)
    return {table.name: part for table, part in zip(plan.tables, tables, strict=True)}, nodes
