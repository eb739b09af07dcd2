"""Questions that try to take more than they may: each ends within its limits, with our error."""

import sys
import threading
import time
from pathlib import Path

import pytest

from tests.cpu_budget import soon
from tfprof.errors import UsageError
from tfprof.sql import Database, Limits, connection, query
from tfprof.sql.connection import Connection
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.tools import open_run

pytest.importorskip("duckdb")

pytestmark = pytest.mark.one_engine

SMALL = Limits(seconds=1, memory_bytes=256 << 20)


@pytest.fixture(scope="module")
def run():
    return open_run(xspace(host(line(event("work", 0, 100)))))


@pytest.fixture(scope="module")
def database(run):
    with Database(run, limits=SMALL) as database:
        yield database


@pytest.mark.parametrize(
    "statement",
    [
        "select range(1000000000)",
        "select repeat('a', 2000000000)",
        "select count(*) from events where length(repeat(name, 500000000)) > 0",
        "select lpad('a', 2000000000, 'b')",
        "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
        "select list(range) from range(100000000)",
        "select string_agg(range::varchar, ',') from range(100000000)",
        "select count(*) from range(10000000) a, range(10000000) b",
        "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t",
    ],
)
def test_what_takes_too_much_is_ended(database, statement):
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"limit of (memory|1 s)"):
        database.query(statement)
    assert time.monotonic() - began < 5


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_process_of_a_question_was_larger_than_its_limit(database):
    with pytest.raises(UsageError, match="limit of memory"):
        database.query("select list(range) from range(100000000)")
    pid = database._connection._process._process.pid
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    largest_kib = int(status["VmHWM"].split()[0])
    assert largest_kib < (256 << 10) + 200_000  # and that of DuckDB and NumPy themselves


def test_after_a_question_that_was_ended_the_next_one_is_answered(database):
    with pytest.raises(UsageError, match="limit of 1 s"):
        database.query("select count(*) from range(10000000) a, range(10000000) b")
    assert database.query("select name from events").to_rows() == [{"name": "work"}]


def test_answers_are_bounded(run):
    with (
        Database(run, limits=Limits(answer_bytes=1000)) as database,
        pytest.raises(UsageError, match=r"the answer has 2,.* bytes, more than its limit"),
    ):
        database.query("select repeat('a', 2000)")


def test_statements_that_are_nested_deeply(database):
    for n_levels in (100, 500, 5000):
        statement = "select * from (" * n_levels + "select 1" + ")" * n_levels
        try:
            assert list(database.query(statement).table().rows) == [(1,)]
        except UsageError as error:
            assert "depth" in str(error) or "deep" in str(error)


def test_many_columns_take_time_by_their_number(run):
    with soon(2):
        n_columns = len(query(f"select {', '.join(['1'] * 20_000)}", run).table().columns)
    assert n_columns == 20_000


def test_times_with_time_zones_are_texts(database):
    [row] = database.query("select now() as at, [now()] as list, 1 as one").to_rows()
    assert row["at"][:2] == "20"
    assert "20" in row["list"][:4]
    assert row["one"] == 1


def test_times_with_time_zones_do_not_depend_on_the_machine(monkeypatch, run):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    statement = "select cast(to_timestamp(3) as varchar) as at"
    with Database(run), Database(run) as database:  # the process of the second one is new
        assert database.query(statement).to_rows() == [{"at": "1970-01-01 00:00:03+00"}]


def test_a_table_that_a_function_names(database):
    [(count,)] = database.query("select count(*) from query_table('events')").table().rows
    assert count == 1
    with pytest.raises(UsageError, match="no table 'evnts'; did you mean 'events'"):
        database.query("from query_table('evnts')")


def test_a_small_limit_does_not_hold_for_the_next_database(run):
    with (
        Database(run, limits=Limits(memory_bytes=1 << 20)) as database,
        pytest.raises(UsageError, match="limit of memory"),
    ):
        database.query("select list(range) from range(10000000)")
    assert query("select count(*) from range(10000000)", run).table().rows[0] == (10_000_000,)


def test_nothing_stays_when_a_database_is_closed(run):
    with Database(run) as database:
        database.query("select 1")
        process = database._connection._process._process
    with Database(run) as database:
        assert database._connection._process._process is process  # it was waiting
    deadline = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.returncode is not None


def test_a_process_that_is_taken_again_leaves_no_timer():
    """A server that answers many questions a second would have thousands of threads."""

    def timers():
        return [one for one in threading.enumerate() if isinstance(one, threading.Timer)]

    for _ in range(4):
        one = Connection(SMALL)
        for timer in timers():
            timer.join(10)
        assert timers() == []
        one.close()


def test_the_process_needs_no_working_folder(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setattr(connection, "_spare", connection._Spare())
    one = Connection(SMALL)
    assert one.rows("select 1") == [(1,)]
    one.close()
    if sys.platform != "win32":  # which keeps working folders
        (tmp_path / "gone").rmdir()
    for folder in (None, str(tmp_path)):
        one = Connection(SMALL, folder)
        assert one.rows("select 1") == [(1,)]
        one.close()
