import csv
import io
import json
import shutil

import pytest

from tests.captures.tools.recorded import TUTORIALS

pytest.importorskip("duckdb")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two_workers():
    return TUTORIALS / "two-workers"


LONGEST = "select run, max(duration_ps) / 1e9 as longest_ms from steps group by run order by run"


def test_an_answer_in_every_format(call, tmp_path):
    result = call("query", "--demo", LONGEST, "--format", "csv")
    made_up = "tfprof: warning: synthetic: benchmarks/make_gpu_capture.py has made up this capture"
    assert (result.exit_code, result.stderr.partition(";")[0]) == (0, made_up)
    by_run = {row["run"]: row for row in csv.DictReader(io.StringIO(result.stdout))}
    assert set(by_run) == {"gpu", "input-bound"}
    as_json = json.loads(call("query", "--demo", LONGEST, "--format", "json").stdout)
    assert [row["run"] for row in as_json["rows"]] == sorted(by_run)
    text = call("query", "--demo", LONGEST).stdout
    assert "longest_ms" in text
    page = tmp_path / "answer.html"
    assert call("query", "--demo", LONGEST, "-o", page).exit_code == 0
    assert "<title>Query" in page.read_text("utf-8")


def test_one_run(call):
    words = ["query", "--demo", "--run", "gpu", "select distinct run from events"]
    assert call(*words, "--format", "csv").stdout == "run\ngpu\n"


def test_the_list_of_tables(call):
    result = call("query", "--demo", "--run", "input-bound", "--tables")
    assert result.exit_code == 0
    assert "events: one row for each event" in result.stdout
    assert "self_ps" in result.stdout
    assert "tf_data_" in result.stdout


def test_what_is_wrong_is_reported(call):
    for words, why in (
        (["query", "--demo"], "no question"),
        (["query", "--demo", "drop table events"], "DROP is not allowed"),
        (["query", "select 1"], "nothing to open"),
        (["query", "--demo", "--max-rows", "0", "select 1"], "rows=0"),
    ):
        result = call(*words)
        assert result.exit_code == 2
        assert why in result.stderr


def test_left_out_rows_are_reported(call):
    result = call("query", "--demo", "--run", "gpu", "--max-rows", "1", "from steps")
    assert "only the first 1 rows" in result.stderr


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "statement",
    [
        "select name, count(*) as n, avg(self_ps) from events group by name order by n desc, name",
        "select s.host, max(o.occurrences) from steps s, op_stats_ops o group by all order by all",
        "select distinct e.name, s.step from events e join steps s using (host, step) order by all",
        "show tables",
    ],
)
def test_hosts_answer_one_by_one(call, two_workers, statement):
    expected = call("query", two_workers, statement, "--format", "csv")
    for words in (("--engine", "process"), ("--memory", "1G")):
        result = call("query", two_workers, *words, statement, "--format", "csv")
        assert (result.exit_code, result.stderr, result.stdout) == (0, "", expected.stdout)


def test_mistakes_with_many_hosts(call, two_workers):
    result = call("query", two_workers, "--engine", "process", "select nme from events")
    assert result.exit_code == 2
    assert 'Referenced column "nme" not found' in result.stderr
    result = call("query", two_workers, "--engine", "dusk", "select count(*) from events")
    assert result.exit_code == 2
    assert "there is no engine 'dusk'; choose one of process, processes, dask" in result.stderr


def test_hosts_that_cannot_be_read_are_named(call, two_workers, tmp_path):
    logs = tmp_path / "run"
    shutil.copytree(two_workers, logs)
    (logs / "broken.xplane.pb").write_bytes(b"\xff" * 99)
    result = call("query", logs, "--engine", "process", "select count(*) from events")
    assert result.exit_code == 0
    assert "tfprof: warning" in result.stderr
    assert "broken" in result.stderr
