"""Op logs without TensorFlow; ``tests/graphs/live/test_live_graph.py`` has those of live graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, logged, op, op_log, run, shape_proto, stat, traced


def entries(log: tfprof.OpLogProto) -> dict[str, tuple[int, list[str], list[tuple[str, int, str]]]]:
    """What each entry says, with its strings looked up."""
    text = log.id_to_string
    return {
        entry.name: (
            entry.float_ops,
            list(entry.types),
            [(text[t.file_id], t.lineno, text[t.function_id]) for t in entry.code_def.traces],
        )
        for entry in log.log_entries
    }


TINY = graph(
    op("x", "Placeholder", outputs=[[4, 3]]),
    op("w", "VariableV2", shape=[3, 2], outputs=[[3, 2]]),
    op("product", "MatMul", "x", "w", outputs=[[4, 2]]),
)


def test_what_is_found_and_what_is_given_come_together() -> None:
    given = op_log(
        logged("product", types=["mine"]),
        traced("w", "train.py:7:build", float_ops=3),
        logged("elsewhere", float_ops=9),
    )
    assert entries(tfprof.merge_default_with_oplog(TINY, given)) == {
        "w": (3, [], [("train.py", 7, "build")]),
        "product": (2 * 4 * 3 * 2, ["mine"], []),
        "elsewhere": (9, [], []),
    }


def test_the_given_op_log_stays_as_it_is() -> None:
    given = op_log(logged("product", types=["mine"]))
    before = given.SerializeToString(deterministic=True)
    tfprof.merge_default_with_oplog(TINY, given)
    tfprof.merge_default_with_oplog(TINY, given)
    assert given.SerializeToString(deterministic=True) == before


def test_run_time_shapes_make_ops_countable() -> None:
    unknown = graph(
        op("x", "Placeholder", outputs=[[-1, 3]]),
        op("w", "VariableV2", outputs=[[3, 2]]),
        op("product", "MatMul", "x", "w", outputs=[[-1, 2]]),
    )
    assert entries(tfprof.merge_default_with_oplog(unknown)) == {}

    def seen(*shape: int) -> pb.NodeExecStats:
        made = stat(1, outputs=(4,))
        made.output[0].tensor_description.shape.CopyFrom(shape_proto(shape))
        return made

    run_meta = run({"x": seen(5, 3), "product": seen(5, 2)})
    completed = entries(tfprof.merge_default_with_oplog(unknown, run_meta=run_meta))
    assert completed == {"product": (2 * 5 * 3 * 2, [], [])}


def test_strings_of_two_logs_are_never_mixed_up() -> None:
    first = op_log(traced("x", "one.py:1:f"))
    second = op_log(traced("x", "two.py:2:g"))
    assert set(first.id_to_string) == set(second.id_to_string)  # the ids alone are the same
    one, two = (tfprof.merge_default_with_oplog(TINY, log) for log in (first, second))
    assert entries(one)["x"][2] == [("one.py", 1, "f")]
    assert entries(two)["x"][2] == [("two.py", 2, "g")]


def test_trainable_variables_are_marked_unless_unwanted() -> None:
    meta = pb.MetaGraphDef(graph_def=TINY)
    variable = pb.VariableDef(variable_name="w:0").SerializeToString()
    meta.collection_def["trainable_variables"].bytes_list.value.append(variable)
    marked = entries(tfprof.merge_default_with_oplog(meta))
    assert marked["w"][1] == ["_trainable_variables"]
    unmarked = entries(tfprof.merge_default_with_oplog(meta, add_trainable_var=False))
    assert "w" not in unmarked


def test_a_written_op_log_serves_a_profiler(tmp_path: Path) -> None:
    tfprof.write_op_log(TINY, tmp_path, op_log(traced("product", "net.py:3:dense")))
    profiler = tfprof.Profiler(TINY, tmp_path / "tfprof_log")
    assert profiler.view("code").children[0].name == "net.py:3:dense"
    assert [path.name for path in tmp_path.iterdir()] == ["tfprof_log"]


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(tfprof.InputError, match=r"nowhere.*Make the folder"):
        tfprof.write_op_log(TINY, tmp_path / "nowhere")
