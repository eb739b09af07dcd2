import csv
import io
import json

import pytest

pytest.importorskip("duckdb")
pytestmark = pytest.mark.slow

LONGEST = "select run, max(duration_ps) / 1e9 as longest_ms from steps group by run order by run"


def test_an_answer_in_every_format(call, tmp_path):
    result = call("query", "--demo", LONGEST, "--format", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
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


def test_what_is_wrong_is_said(call):
    for words, why in (
        (["query", "--demo"], "no question"),
        (["query", "--demo", "drop table events"], "DROP is not allowed"),
        (["query", "select 1"], "nothing to open"),
        (["query", "--demo", "--max-rows", "0", "select 1"], "rows=0"),
    ):
        result = call(*words)
        assert result.exit_code == 2
        assert why in result.stderr


def test_left_out_rows_are_said(call):
    result = call("query", "--demo", "--run", "gpu", "--max-rows", "1", "from steps")
    assert "only the first 1 rows" in result.stderr
