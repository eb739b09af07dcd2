"""Questions about events, answered host by host: the answer is that of all events together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.captures.tools.oracle import folder
from tfprof.captures.hosts.asked import fleet_of
from tfprof.errors import UsageError
from tfprof.sql import Database, Limits
from tfprof.sql.parted import PartedQuery, ask_parted, average
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


def both(database, run, statement):
    return told(ask_parted(statement, [("run", run)])), told(database.query(statement))


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
        'select count(*) as __k0, "NAME" as __v0 from events group by name order by __k0, __v0',
    ],
)
def test_answers_are_the_same(database, run, statement):
    parted, whole = both(database, run, statement)
    assert parted == whole


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
def test_any_groups_and_aggregates(database, run, keys, values, where):
    groups = f" group by {', '.join(map(str, range(1, len(keys) + 1)))}" if keys else ""
    statement = f"select {', '.join([*keys, *values])} from events where {where}{groups}"
    parted, whole = both(database, run, f"{statement} order by all")
    assert parted == whole


@given(st.integers(-(2**90), 2**90), st.integers(1, 2**40))
def test_averages_are_rounded(total, count):
    assert average(total, count) == pytest.approx(total / count, rel=3e-16)
    assert average(count * (total % 1000), count) == total % 1000


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("select name from events", "it asks for single events"),
        ("select name, median(self_ps) from events group by 1", "median of all hosts"),
        ("select count(distinct name) from events", r"count\(DISTINCT …\) of all hosts"),
        ("select sum(self_ps / 1e9) from events", "sums and averages of fractions"),
        ("select avg(duration_ps * 0.5) from events", "sums and averages of fractions"),
        ("select count(*) from events, (select 1)", "it reads more than the table events"),
        ("with a as (select 1) select count(*) from events", "there is a WITH"),
        ("select random(), count(*) from events group by 1", "random may differ"),
        ("select count(*) over () from events", "there is a window"),
        (
            "select name, count(*) from events group by rollup(name)",
            "there are several grouping",
        ),
        ("select distinct name, count(*) from events group by 1", "there is a DISTINCT"),
        ("select count(*) from events where 1 = (select 1)", "there is a subquery"),
        ("select max(self_ps, 3) from events", "max of all hosts does not follow"),
        ("select count(*) from events union select 1", "this is no plain SELECT"),
        ("select count(*) from events limit (select 1)", "there is a subquery"),
    ],
)
def test_what_hosts_cannot_answer_alone_is_refused(statement, why):
    with pytest.raises(UsageError, match=f"query: {why}.*, so hosts cannot answer one by one"):
        PartedQuery(statement)


def test_mistakes_are_told_as_ever(database):
    for statement in ("select nme from events", "select 1 +", "select count(*) from event",
                      "select 1; select 2", "drop table events"):  # fmt: skip
        with pytest.raises(UsageError) as ours:
            PartedQuery(statement)
        assert str(ours.value).startswith("query: ")


def test_limits(run):
    statement = "select name, count(*) from events group by name"
    result = ask_parted(statement, [("run", run)], Limits(rows=3))
    assert len(result.table().rows) == 3
    assert "only the first 3 rows" in result.notes[0].message


def test_no_event_leaves_its_host(run):
    paths = [str(p) for one in CAPTURES for p in sorted(folder(one).glob("*.xplane.pb*"))]
    for statement, n_rounds in (
        ("select name, avg(self_ps), count(*) from events group by all order by all", 0),
        ("select min(start_ps), max(start_ps), run, host from events group by all order by all", 1),
    ):
        fleet, parted = fleet_of(paths), PartedQuery(statement)
        condensed = fleet.run_for(lambda run, parted=parted: parted.of_hosts("mine", run))
        answer = parted.join(parted.of_hosts("mine", condensed))
        assert told(answer) == told(ask_parted(statement, [("mine", run)]))
        assert fleet.facts.n_reopened == 0
        assert fleet.facts.n_rounds <= n_rounds


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
