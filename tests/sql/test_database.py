"""Questions in SQL: what tables hold, and what a question cannot do."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tfprof import tools
from tfprof.demo import DEMO_CAPTURES, demo_capture
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.sql import Database, Limits, query
from tfprof.sql.catalog import snake_case
from tfprof.sql.event_tables import depths
from tfprof.testing.xspace_builders import event, host, line, opened, plane, xspace

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def run():
    """Two steps of 100 and 50 ms; an op of 30 ms with one of 10 ms inside it."""
    steps = line(
        event("train", 0, 100, step_num=7, _r=1),
        event("dense/MatMul:MatMul", 10, 30),
        event("dense/Relu:Relu", 20, 10),
        event("train", 200, 50, step_num=8, _r=1),
        event("dense/MatMul:MatMul", 210, 20),
    )
    return tools.open_run(xspace(host(steps)))


@pytest.fixture(scope="module")
def database(run):
    with Database(run) as database:
        yield database


def rows(database, statement):
    return list(database.query(statement).table().rows)


def test_events(database, run):
    got = rows(
        database,
        "select name, op, op_type, count(*), sum(duration_ps), sum(self_ps), min(step) "
        "from events where not is_derived group by all order by 1",
    )
    durations = run.hosts[0].timeline.durations_ps
    unit = int(durations.max()) // 100
    assert got == [
        ("dense/MatMul:MatMul", "dense/MatMul", "MatMul", 2, 50 * unit, 40 * unit, "train 7"),
        ("dense/Relu:Relu", "dense/Relu", "Relu", 1, 10 * unit, 10 * unit, "train 7"),
        ("train", None, None, 2, 150 * unit, 100 * unit, "train 7"),
    ]


def test_steps(database):
    got = rows(
        database, "select step, step_number, duration_ps - between_ps, is_cut from steps order by 2"
    )
    assert [row[:2] for row in got] == [("train 7", 7), ("train 8", 8)]
    assert got[0][2] == 2 * got[1][2]


def test_averages_of_tools_are_of_typical_steps(database, run):
    [claim, *_] = [one for one in tools.overview(run).claims if one.metric == "step_time"]
    got = rows(database, "select count(*), avg(duration_ps) / 1e9 from steps where is_typical")
    assert got == [(claim.details["step_count"], pytest.approx(claim.value))]


def test_tables_of_tools_are_what_tools_answer(database, run):
    stats = tools.op_stats(run).table("ops")
    got = database.query("select * exclude run from op_stats_ops").table()
    ids = [snake_case(column.id) for column in stats.columns]
    assert [column.id for column in got.columns] == ids
    assert list(got.rows) == [tuple(row) for row in stats.rows]
    _, *described = database.table("op_stats_ops").columns
    assert [(one.unit, one.meaning) for one in described] == [
        (column.unit, column.meaning) for column in stats.columns
    ]


def test_claims_are_those_of_all_tools(database, run):
    [step] = rows(
        database, "select value, unit, scope, text from claims "
        "where tool = 'overview' and metric = 'step_time' and subject = 'step'",
    )  # fmt: skip
    stated = next(one for one in tools.overview(run).claims if one.metric == "step_time")
    assert step == (stated.value, "ms", stated.scope, stated.text)
    [unknown] = rows(
        database, "select value, unknown from claims "
        "where tool = 'overview' and metric = 'input_share'",
    )  # fmt: skip
    assert unknown[0] is None
    assert "at least 3 are needed" in unknown[1]
    [share] = rows(
        database, "select (details ->> 'idle_share')::double from claims where tool = 'op-stats'"
    )
    [op] = tools.op_stats(run).claims
    assert share[0] == op.details["idle_share"]


def test_all_tables_can_be_read(database):
    tables = database.tables()
    assert {"events", "steps", "overview_performance"} <= {table.name for table in tables}
    for table in tables:
        assert rows(database, f"select * from {table.name}") is not None
        whole = database.table(table.name)
        assert (whole.about, whole.columns) == (table.about, table.columns)
        assert [one.name for one in whole.fields] == [one.name for one in table.columns]


def test_profiles():
    files = tfprof.demo_files()
    with Database(files.graph, files.run_meta) as database:
        (ops,) = rows(database, "select count(*), count(distinct name) from profile_ops")
        assert ops[0] == ops[1] > 1000
        with pytest.raises(UsageError, match="no table 'events'"):
            database.query("select * from events")


def test_several_runs_and_hosts():
    spaces = [xspace(host(line(event("work", 0, duration)))) for duration in (1, 2, 3)]
    first, second = opened(*spaces[:2]), opened(spaces[2])
    with Database(first, second) as database:
        got = rows(database, "select run, host, count(*) from events group by all order by all")
    assert sorted(count for *_, count in got) == [1, 1, 1]
    assert len({run for run, *_ in got}) == 2
    assert len({one for _, one, _ in got}) == 2


def test_times_of_all_hosts_are_on_one_axis(run):
    times = rows(Database(run), "select min(start_ps), max(start_ps + duration_ps) from events")[0]
    timeline = run.hosts[0].timeline
    assert times == (int(timeline.starts_ps.min()), int(np.max(timeline.ends_ps)))


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("select 1; select 2", "2 statements"),
        ("", "0 statements"),
        ("create table t as select 1", "CREATE is not allowed"),
        ("copy (select 1) to '/tmp/out.csv'", "only reads|may not read or write"),
        ("attach '/tmp/other.db'", "ATTACH is not allowed"),
        ("set threads = 1", "SET is not allowed"),
        ("pragma enable_profiling", "not allowed"),
        ("install httpfs", "LOAD is not allowed"),
        ("call pragma_version()", "CALL is not allowed"),
        ("select * from read_csv('/etc/passwd')", "may not read or write files"),
        ("select * from read_text('/etc/passwd')", "may not read or write files"),
        ("select * from glob('/*')", "may not read or write files"),
        ("select * from 'https://example.org/x.parquet'", "may not|no table"),
        ("select * from secret", "no table 'secret'"),
        ("select * from event", "did you mean 'events'"),
        ("select nme from events", "name"),
        ("selec 1", "syntax error"),
    ],
)
def test_what_a_question_cannot_do(database, statement, why):
    secret = "a variable of this process"  # noqa: F841  # must not be found
    with pytest.raises(UsageError, match=why):
        database.query(statement)


def test_a_question_without_end_is_ended(run):
    with (
        Database(run, limits=Limits(seconds=0.2)) as database,
        pytest.raises(UsageError, match=r"limit of 0\.2 s"),
    ):
        database.query("select count(*) from range(1000000) a, range(1000000) b")


def test_a_question_that_needs_too_much_memory_is_ended(run):
    with (
        Database(run, limits=Limits(memory_bytes=16 << 20)) as database,
        pytest.raises(UsageError, match="limit of memory"),
    ):
        database.query("select list(range) from range(100000000)")


def test_rows_are_limited_and_that_is_reported(run):
    with Database(run, limits=Limits(rows=3)) as database:
        result = database.query("from range(4)")
        assert len(result.table()) == 3
        assert "first 3 rows" in result.notes[0].message
        assert not database.query("from range(3)").notes


def test_values_of_other_types_and_equal_names(database):
    table = database.query(
        "select 1.5::decimal(5, 2) a, [1, 2] a, date '2026-01-02' d, true, null n"
    ).table()
    assert [column.id for column in table.columns][:3] == ["a", "a_2", "d"]
    assert table.rows[0] == (1.5, "[1, 2]", "2026-01-02", True, None)


def test_names_are_data():
    hostile = "'; drop table events; --<script>"
    run = tools.open_run(xspace(host(line(event(hostile, 0, 1)))))
    assert query("select name from events", run).to_rows() == [{"name": hostile}]


def test_tables_are_found_wherever_a_statement_names_them(database):
    (count,) = rows(
        database,
        "with middle as (select run, median(duration_ps) as ps from steps group by run) "
        "select count(*) from steps s join middle m using (run) "
        "where s.duration_ps >= m.ps and s.step in (select step from Events)",
    )
    assert count == (1,)
    assert len(rows(database, "describe trace_threads")) == 10


def test_limits_are_checked():
    with pytest.raises(UsageError, match="limit seconds=0"):
        Limits(seconds=0)


def test_nothing_to_ask():
    with pytest.raises(UsageError, match="nothing to ask"):
        query("select 1")


def test_without_duckdb(monkeypatch, run):
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingDependencyError, match=r"tfprof\[sql\]"):
        query("select 1", run)


def test_all_tables_are_listed_before_any_query(run):
    with Database(run) as database:
        shown = [name for (name,) in rows(database, "SHOW  tables;")]
        assert shown == [table.name for table in database.tables()]
        assert {"events", "event_arguments", "runs", "hosts", "notes", "columns"} <= set(shown)
        assert rows(database, "show all tables") == rows(database, "select * from tables")
        columns = rows(database, "select table_name, name from columns")
    assert len(columns) == len(set(columns))
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for _, name in columns)
    described = {(table.name, one.name) for table in database.tables() for one in table.columns}
    assert set(columns) == described


@pytest.mark.parametrize("capture", DEMO_CAPTURES)
def test_the_catalogue_has_one_form_of_names_and_a_meaning_for_each(capture):
    with Database(demo_capture(capture)) as database:
        tables = database.tables()
    for table in tables:
        names = [one.name for one in table.columns]
        assert len(names) == len(set(names))
        for name in (table.name, *names):
            assert re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", name), (table.name, name)
        assert all(one.meaning for one in table.columns), table.name
        assert all(one.clock for one in table.columns if one.unit in ("ps", "us", "µs", "ms"))


def test_names_in_snake_case():
    assert snake_case("deviceComputeTimeMs") == "device_compute_time_ms"
    assert snake_case("Host_total") == "host_total"
    assert snake_case("self_ps") == "self_ps"


def test_regions_that_were_worked_out_are_not_recorded_rows():
    """A region of 60 from two events, in an op of 100, around one of 20 with one of 5 inside."""
    space = xspace(
        host(
            line(
                event("a:Outer", 0, 100),
                event("ThreadpoolListener::StartRegion", 10, 0, _ct=0, _c=5),
                event("b:Inner", 20, 20),
                event("c:Most", 25, 5),
                event("ThreadpoolListener::StopRegion", 70, 0, _ct=0, _c=5),
            )
        )
    )
    with Database(tools.open_run(space)) as database:
        got = rows(
            database,
            "select e.name, is_derived, round(self_ps / d.longest * 100), depth, p.name "
            "from events e join event_details using (run, host, event_id) "
            "left join (select run, host, event_id as parent_id, name from events) p "
            "using (run, host, parent_id), (select max(duration_ps) as longest from events) d "
            "order by e.event_id",
        )
    assert got == [
        ("a:Outer", False, 80, 0, None),
        ("ThreadpoolListener::Region", True, 40, 1, "a:Outer"),
        ("ThreadpoolListener::StartRegion", False, 0, 1, "a:Outer"),
        ("b:Inner", False, 15, 1, "a:Outer"),
        ("c:Most", False, 5, 2, "b:Inner"),
        ("ThreadpoolListener::StopRegion", False, 0, 1, "a:Outer"),
    ]


def test_arguments_and_details():
    kernel = event("gemm", 50, 9, correlation_id=7, kernel_details="regs:4 grid:1,1,1 block:32,1,1")
    copied = event("MemcpyH2D", 60, 9, memcpy_details="kind_src:pinned size:4096 dest:0 async:1")
    allocated = event(
        "MemoryAllocation", 5, 1, requested_bytes=40, shape="[2,5]", fragmentation=0.5
    )
    launch = event("cuLaunchKernel", 1, 3, correlation_id=7)
    space = xspace(host(line(launch, allocated)), plane("/device:GPU:0", line(kernel, copied)))
    with Database(tools.open_run(space)) as database:
        details = rows(
            database,
            "select name, correlation_id, shape, bytes, details from events "
            "join event_details using (run, host, event_id) where not is_derived order by start_ps",
        )
        arguments = rows(
            database,
            "select a.name, value, number from events e join event_arguments a "
            "using (run, host, event_id) where e.name = 'MemoryAllocation' order by all",
        )
    assert details == [
        ("cuLaunchKernel", 7, None, None, None),
        ("MemoryAllocation", None, "[2,5]", 40, None),
        ("gemm", 7, None, None, "regs:4 grid:1,1,1 block:32,1,1"),
        ("MemcpyH2D", None, None, 4096, "kind_src:pinned size:4096 dest:0 async:1"),
    ]
    assert arguments == [
        ("fragmentation", "0.5", 0.5), ("requested_bytes", "40", 40), ("shape", "[2,5]", None)
    ]  # fmt: skip


def test_runs_hosts_and_notes(run):
    with Database(run) as database:
        [(name, is_capture, hosts)] = rows(database, "select run, is_capture, hosts from runs")
        assert (is_capture, hosts) == (True, 1)
        [found] = rows(database, "select run, events, marked_steps, host_tracer_level from hosts")
        assert found == (name, 5, 2, None)  # the capture states no levels
        assert rows(database, "select * from notes") == []
    empty = tools.open_run(xspace(host()))
    [note] = query("select severity, message from notes", empty).to_rows()
    assert note["severity"] == "warning" and note["message"].startswith("holds no events")


@given(st.lists(st.integers(-1, 20), max_size=20))
def test_depths_count_what_is_around(parents):
    parents = [min(parent, place - 1) for place, parent in enumerate(parents)]
    counts = []
    for parent in parents:
        counts.append(0 if parent < 0 else counts[parent] + 1)
    assert depths(np.array(parents, np.int64)).tolist() == counts
