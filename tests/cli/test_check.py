import json

import pytest

from tests.captures.tools.recorded import TUTORIALS

BUDGET = """
parameters = "<= 6"
step_time = "<= 1 s"
[op_time]
MatMul = "<= +400 %"
"""


@pytest.fixture
def budget(tmp_path):
    path = tmp_path / "budget.toml"
    path.write_text(BUDGET)
    return path


def test_a_run_that_meets_its_budget(call, graph, runs, budget):
    result = call("check", graph, *runs, "--budget", budget, "--baseline", runs[0])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split()[:2] == ["met", "parameters"]
    assert "undecided  op_time[MatMul]" in result.stdout  # the baseline has one step


def test_a_run_that_does_not(call, graph, runs, budget, tmp_path):
    budget.write_text("parameters = 5")
    for form, begin in (
        ("text", "exceeded  parameters"), ("json", "{"), ("junit", "<?xml"), ("sarif", "{"),
        ("github", "::error file="),
    ):  # fmt: skip
        result = call("check", graph, *runs, "--budget", budget, "--format", form)
        assert result.exit_code == 1
        assert result.stdout.startswith(begin)
    for name, begin in (("r.xml", "<?xml"), ("r.sarif", "{"), ("r.json", "{"), ("r.txt", "exc")):
        result = call("check", graph, "--budget", budget, "-o", tmp_path / name)
        assert result.exit_code == 1
        assert "0 of 1 limit met, 1 exceeded" in result.stderr
        assert (tmp_path / name).read_text().startswith(begin)


def test_what_could_not_be_checked(call, graph, runs, budget, tmp_path):
    budget.write_text("peak_memory = '1 MB'")
    result = call("check", graph, *runs, "--budget", budget)
    assert (result.exit_code, "TF_CPU_ALLOCATOR_USE_BFC" in result.stdout) == (4, True)
    budget.write_text("step_time = '1 us'")
    assert call("check", graph, runs[0], "--budget", budget).exit_code == 0
    assert call("check", graph, runs[0], "--budget", budget, "--strict").exit_code == 6
    budget.write_text("step_time = '1 us'\n[settings]\nstrict = true")
    assert call("check", graph, runs[0], "--budget", budget).exit_code == 6
    assert call("check", graph, runs[0], "--budget", budget, "--no-strict").exit_code == 0


def test_what_is_wrong_is_reported(call, graph, runs, budget, tmp_path):
    for words, code, why in (
        (["check", graph], 2, "give --budget FILE"),
        (["check", "--budget", budget], 2, "nothing to open"),
        (["check", graph, *runs, "--budget", budget], 2, "budget.toml:5: op_time[MatMul]"),
        (["check", graph, "--budget", tmp_path / "none.toml"], 3, "none.toml"),
        (["check", tmp_path / "none.pb", "--budget", budget], 3, "none.pb"),
        (["check", graph, "--budget", budget, "-o", tmp_path / "x.csv"], 2, "does not write csv"),
        (["check", graph, "--budget", budget, "--baseline", graph], 2, "is what is checked"),
    ):
        result = call(*words)
        assert result.exit_code == code, result.stderr
        assert why in result.stderr
    budget.write_text("paramters = 5")  # codespell:ignore
    result = call("check", graph, "--budget", budget)
    assert result.exit_code == 2
    assert "budget.toml:1: 'paramters' is not a metric; did you mean 'parameters'?" in result.stderr


def test_a_first_budget(call, graph, runs, tmp_path):
    path = tmp_path / "first.toml"
    assert call("check", graph, *runs, "--write-budget", path).exit_code == 0
    assert 'parameters = "<= 7"  # was 6' in path.read_text()
    assert call("check", graph, *runs, "--budget", path).exit_code == 0
    again = call("check", graph, *runs, "--write-budget", path)
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    assert call("check", graph, *runs, "--write-budget", path, "--force").exit_code == 0
    on_stdout = call("check", graph, *runs, "--write-budget", "-")
    assert on_stdout.stdout == path.read_text()


@pytest.mark.slow
def test_runs_that_come_with_tfprof(call, budget):
    budget.write_text("step_time = '1 s'")
    result = call("check", "--demo", "--budget", budget, "--format", "json")
    assert result.exit_code == 0
    verdicts = {one["subject"]: one["verdict"] for one in json.loads(result.stdout)["limits"]}
    assert verdicts == {"resnet50": "undecided", "input-bound": "met", "gpu": "met"}


@pytest.mark.one_engine
def test_hosts_are_read_one_by_one(call, tmp_path):
    logs, budget = TUTORIALS / "two-workers", tmp_path / "budget.toml"
    expected = call("check", logs, "--write-budget", "-")
    for words in (("--engine", "process"), ("--memory", "1G")):
        result = call("check", logs, "--write-budget", "-", *words)
        assert (result.exit_code, result.stdout) == (0, expected.stdout)
    budget.write_text(expected.stdout)
    words = ("check", logs, "--budget", budget, "--baseline", logs, "--format", "json")
    assert call(*words, "--engine", "process").stdout == call(*words).stdout
    result = call("check", logs, "--budget", budget, "--memory", "lots")
    assert result.exit_code == 2
    assert "'lots' is not a size of memory; write it as 4G, 512M or 2.5GB" in result.stderr
