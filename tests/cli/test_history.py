"""Histories of small captures on the command line, and the gate that takes its baseline there."""

import json
from dataclasses import replace

import pytest

from tests.insight.history.runs import capture, logged, stepped
from tfprof.demo import demo_files
from tfprof.insight.history.record import found_runs, record_of
from tfprof.insight.history.store import Store

pytest.importorskip("duckdb")

N_BEFORE, N_AFTER = 14, 6


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Runs of which the last six take a fifth longer, with a newer JAX; one of them is torn."""
    folder = tmp_path_factory.mktemp("history") / "logs"
    for number, ms in enumerate(stepped(N_BEFORE, N_AFTER, 0.20)):
        version = "0.10.1" if number < N_BEFORE else "0.10.2"
        logged(folder, number, capture(round(100 * ms), at=number, version=version))
    torn = logged(folder, 50, capture(100)) / "vm.xplane.pb"
    torn.write_bytes(torn.read_bytes()[:100])
    return folder


@pytest.fixture(scope="module")
def kept(logs, tmp_path_factory):
    """The file of their history."""
    from tfprof.insight.history.scan import read_new

    path = str(tmp_path_factory.mktemp("kept") / "perf.duckdb")
    assert read_new(Store(path), found_runs([logs])) == N_BEFORE + N_AFTER
    return path


def test_a_folder_is_read_once_and_its_change_is_stated_with_its_cause(call, logs):
    result = call("history", logs)
    assert result.exit_code == 0, result.stderr
    assert "20 new runs read" in result.stderr
    assert "step_time of train rose by" in result.stdout
    assert "What else changed: jax 0.10.1 → 0.10.2." in result.stdout
    assert "By comparing" in result.stdout
    assert "Step time is" in result.stdout
    assert "1 place could not be read" in result.stdout
    again = call("history", logs)
    assert "new run" not in again.stderr
    assert again.stdout == result.stdout
    assert logs.with_name("logs.history.duckdb").is_file()
    assert sorted(path.name for path in logs.iterdir()) == ["plugins"]


def test_the_file_alone_has_the_same_answer_in_every_format(call, kept, tmp_path):
    text = call("history", kept, "--no-compare")
    assert text.stdout.startswith("History: 20 runs of perf.duckdb")
    assert "level" in text.stdout
    found = json.loads(call("history", kept, "--format", "json").stdout)
    [row] = found["tables"]["changes"]["rows"]
    assert row["metric"] == "step_time"
    assert row["low"] < 0.20 < row["high"]
    assert row["run"] == found["tables"]["runs"]["rows"][N_AFTER - 1]["name"]
    csv = call("history", kept, "--format", "csv").stdout
    assert csv.startswith("metric,series,relative,low,high,before,after")
    only = call("history", kept, "--format", "csv", "--table", "levels", "--metric", "step_time")
    assert len(only.stdout.splitlines()) == 2
    page = tmp_path / "history.html"
    assert call("history", kept, "-o", page).exit_code == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_run_is_added_with_its_commit_and_labels_and_once(call, logs, tmp_path, monkeypatch):
    path = tmp_path / "perf.duckdb"
    run = sorted((logs / "plugins" / "profile").iterdir())[0]
    monkeypatch.setenv("GITHUB_SHA", "feedc0ffee" * 4)
    first = call("history", path, "--add", run, "--label", "branch=main")
    assert first.exit_code == 0, first.stderr
    assert "added, commit feedc0ffeefe" in first.stderr
    assert "1 run, too few" in first.stdout
    assert call("history", path, "--add", run, "--commit", "abc").exit_code == 0
    rows = call("query", path, "select name, \"commit\", value from runs join labels using (run)",
                "--format", "csv").stdout.splitlines()  # fmt: skip
    assert len(rows) == 2
    assert rows[1].endswith(",abc,main")
    torn = sorted((logs / "plugins" / "profile").iterdir())[-1]
    assert call("history", path, "--add", torn).exit_code == 4


def test_the_tables_of_a_history_are_there_for_questions(call, kept):
    result = call("query", kept, "select count(*) as n from figures where metric = 'step_time'")
    assert result.stdout.split()[-1] == "20"
    assert "digest of its files" in call("query", kept, "--tables").stdout
    assert call("query", kept, "delete from runs").exit_code == 2


def test_what_is_wrong_is_reported(call, kept, logs, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("hello, this is a text")
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, code, why in (
        (["history"], 2, "give a log folder"),
        (["history", logs, logs.parent], 2, "--db FILE"),
        (["history", kept, kept], 2, "give one file of a history"),
        (["history", kept, "--commit", "abc"], 2, "go with --add"),
        (["history", kept, "--add", logs, "--label", "branch"], 2, "NAME=VALUE"),
        (["history", kept, "--metric", "speed"], 2, "there is no such key figure"),
        (["history", tmp_path / "none.duckdb"], 4, "has no run"),
        (["history", empty], 4, "has no run"),
        (["history", tmp_path / "typo"], 3, "there is no such folder or history"),
        (["history", kept, "--table", "none"], 2, "no table"),
        (["history", "/"], 2, "--db FILE"),
        (["check", "--demo", "--history", kept], 2, "the path of a run"),
        (["history", logs, "--db", "memory://bucket/h.duckdb"], 2, "this machine only"),
    ):
        result = call(*words)
        assert (result.exit_code, why in result.stderr) == (code, True), (words, result.stderr)
    assert [path.name for path in tmp_path.glob("*.duckdb")] == []
    assert call("history", logs, "--db", other).exit_code == 3
    assert other.read_text().startswith("hello")


def check(call, folder, kept, *more):
    return call("check", folder, "--history", kept, *more)


def test_the_gate_takes_its_baseline_from_the_runs_since_the_last_change(call, kept, tmp_path):
    like = logged(tmp_path / "like", 60, capture(1205, at=60))
    result = check(call, like, kept)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "as 6 runs before" in result.stdout
    slow = logged(tmp_path / "slow", 60, capture(1500, at=60))
    result = check(call, slow, kept)
    assert result.exit_code == 1
    assert "step_time exceeds its limit: 1.50 ms" in result.stdout
    in_parts = check(call, slow, kept, "--engine", "process")
    assert (in_parts.exit_code, in_parts.stdout) == (1, result.stdout)
    assert check(call, slow, kept, "--format", "github").stdout.startswith("::error")
    report = json.loads(check(call, slow, kept, "--format", "json").stdout)
    [step] = [one for one in report["limits"] if one["metric"] == "step_time"]
    assert step["baseline"] == pytest.approx(1200, rel=0.02)


def test_a_run_of_the_history_is_never_its_own_baseline(call, kept, logs):
    first = sorted((logs / "plugins" / "profile").iterdir())[0]
    result = check(call, first, kept)
    assert result.exit_code == 4
    assert "holds no earlier run of train" in result.stderr
    fourth = sorted((logs / "plugins" / "profile").iterdir())[3]
    result = check(call, fourth, kept)
    assert result.exit_code == 4
    assert "the history has 3 runs since the last change, too few" in result.stdout


def test_another_program_or_a_missing_history_never_passes(call, kept, tmp_path):
    other = logged(tmp_path / "other", 60, capture(1200, at=60, name="evaluate"))
    result = check(call, other, kept)
    assert (result.exit_code, "only of train" in result.stderr) == (4, True)
    assert check(call, other, tmp_path / "none.duckdb").exit_code == 3
    assert call("check", other).exit_code == 2


def test_a_graph_has_no_time_and_is_compared_with_all_others(call, tmp_path):
    graph, path = demo_files().graph, tmp_path / "perf.duckdb"
    assert call("history", path, "--add", graph, "--program", "resnet").exit_code == 0
    assert check(call, graph, path).exit_code == 4  # the only run is the checked one
    now = record_of(found_runs([graph])[0])
    Store(str(path)).add([replace(now, id="f" * 16), replace(now, id="0" * 16)], {})
    result = check(call, graph, path)
    assert (result.exit_code, "as 2 runs before" in result.stdout) == (0, True), result.stderr
    result = check(call, graph, path, "--program", "none")
    assert (result.exit_code, "no earlier run of none" in result.stderr) == (4, True)


def test_earlier_runs_that_hold_nothing_never_pass(call, kept, tmp_path):
    [found] = found_runs([logged(tmp_path / "like", 60, capture(1205, at=60))])
    now, path = record_of(found), str(tmp_path / "perf.duckdb")
    Store(path).add([replace(now, id="0" * 16, began_ns=1, figures={})], {})
    result = check(call, found.path, path)
    assert (result.exit_code, "no key figure" in result.stderr) == (4, True)


def test_a_budget_and_a_history_both_count(call, kept, tmp_path):
    like = logged(tmp_path / "like", 60, capture(1205, at=60))
    budget = tmp_path / "budget.toml"
    budget.write_text("step_time = '<= 1 ms'")
    result = check(call, like, kept, "--budget", budget)
    assert result.exit_code == 1
    assert "exceeded, " not in result.stdout.splitlines()[0]
    assert "1 exceeded" in result.stdout


def test_hostile_names_reach_no_terminal(call, logs, tmp_path):
    path, hostile = tmp_path / "perf.duckdb", "\x1b[31mred\u202e'; drop table runs; --"
    every = sorted((logs / "plugins" / "profile").iterdir())
    words = ("--commit", hostile, "--label", f"{hostile}={hostile}", "--program", hostile)
    assert call("history", path, "--add", every[0], *words).exit_code == 0
    assert call("history", path, "--add", every[1], "--program", hostile).exit_code == 0
    shown = call("history", path)
    assert "drop table runs" in shown.stdout
    assert not {"\x1b", "\u202e"} & set(shown.stdout + shown.stderr)
