"""Tables of several runs of several kinds; their rows follow from what is written here."""

import pytest

import tfprof
from tfprof.errors import UsageError
from tfprof.inputs.open_paths import open_paths
from tfprof.sql import Database
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

pytest.importorskip("duckdb")

DETAILS = {"kernel_details": "regs:32 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"}


def on_gpu():
    """Two steps of 1000 ns; in each a launch, and kernels of 300 and 200 ns on the device."""
    marks, kernels = [], []
    for step in range(2):
        begin = 1000 * step
        marks += [
            event("train", begin, 1000, step_num=step, _r=1),
            event("cuLaunchKernel", begin + 10, 20, correlation_id=2 * step + 1),
            event("cuLaunchKernel", begin + 40, 20, correlation_id=2 * step + 2),
        ]
        kernels += [
            event("sgemm", begin + 100, 300, correlation_id=2 * step + 1,
                  tf_op="layer/MatMul:MatMul", **DETAILS),
            event("add", begin + 450, 200, correlation_id=2 * step + 2,
                  tf_op="layer/Add:Add", **DETAILS),
        ]  # fmt: skip
    stream = line(*kernels, id=14, name="Stream #14(Compute)")
    return opened(xspace(host(line(*marks)), gpu(stream), hostname="gpu-machine"))


def profile():
    """Two steps of two ops: 10 and 20 µs, then 30 and 40 µs."""
    made = tfprof.Profiler(graph(op("a", "MatMul"), op("b", "Relu", "a")))
    for step, (one, other) in enumerate([(10, 20), (30, 40)]):
        made.add_step(step, run({"a": stat(one, start=1000), "b": stat(other, start=1000 + one)}))
    return made


STACKS = "main;train;step 30\nmain;train 5\nmain;load 7\n"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A capture, a profile, and call stacks of another program."""
    path = tmp_path_factory.mktemp("stacks") / "stacks.folded"
    path.write_text(STACKS, encoding="utf-8")
    [stacks] = open_paths([str(path)])
    with Database(on_gpu(), profile(), stacks) as database:
        yield database


def rows(database, statement):
    return [tuple(row) for row in database.query(statement).table().rows]


def test_kernels_of_each_step(database):
    found = rows(
        database,
        "select name, step, sum(duration_ps) // 1000 from events where name in ('sgemm', 'add') "
        "and not is_derived group by all order by all",
    )
    assert found == [
        ("add", "train 0", 200), ("add", "train 1", 200),
        ("sgemm", "train 0", 300), ("sgemm", "train 1", 300),
    ]  # fmt: skip


def test_tables_of_tools_join_with_events(database):
    """Each kernel of the tool has as much time as its events, and the op that launched it."""
    found = rows(
        database,
        "with sums as (select run, name, sum(duration_ps) as ps from events where not is_derived "
        "group by all) select op_name, kernel_name, occurrences, ps, ps / 1e6 = total_duration_us "
        "from kernel_stats_kernels k join sums s on k.run = s.run and k.kernel_name = s.name "
        "order by rank",
    )
    assert found == [
        ("layer/MatMul", "sgemm", 2, 600_000, True), ("layer/Add", "add", 2, 400_000, True),
    ]  # fmt: skip


def test_executions_of_a_profile(database):
    found = rows(
        database,
        "select step, op, duration_micros from profile_executions where run = 'profile' "
        "order by all",
    )
    assert found == [(0, "a", 10), (0, "b", 20), (1, "a", 30), (1, "b", 40)]


def test_stacks_of_another_program(database):
    found = rows(database, "select stack, name, value from stacks order by value")
    assert found == [
        ("main;train", "train", 5), ("main;load", "load", 7), ("main;train;step", "step", 30),
    ]  # fmt: skip
    assert rows(database, "select sum(value) from stacks where stack like '%train%'") == [(35,)]


def test_runs_differ_in_the_tables_that_they_have(database):
    found = dict(rows(database, "select run, count(*) from runs group by run"))
    assert len(found) == 3
    in_events = {row[0] for row in rows(database, "select distinct run from events")}
    in_profiles = {row[0] for row in rows(database, "select distinct run from profile_ops")}
    assert in_events == {"run"}
    assert in_profiles == {"run", "profile"}  # a capture has a profile, too


def test_names_that_are_not_there_have_a_hint(database):
    with pytest.raises(UsageError, match="no table 'event'; did you mean 'events'"):
        database.query("select * from event")
    with pytest.raises(UsageError, match=r"no table 'xyzzy'; they have .*events"):
        database.query("select * from xyzzy")
    with pytest.raises(UsageError, match="no table 'step'; did you mean 'steps'"):
        database.table("step")
    with pytest.raises(UsageError, match="nme"):
        database.query("select nme from events")


def test_a_table_as_columns(database):
    table = database.table("profile_executions")
    assert [one.name for one in table.fields][:2] == ["run", "step"]
    assert hasattr(table, "__arrow_c_stream__")


def test_two_runs_of_one_tool_have_all_columns():
    """Of two captures one has a GPU: the other has no row of kernels, and both have steps."""
    plain = opened(xspace(host(line(event("train", 0, 100, step_num=3, _r=1),
                                    event("a:MatMul", 10, 50)))))  # fmt: skip
    with Database(on_gpu(), plain) as database:
        kernels = rows(database, "select run, count(*) from kernel_stats_kernels group by run")
        steps = rows(database, "select run, count(*) from steps group by run order by 2")
        assert [count for _, count in kernels] == [2]
        assert [count for _, count in steps] == [1, 2]
        assert kernels[0][0] == steps[1][0] != steps[0][0]
