"""Events of hosts in files: the answer is that of all events together in memory."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.captures.tools.oracle import folder
from tfprof.captures.hosts.asked import fleet_of
from tfprof.errors import InputError, UsageError
from tfprof.sql import Database, Limits, event_files
from tfprof.sql.database import columns_read
from tfprof.sql.event_files import EventFolder, file_of_host
from tfprof.tools import open_run

pytestmark = pytest.mark.one_engine

duckdb = pytest.importorskip("duckdb")

CAPTURES = ("cpu-multi-worker", "gpu-synthetic", "cpu-no-steps")


@pytest.fixture(scope="module")
def run():
    """Four hosts of several programs, one of them without steps."""
    return open_run([str(p) for one in CAPTURES for p in sorted(folder(one).glob("*.xplane.pb*"))])


@pytest.fixture(scope="module")
def database(run):
    with Database(run) as database:
        yield database


def told(result):
    table = result.table()
    return [(column.id, column.type) for column in table.columns], list(table.rows)


@pytest.fixture(scope="module")
def filed(run, tmp_path_factory):
    """The same, with events in files."""
    with Database(run, folder=EventFolder(str(tmp_path_factory.mktemp("it's")))) as database:
        yield database


@pytest.mark.parametrize(
    "statement",
    [
        "select count(*) from events",
        "select name, sum(self_ps) / 1e9 as ms, avg(duration_ps), count(*) n from events e "
        "where host like 'w%' group by 1 having count(*) > 2 order by ms desc, name limit 10",
        "select host, plane, min(start_ps), max(start_ps + duration_ps) as last, avg(start_ps) "
        "from events group by all order by all",
        "select upper(op_type) as t, count(op) filter (where duration_ps > 1000000) c, count(*) "
        "from events group by t having c > 1 order by t",
        "select step, avg(self_ps) + 1 x, x * 2 as y, min(name), max(e.is_derived) from events e "
        "where op_type is not null group by step order by y desc nulls last, step",
        "select duration_ps / 1e9 as ms, count(*) from events where ms > 1 group by ms order by 1",
        "select avg(self_ps), sum(self_ps), min(op), count(*) from events where false",
        "select name from events group by name order by count(*) desc, name limit 5 offset 2",
        "select run, count(*) // 2 k, sum(duration_ps) % 7, sum(line_id) + sum(line_id) "
        "from events group by run",
        "select lower(name) as name, count(*) from events group by 1 order by name, 2",
        "select op_type, max(duration_ps / 1e9) from events group by op_type order by sum(self_ps) "
        "desc, op_type",
        "from events select sum(case when is_derived then 1 else 0 end), sum(duration_ps * 0.5)",
        "select * from events order by host, event_id",
        "select op_type, median(self_ps), count(distinct name) from events group by 1 order by 1",
        "with a as (select host, max(duration_ps) as ps from events group by 1) "
        "select e.host, e.name from events e join a on e.host = a.host and duration_ps = ps "
        "order by all",
        "select plane, name, count(*) from events group by rollup(plane, name) order by all",
        "select distinct plane, count(*) over (partition by plane) from events order by all",
        "select count(*) from events where self_ps = (select max(self_ps) from events) "
        "union all select 1",
        "select d.host, d.depth, sum(e.self_ps) from events e join event_details d "
        "using (run, host, event_id) group by all order by all",
        "select name, count(number), max(value) from event_arguments group by 1 order by 1",
        "select s.step, count(*) from steps s join events e on e.host = s.host and e.step = s.step "
        "group by all order by all",
        "describe events",
        "select number, begin_ps from event_arguments, (select 1 as begin_ps) order by all limit 9",
    ],
)
def test_answers_are_the_same(database, filed, run, statement, tmp_path):
    whole = told(database.query(statement))
    assert told(filed.query(statement)) == whole
    folder = EventFolder(str(tmp_path), columns_read(statement))
    with Database(run, folder=folder) as asked:
        assert told(asked.query(statement)) == whole


def test_only_what_a_question_reads_is_written(run, tmp_path):
    statement = "select a.name from (select name, line from events where duration_ps > 5) a"
    folder = EventFolder(str(tmp_path), columns_read(statement))
    assert folder.columns_of("events") == ("name", "duration_ps")
    with Database(run, folder=folder) as asked:
        assert asked.query(statement).table().rows
        assert asked.query("select count(*) from events").table().rows
        for other in ("select line from events", "select e from events e"):
            with pytest.raises(UsageError, match="was not written"):
                asked.query(other)
    for statement in ("from events", "select e from events e", "from op_stats_ops"):
        folder = EventFolder("", columns_read(statement))
        assert len(folder.columns_of("events")) == 12


KEYS = ("host", "plane", "line", "op_type", "step", "is_derived", "line_id % 3", "length(name)")
VALUES = (
    "count(*)", "count(step)", "sum(self_ps)", "avg(duration_ps)", "min(name)", "max(start_ps)",
    "avg(-self_ps)", "sum(line_id) filter (where is_derived)", "max(duration_ps / 1e9)",
)  # fmt: skip
FILTERS = ("true", "op_type is not null", "duration_ps > 1000000", "name like '%e'")


@given(
    st.lists(st.sampled_from(KEYS), max_size=3, unique=True),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
    st.sampled_from(FILTERS),
)
@settings(max_examples=8, deadline=None)
def test_any_groups_and_aggregates(database, filed, keys, values, where):
    groups = f" group by {', '.join(map(str, range(1, len(keys) + 1)))}" if keys else ""
    statement = f"select {', '.join([*keys, *values])} from events where {where}{groups}"
    statement = f"{statement} order by all"
    assert told(filed.query(statement)) == told(database.query(statement))


def test_mistakes_are_found_before_hosts_are_read():
    for statement, why in (
        ("select nme from events", 'Referenced column "nme" not found'),
        ("select 1 +", "syntax error"),
        ("select count(*) from steps where name", 'Referenced column "name" not found'),
        ("select 1; select 2", "2 statements were given"),
        ("drop table events", "DROP is not allowed"),
        ("select * from read_csv('a')", "it may not read or write files"),
    ):
        with pytest.raises(UsageError, match="query: ") as raised:
            columns_read(statement)
        assert why in str(raised.value)
    for statement in ("show tables", "from events", "select nme from op_stats_ops, events"):
        columns_read(statement)


def test_only_its_own_files_can_be_read(filed, tmp_path):
    filed.query("select count(*) from events")
    (tmp_path / "other.csv").write_text("a\n1\n")
    for statement in (f"from read_csv('{tmp_path}/other.csv')", "from read_text('/etc/passwd')"):
        with pytest.raises(UsageError, match="it may not read or write files"):
            filed.query(statement)


def test_limits(run, tmp_path):
    statement = "select name, count(*) from events group by name"
    with Database(run, limits=Limits(rows=3), folder=EventFolder(str(tmp_path))) as database:
        result = database.query(statement)
    assert len(result.table().rows) == 3
    assert "only the first 3 rows" in result.notes[0].message


def test_events_are_read_once_and_where_hosts_are(database, tmp_path):
    paths = [str(p) for one in CAPTURES for p in sorted(folder(one).glob("*.xplane.pb*"))]
    for statement in (
        "select name, avg(self_ps), count(*) from events group by all order by all",
        "select min(start_ps), max(start_ps), run, host from events group by all order by all",
        "select host, max(depth) from event_details group by all order by all",
    ):
        fleet = fleet_of(paths)

        def ask(run, statement=statement):
            with Database(run, folder=EventFolder(str(tmp_path))) as asked:
                return asked.query(statement)

        assert told(fleet.ask(ask)) == told(database.query(statement))
        assert (fleet.facts.n_rounds, fleet.facts.n_reopened) == (0, 0)


def test_traces_of_other_programs_are_beside_captures(run, tmp_path):
    trace = tmp_path / "other.json"
    trace.write_text('[{"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]')
    (tmp_path / "files").mkdir()
    ask = "select run, host, count(*), min(start_ps) from events group by all order by all"
    with (
        Database(run, trace) as whole,
        Database(run, trace, folder=EventFolder(str(tmp_path / "files"))) as files,
    ):
        assert told(files.query(ask)) == told(whole.query(ask))
        assert files.query("select name from events where host = ''").table().rows == [("a",)]


def test_a_folder_that_takes_no_files(run, tmp_path, monkeypatch):
    monkeypatch.setattr(event_files, "_path", lambda folder, number: Path(folder, "gone", "1"))
    with (
        Database(run, folder=EventFolder(str(tmp_path))) as asked,
        pytest.raises(InputError, match="events cannot be written"),
    ):
        asked.query("select count(*) from events")


def test_workers_of_other_machines_send_their_files(run, database, tmp_path, monkeypatch):
    reach = Path.is_dir
    monkeypatch.setattr(Path, "is_dir", lambda path: path != tmp_path and reach(path))
    columns = EventFolder(str(tmp_path)).columns_of("events")
    numbers = {
        file_of_host(host, table="events", folder=str(tmp_path), columns=columns)[0]
        for host in run.hosts
    }
    assert not list(tmp_path.iterdir())
    with Database(run, folder=EventFolder(str(tmp_path))) as asked:
        answer = asked.query("select host, sum(self_ps) from events group by all order by all")
    assert {int(path.stem) for path in tmp_path.iterdir()} == numbers
    assert told(answer) == told(
        database.query("select host, sum(self_ps) from events group by all order by all")
    )


def test_steps_and_tables_of_tools_need_no_events(database, run):
    paths = [str(p) for one in CAPTURES for p in sorted(folder(one).glob("*.xplane.pb*"))]
    statement = (
        "select s.step, s.duration_ps, count(o.type), sum(o.occurrences) from steps s, "
        "op_stats_ops o group by all order by all"
    )

    def ask(run):
        with Database(run) as asked:
            return asked.query(statement)

    fleet = fleet_of(paths)
    assert told(fleet.ask(ask)) == told(database.query(statement))
    assert (fleet.facts.n_rounds, fleet.facts.n_reopened) == (0, 0)
