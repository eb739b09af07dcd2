"""Plans are checked against the definitions of messages."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.wire import kinds
from tfprof.core.wire.plan import Entries, Kind, Plan, number, oneof, present, rows, text


def test_a_table_for_each_repeated_field_and_a_level_for_each_message() -> None:
    stats = rows("node_stats", [text("node_name"), number("memory_stats.temp_memory_size")])
    plan = Plan(
        "tensorflow.RunMetadata",
        [present("step_stats"), rows("step_stats.dev_stats", [text("device"), stats])],
    )
    assert [(table.name, table.parent, table.level) for table in plan.tables] == [
        ("", -1, 0),
        ("step_stats.dev_stats", 0, 2),
        ("step_stats.dev_stats.node_stats", 1, 3),
    ]
    assert plan.table("step_stats.dev_stats") == 1
    # Root, StepStats, DeviceStepStats, NodeExecStats, MemoryStats.
    assert [sorted(level) for level in plan.levels] == [[1], [1], [1, 2], [1, 12], [1]]
    assert plan.tables[2].columns == {
        "node_name": (1, "text"),
        "memory_stats.temp_memory_size": (3, "number"),
    }
    assert plan.slots.tolist() == [2, 3, 4]


def test_what_the_native_scanner_is_given() -> None:
    plan = Plan("tensorflow.tfprof.pprof.Profile", [rows("mapping"), number("period")])
    # First action, one more than the highest field number, messages around it.
    assert plan.spans.tolist() == [0, 13, 0]
    actions = plan.actions.reshape(13, 7)
    assert np.flatnonzero(actions[:, 0]).tolist() == [3, 12]
    # Kind, wire type, slot, level, table, kind of the elements, column of a oneof's member.
    assert actions[3].tolist() == [Kind.VALUES, 2, 1, -1, 1, Kind.TEXT, -1]
    assert actions[12].tolist() == [Kind.INT64, 0, 1, -1, -1, Kind.INT64, -1]


def test_levels_know_how_deep_they_are() -> None:
    plan = kinds.plan_of(
        [number("inner.number"), rows("many_inner", [number("kinds.inner.number")])]
    )
    assert plan.spans.reshape(-1, 3)[:, 2].tolist() == [0, 1, 1, 2, 3]


def test_a_name_without_a_table() -> None:
    with pytest.raises(KeyError, match="dev_stats"):
        Plan("tensorflow.RunMetadata", []).table("dev_stats")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([number("nonsense")], "tensorflow.NodeExecStats has no field 'nonsense'"),
        ([number("")], "has no field ''"),
        ([number("memory_stats.nonsense")], "tensorflow.MemoryStats has no field 'nonsense'"),
        ([rows("nonsense")], "has no field 'nonsense'"),
        ([oneof("nonsense")], "tensorflow.NodeExecStats has no oneof 'nonsense'"),
        ([number("node_name")], "NodeExecStats.node_name cannot be read as a number"),
        ([number("memory_stats")], "NodeExecStats.memory_stats cannot be read as a number"),
        ([text("thread_id")], "NodeExecStats.thread_id cannot be read as a text"),
        ([text("memory")], "NodeExecStats.memory is repeated: read its rows"),
        ([rows("memory_stats")], "NodeExecStats.memory_stats is not repeated"),
        ([present("thread_id")], "NodeExecStats.thread_id is not a singular message"),
        ([present("memory")], "NodeExecStats.memory is not a singular message"),
        ([number("memory.total_bytes")], "NodeExecStats.memory is not a singular message"),
        ([number("thread_id.id")], "NodeExecStats.thread_id is not a singular message"),
        ([text("node_name"), text("node_name")], "NodeExecStats.node_name is read twice"),
        ([present("memory_stats")] * 2, "NodeExecStats.memory_stats is read twice"),
        ([rows("memory")] * 2, "NodeExecStats.memory is read twice"),
        (
            [number("memory_stats.temp_memory_size"), text("memory_stats")],
            "NodeExecStats.memory_stats is read twice",
        ),
        (
            [text("memory_stats"), number("memory_stats.temp_memory_size")],
            "NodeExecStats.memory_stats is read twice",
        ),
        (
            [rows("memory_stats.persistent_tensor_alloc_ids", [number("value")])],
            "MemoryStats.persistent_tensor_alloc_ids holds values, which have no fields",
        ),
    ],
)
def test_what_a_message_does_not_have_is_refused(entries: Entries, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Plan("tensorflow.NodeExecStats", entries)


def test_members_of_a_oneof_are_read_once() -> None:
    with pytest.raises(ValueError, match=r"AttrValue\.s is read twice"):
        Plan("tensorflow.AttrValue", [text("s"), oneof("value")])


def test_an_unknown_message() -> None:
    with pytest.raises(ValueError, match=r"there is no message 'tensorflow\.Nonsense'"):
        Plan("tensorflow.Nonsense", [])


def test_an_empty_selection_is_valid() -> None:
    plan = Plan("tensorflow.GraphDef", [])
    assert len(plan.tables) == 1
    assert plan.slots.tolist() == [1]


def test_plans_are_not_deeper_than_what_protobuf_reads() -> None:
    path = ".".join(["inner", "kinds"] * 50)
    assert kinds.plan_of([number(f"{path}.int64")]).spans[-1] == 100
    with pytest.raises(ValueError, match="deeper than 100 messages"):
        kinds.plan_of([number(f"{path}.inner.number")])
