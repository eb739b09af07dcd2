"""Several profiles of one program become one."""

from __future__ import annotations

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import (
    CPU,
    GPU,
    graph,
    logged,
    op,
    op_log,
    options,
    run,
    run_on,
    stat,
    traced,
)


def worker(number: int) -> tfprof.Profiler:
    """One of three workers, each with a part of the graph of its own."""
    own = f"own_{number}"
    profiler = tfprof.Profiler(
        graph(
            op("w", "VariableV2", shape=[2, 3], outputs=[[2, 3]], index=number),
            op(own, "MatMul", "w", "elsewhere", outputs=[[number, 3]]),
        ),
        op_log(
            traced(own, f"worker_{number}.py:3:main"),
            logged("w", types=["_trainable_variables", f"of_{number}"], float_ops=number),
        ),
    )
    used = stat(10 + number, memory=(64, 32, 16), outputs=(number,))
    profiler.add_step(0, run({own: used, "w": number, f"_arg_{number}": 1}))
    profiler.add_step(number, run_on({GPU: {own: 1}, CPU: {"w": 100}}))
    return profiler


def test_ops_are_united_by_name_and_executions_of_a_step_add_up() -> None:
    merged = worker(1).merge(worker(2))
    assert merged.steps == [0, 1, 2]
    rows = {node.name: node for node in merged.view("scope", options(step=0)).children}
    assert rows["own_1"].exec_micros == 11
    assert rows["own_2"].exec_micros == 12
    assert rows["w"].exec_micros == 1 + 2
    assert rows["w"].run_count == 2
    assert rows["w"].parameters == 6
    assert rows["own_2"].output_bytes == 2


def test_data_of_the_first_profile_win_and_the_second_adds() -> None:
    merged = worker(1).merge(worker(2))._session.profile
    ops = merged.ops
    row = ops.row("w")
    assert ops.float_ops.array[row] == 1
    assert [ops.strings[type_id] for type_id in ops.added_types[row]] == [
        "_trainable_variables",
        "of_1",
        "of_2",
    ]
    (frame,) = merged.stacks.frame_ids(int(ops.stack_ids.array[ops.row("own_2")]))
    assert merged.stacks.frames[frame].label == "worker_2.py:3:main"


def test_an_op_that_only_ran_gets_shape_and_stack_from_another_profile() -> None:
    ran = tfprof.Profiler(graph())
    ran.add_step(0, run({"a": 5}))
    defined = tfprof.Profiler(
        graph(op("a", "X", shape=[4], outputs=[[7]])), op_log(traced("a", "f.py:1:g"))
    )
    merged = ran.merge(defined)
    (node,) = merged.view("code", options()).children
    assert node.name == "f.py:1:g"
    assert node.total_exec_micros == 5
    assert node.total_parameters == 4


def test_inputs_that_one_profile_misses_are_found_in_the_other() -> None:
    merged = tfprof.Profiler(graph(op("b", "Add", "a"))).merge(
        tfprof.Profiler(graph(op("a", "X", outputs=[[7]])))
    )
    (node,) = merged.view("graph", options()).children
    assert node.name == "b"
    assert [child.name for child in node.children] == ["a"]


def test_nothing_changes_in_the_profiles_that_are_merged() -> None:
    one, two = worker(1), worker(2)
    before = one.serialize_to_string(), two.serialize_to_string()
    one.merge(two)
    assert (one.serialize_to_string(), two.serialize_to_string()) == before


def test_an_empty_profile_is_the_identity() -> None:
    one, empty = worker(1), tfprof.Profiler(graph())
    alone = one.serialize_to_string()
    assert one.merge().serialize_to_string() == alone
    assert one.merge(empty).serialize_to_string() == alone
    assert empty.merge(one).serialize_to_string() == alone


@pytest.mark.parametrize("loaded", [False, True])
def test_merging_is_associative(loaded: bool) -> None:
    workers = [worker(number) for number in (1, 2, 3)]
    if loaded:
        workers = [tfprof.load(one.serialize_to_string()) for one in workers]
    a, b, c = workers
    together = a.merge(b, c).serialize_to_string()
    assert a.merge(b).merge(c).serialize_to_string() == together
    assert a.merge(b.merge(c)).serialize_to_string() == together


def test_a_merged_profile_is_saved_with_all_attributes_and_takes_more_steps() -> None:
    merged = worker(1).merge(worker(2))
    saved = pb.ProfileProto.FromString(merged.serialize_to_string())
    nodes = {node.name: node for node in saved.nodes.values()}
    assert nodes["w"].attrs["index"].i == 1
    assert "_output_shapes" in nodes["own_2"].attrs
    merged.add_step(9, run({"own_1": 4}))
    again = tfprof.load(merged.serialize_to_string())
    assert again.steps == [0, 1, 2, 9]
    assert again.serialize_to_string() == merged.serialize_to_string()
