import csv
import io
import json
from collections import Counter

import pytest

import tfprof
from tfprof.profiles.model.executions import MEMORY_FIELDS
from tfprof.profiles.model.steps import MEASURES
from tfprof.profiles.write.tables import BY_NAME, FORMATS, TABLES, table_chunks
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    logged,
    op,
    op_log,
    run,
    run_on,
    stat,
    traced,
)

pytestmark = pytest.mark.slow


def text_of(profiler, table, form):
    profiler._session.complete()
    return b"".join(table_chunks(BY_NAME[table], profiler._session.profile, form)).decode()


def rows_of(profiler, table):
    return [json.loads(line) for line in text_of(profiler, table, "jsonl").splitlines()]


@pytest.fixture
def small():
    log = op_log(
        traced("net/mm", "train.py:3:main", "net.py:7:dense", float_ops=48),
        traced("x", "/usr/lib/python3.11/contextlib.py:9:run"),
        logged("w", types=["_trainable_variables"]),
    )
    profiler = tfprof.Profiler(
        graph(
            op("x", "Placeholder", shape=[-1, 2], outputs=[[-1, 2], "?"]),
            op("w", "VariableV2", shape=[2, 3]),
            op("net/mm", "MatMul", "x:1", "w", "^gone", outputs=[[4, 3]]),
        ),
        log,
    )
    mm = stat(50, start=1000, memory=(64, 32, 16), outputs=[48])
    profiler.add_step(0, run([("net/mm", mm), ("net/mm", stat(20, start=1100)), ("_Send", 2)]))
    profiler.add_step(1, run({"net/mm": stat(100, start=2000), "w": stat(7, start=0)}))
    return profiler


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    profiler.add_step(1, files.run_meta)
    return profiler


def test_ops(small):
    x, w, mm, send = rows_of(small, "ops")
    assert mm == {
        "name": "net/mm", "type": "MatMul", "scope": "net", "device": CPU.lower(),
        "only_at_run_time": False, "added_types": [], "inputs": ["x:1", "w", None],
        "output_shapes": [[4, 3]], "parameters": None, "float_ops": 48, "static_runs": 1,
        "code_file": "net.py", "code_line": 7, "code_function": "dense",
        "steps": 2, "runs": 1, "exec_micros": 85, "accelerator_micros": None, "cpu_micros": 85,
        "requested_bytes": 32, "peak_bytes": 16, "residual_bytes": 8, "output_bytes": 24,
    }  # fmt: skip
    assert (x["output_shapes"], x["parameters"]) == ([[None, 2], None], None)
    assert x["code_file"] == "/usr/lib/python3.11/contextlib.py"  # it has no other
    assert (x["steps"], x["runs"], x["exec_micros"], x["requested_bytes"]) == (0, None, None, None)
    assert (w["parameters"], w["added_types"]) == (6, ["_trainable_variables"])
    assert (w["output_shapes"], w["code_line"]) == (None, None)
    assert (w["steps"], w["exec_micros"], w["requested_bytes"]) == (1, None, None)  # without a time
    assert (send["type"], send["only_at_run_time"], send["code_line"]) == ("_Send", True, None)


def test_op_steps(small):
    columns = ("step", "op", "runs", "exec_micros", "accelerator_micros", "cpu_micros",
               "requested_bytes", "peak_bytes", "residual_bytes", "output_bytes", "start_micros",
               "end_micros")  # fmt: skip
    rows = rows_of(small, "op_steps")
    assert [*rows[0]] == [*columns]
    assert [tuple(row.values()) for row in rows] == [
        (0, "net/mm", 2, 70, None, 70, 64, 32, 16, 48, 1000, 1120),
        (0, "_Send", 1, 2, None, 2, 0, 0, 0, 0, 1000, 1002),
        (1, "w", 0, *[None] * 9),
        (1, "net/mm", 1, 100, None, 100, *[None] * 4, 2000, 2100),  # step 1 tells of no memory
    ]


def test_executions_and_memory(small):
    assert [tuple(row.values()) for row in rows_of(small, "executions")][2:] == [
        (0, "_Send", None, CPU.lower(), "cpu", 1_000_000, 2000, 2),
        (1, "net/mm", None, CPU.lower(), "cpu", 2_000_000, 100_000, 100),
        (1, "w", None, CPU.lower(), "cpu", None, None, None),
    ]
    rows = rows_of(small, "memory")
    assert [(row["step"], row["op"], row["end_micros"]) for row in rows] == [
        (0, "net/mm", 1050), (0, "net/mm", 1120), (0, "_Send", 1002),
    ]  # fmt: skip
    assert (rows[0]["requested_bytes"], rows[0]["output_bytes"]) == (64, 48)
    assert rows_of(small, "output_buffers") == [
        {"step": 0, "op": "net/mm", "output": 0, "size_bytes": 48, "address": None}
    ]


def test_accelerators():
    profiler = tfprof.Profiler(graph(op("mm", "MatMul")))
    blocks = {
        GPU: {"mm": 3}, GPU_STREAMS: {"mm:MatMul": 40},
        "/device:GPU:0/memcpy": {"MEMCPYHtoD": 8},
    }  # fmt: skip
    profiler.add_step(0, run_on(blocks))
    (row,) = rows_of(profiler, "op_steps")
    assert (row["exec_micros"], row["accelerator_micros"], row["cpu_micros"]) == (43, 40, 3)
    assert [(row["op"], row["other_name"], row["counts_as"]) for row in rows_of(
        profiler, "executions"
    )] == [
        ("mm", None, "cpu"), ("mm", None, "accelerator"), (None, "MEMCPYHtoD", "other"),
    ]  # fmt: skip


def test_edges(small):
    assert [tuple(row.values()) for row in rows_of(small, "edges")] == [
        ("x", "net/mm", 1, 0, False), ("w", "net/mm", 0, 1, False), (None, "net/mm", None, 2, True),
    ]  # fmt: skip


def test_call_stacks(small):
    assert [tuple(row.values()) for row in rows_of(small, "call_stacks")] == [
        ("x", 0, "/usr/lib/python3.11/contextlib.py", 9, "run", None, None),
        ("net/mm", 0, "train.py", 3, "main", None, None),
        ("net/mm", 1, "net.py", 7, "dense", None, None),
    ]


def test_csv(small):
    lines = text_of(small, "op_steps", "csv").splitlines()
    assert lines[0].startswith("step,op,runs,exec_micros,")
    assert lines[3] == "1,w,0,,,,,,,,,"
    ops = list(csv.DictReader(io.StringIO(text_of(small, "ops", "csv"))))
    assert json.loads(ops[2]["inputs"]) == ["x:1", "w", None]
    assert (ops[3]["only_at_run_time"], ops[2]["parameters"]) == ("true", "")


def test_json_tells_units(small):
    data = json.loads(text_of(small, "steps", "json"))
    assert data["table"] == "steps"
    assert [row["op_micros"] for row in data["rows"]] == [72, 100]
    assert {"name": "wall_micros", "unit": "µs", "meaning": "from the first start to the last end"
            } in data["columns"]  # fmt: skip


@pytest.mark.parametrize("table", [table.name for table in TABLES])
@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_profile(table, form):
    text = text_of(tfprof.Profiler(graph()), table, form)
    if form == "csv":
        assert text == ",".join(field.name for field in BY_NAME[table].fields) + "\n"
    elif form == "json":
        assert json.loads(text)["rows"] == []
    else:
        assert text == ""


def test_hostile_names():
    name = 'a"\n,\u2028</script>\x00'
    profiler = tfprof.Profiler(graph(op(name, "NoOp")))
    assert rows_of(profiler, "ops")[0]["name"] == name
    (row,) = csv.DictReader(io.StringIO(text_of(profiler, "ops", "csv"), newline=""))
    assert row["name"] == name


def test_columns_follow_the_model():
    assert len(BY_NAME["memory"].fields) == 2 + len(MEMORY_FIELDS)
    assert len(BY_NAME["op_steps"].fields) == len(MEASURES) + 5
    for table in TABLES:
        names = [field.name for field in table.fields]
        assert len({*names}) == len(names)
        for field in table.fields:
            assert field.meaning
            for unit, ending in (("µs", "micros"), ("ns", "nanos"), ("bytes", "bytes")):
                assert (field.unit == unit) == (ending in field.name)


def test_steps_of_ops_add_up_to_the_views(demo):
    rows = rows_of(demo, "op_steps")
    for step in (0, 1):
        tree = demo.view("op", {**tfprof.ProfileOptionBuilder().build(), "step": step})
        for column, metric in (
            ("exec_micros", "total_exec_micros"), ("cpu_micros", "total_cpu_exec_micros"),
            ("requested_bytes", "total_requested_bytes"), ("output_bytes", "total_output_bytes"),
            ("runs", "total_run_count"),
        ):  # fmt: skip
            total = sum(row[column] or 0 for row in rows if row["step"] == step)
            assert total == getattr(tree, metric) > 0
    tree = demo.view("op")  # the average
    ops = rows_of(demo, "ops")
    assert sum(row["exec_micros"] or 0 for row in ops) == tree.total_exec_micros
    assert sum(row["parameters"] or 0 for row in ops) == tree.total_parameters
    floats = sum((row["float_ops"] or 0) * (row["runs"] or 0) for row in ops if row["steps"])
    assert floats == tree.total_float_ops  # no op ran as a part of another


def test_executions_add_up_to_runs(demo):
    runs, micros = Counter(), Counter()
    for row in rows_of(demo, "executions"):
        if row["op"] is not None:
            assert row["counts_as"] == "cpu"
            runs[row["step"], row["op"]] += 1
            micros[row["step"], row["op"]] += row["duration_micros"]
    rows = rows_of(demo, "op_steps")
    assert {(row["step"], row["op"]): row["runs"] for row in rows} == runs
    assert {(row["step"], row["op"]): row["cpu_micros"] for row in rows} == micros


def test_memory_adds_up(demo):
    sums = Counter()
    for row in rows_of(demo, "memory"):
        sums[row["step"]] += row["requested_bytes"]
    assert {row["step"]: row["requested_bytes"] for row in rows_of(demo, "steps")} == sums


@pytest.mark.parametrize("table", ["ops", "executions", "edges", "allocations"])
def test_chunks_are_small_and_the_same_every_time(demo, table):
    demo._session.complete()
    chunks = [*table_chunks(BY_NAME[table], demo._session.profile, "csv")]
    assert len(chunks) > 3
    assert max(map(len, chunks)) < 80_000
    assert chunks == [*table_chunks(BY_NAME[table], demo._session.profile, "csv")]
