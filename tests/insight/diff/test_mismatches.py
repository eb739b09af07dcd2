"""What differs beside time, and outputs of ops as its cause, by hand."""

import pytest

import tfprof
from tests import hlo_programs as hlo
from tfprof.errors import UsageError
from tfprof.insight.diff.comparable import mismatches, n_renamed, same_recording
from tfprof.insight.diff.outputs import Output, dtype_of, outputs_of
from tfprof.insight.diff.side import Side
from tfprof.insight.diff.structure import by_name
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.tools import Column, Table, ToolResult

pytestmark = pytest.mark.one_engine

CPU, GPU = (f"/job:a/replica:0/task:0/device:{kind}:0" for kind in ("cpu", "gpu"))


def side(name, micros, *, device=CPU, types=None, shape=(4, 2), n_steps=3):
    """Steps that give each op so many microseconds, one after the other."""
    types = types or {}
    made = tfprof.Profiler(
        graph(*(op(one, types.get(one, "MatMul"), outputs=[list(shape)]) for one in micros))
    )
    for step in range(n_steps):
        start, stats = 1000, []
        for one, length in micros.items():
            stats.append((one, stat(length + step, start=start)))
            start += length + step
        made.add_step(step, run(stats, device))
    return Side(name, made)


def notes(first, second):
    pairs = by_name(first.ops, second.ops)
    return [(note.severity, note.message) for note in mismatches(first, second, pairs)]


def test_equal_programs_have_no_mismatch():
    assert notes(side("one", {"a": 10, "b": 20}), side("two", {"a": 11, "b": 19})) == []


def test_devices_differ():
    [found] = notes(side("one", {"a": 10}), side("two", {"a": 10}, device=GPU))
    both = f"{CPU} in the first, {GPU} in the second"
    assert found == ("warning", f"devices: {both}; times are those of different devices")


def test_programs_with_little_in_common_are_named():
    """Of the first 11 of 102 µs on average are in both, of the second all."""
    found = notes(side("one", {"a": 10, "b": 90}, n_steps=3), side("two", {"a": 10}))
    assert ("warning", "ops of both have only 11% of the time of the first: these are mostly "
            "different programs") in found  # fmt: skip
    assert (
        "info",
        "the programs differ: 1 op in both, 1 only in the first, 0 only in the second",
    ) in (found)


def test_renamed_ops_have_a_hint():
    first = side("one", {"x": 90, "a/y": 5, "a/z": 5}, types={"a/z": "Relu"})
    second = side("two", {"x": 90, "b/y": 5, "b/z": 5}, types={"b/z": "Relu"})
    [(_, message)] = notes(first, second)
    assert "1 op in both, 2 only in the first, 2 only in the second; 2 that are gone" in message
    assert message.endswith("if scopes were renamed, match by structure")
    assert n_renamed(first.ops, second.ops, by_name(first.ops, second.ops)) == 2
    other = side("two", {"x": 90, "b/y": 5, "b/z": 5}, types={"b/y": "Tanh", "b/z": "Tanh"})
    assert n_renamed(first.ops, other.ops, by_name(first.ops, other.ops)) == 0


def test_another_batch_is_another_amount_of_work():
    [(severity, message)] = notes(side("one", {"a": 10}), side("two", {"a": 10}, shape=(8, 2)))
    assert severity == "warning"
    assert message.startswith(
        "first dimension of most outputs, usually the batch: 4 in the first, 8"
    )
    # Of one dimension only, the first is not a batch.
    assert notes(side("one", {"a": 10}, shape=(4,)), side("two", {"a": 10}, shape=(8,))) == []


@pytest.mark.parametrize(
    ("n_steps", "words"),
    [
        (0, "two has no steps with a time"),
        (1, "two has 1 step: with"),
        (2, "two has 2 steps: with"),
    ],
)
def test_few_steps_are_named(n_steps, words):
    found = notes(side("one", {"a": 10}), side("two", {"a": 10}, n_steps=n_steps))
    assert any(message.startswith(words) for _, message in found)


def test_the_same_recording_is_one_with_equal_times():
    one, two = side("one", {"a": 10, "b": 20}), side("two", {"a": 10, "b": 20})
    assert same_recording(one, two).startswith("one and two are the same recording")
    assert same_recording(one, side("two", {"a": 10, "b": 21})) == ""
    assert same_recording(one, side("two", {"a": 10, "c": 20})) == ""
    assert same_recording(side("one", {}), side("two", {})) == ""


def allocation(start, op_name, data_type, shape, **stats):
    return event("MemoryAllocation", start, 0, tf_op=op_name, data_type=data_type, shape=shape,
                 allocator_name="bfc", allocation_bytes=64, **stats)  # fmt: skip


def test_the_first_allocation_of_an_op_is_its_output():
    found = outputs_of(opened(xspace(host(line(
        allocation(1, "a:MatMul", 1, "[32,100]"),
        allocation(2, "a:MatMul", 2, "[7]"),
        allocation(3, "b:Cast", 19, "[]"),
        allocation(4, "c:Pack", 0, "[3]"),
        event("MemoryAllocation", 5, 0, tf_op="d:Add", data_type=1),
    )))))  # fmt: skip
    assert found == {"a": Output("float32", "32×100"), "b": Output("float16", "scalar")}


def test_the_largest_compiled_instruction_is_the_output_of_its_op():
    proto = hlo.program(main=[
        hlo.op("p", "parameter", "f32[4]"),
        hlo.op("small", "negate", "bf16[4]", "p", metadata={"op_name": "net/x"}),
        hlo.op("large", "broadcast", "s32[4,8]", "p", metadata={"op_name": "net/x"}),
        hlo.op("both", "tuple", "(bf16[4], s32[4,8])", "small", "large"),
    ])  # fmt: skip
    found = outputs_of(opened(hlo.capture(proto)))
    by_instruction = {name.rpartition("/")[2]: one for name, one in found.items()}
    assert by_instruction["small"] == Output("bfloat16", "4")
    assert by_instruction["large"] == found["net/x"] == Output("int32", "4×8")
    assert "both" not in by_instruction


def test_names_of_element_types():
    numbers = {1: "float32", 2: "float64", 3: "int32", 9: "int64", 14: "bfloat16", 19: "float16"}
    assert {number: dtype_of(number) for number in numbers} == numbers


def table(unit="ms", rows=(("a", 3.0), ("b", 5.0))):
    columns = (
        Column("op", "Op", type="string"),
        Column("time", f"Time ({unit})", type="number", unit=unit),
    )
    return Table("ops", columns, list(rows), title="Ops")


def test_rows_of_one_table_only_keep_their_place_with_unknown_numbers():
    found = tfprof.diff(table(), table(rows=[("b", 9.0), ("c", 1.0)])).table("ops")
    assert [column.id for column in found.columns] == [
        "op", "in", "time_before", "time_after", "time_difference",
    ]  # fmt: skip
    assert found.rows == [
        ("b", "both", 5.0, 9.0, 4.0), ("a", "before", 3.0, None, None),
        ("c", "after", None, 1.0, None),
    ]  # fmt: skip
    assert found.columns[2].label == "Time: before (ms)"


def test_tables_of_other_units_and_answers_of_other_tools_do_not_compare():
    with pytest.raises(
        UsageError, match="column time of table ops is in ms in the first and in us"
    ):
        tfprof.diff(table(), table("us"))

    def answer(tool, name):
        return ToolResult(tool, tool, (), {name: table()})

    with pytest.raises(UsageError, match="op-stats and pod are different tools"):
        tfprof.diff(answer("op-stats", "ops"), answer("pod", "ops"))
    with pytest.raises(UsageError, match="the two answers of pod have no table in common"):
        tfprof.diff(answer("pod", "ops"), answer("pod", "steps"))


def test_requests_must_fit_both_sides():
    profile = side("one", {"a": 10}).profiler
    with pytest.raises(UsageError, match="view and tool cannot be compared at once"):
        tfprof.diff(profile, profile, view="op", tool="pod")
    with pytest.raises(UsageError, match="pod needs captures; profiles have views"):
        tfprof.diff(profile, profile, tool="pod")
    captured = opened(xspace(host(line(event("a:MatMul", 0, 10)))))
    with pytest.raises(UsageError, match="there is no tool 'dusk' to compare; there are overview"):
        tfprof.diff(captured, captured, tool="dusk")
    with pytest.raises(UsageError, match="int cannot be compared with the other; give two of one"):
        tfprof.diff(3, captured)
