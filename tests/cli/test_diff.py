import json
import shutil

import pytest

from tests.captures.tools.recorded import TUTORIALS
from tfprof.demo import tutorial_files

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

WORKERS = tutorial_files() / "two-workers"


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """Two folders with the captures of two workers."""
    folder = tmp_path_factory.mktemp("runs")
    for worker, name in enumerate(("before", "after")):
        (folder / name).mkdir()
        shutil.copy(WORKERS / f"worker{worker}_6009.xplane.pb.xz", folder / name)
    return folder / "before", folder / "after"


def test_a_report(call, captures):
    result = call("diff", *captures)
    assert result.exit_code == 0
    assert result.stdout.startswith("before → after")
    assert "the difference is between" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 110


def test_formats_and_files(call, captures, tmp_path):
    data = json.loads(call("diff", *captures, "--format", "json").stdout)
    assert data["data"]["format"] == 1
    assert set(data["tables"]) == {"step", "parts", "ops"}
    assert call("diff", *captures, "--format", "csv").stdout.startswith("op,type,before_ms")
    two = [*captures, "--top", "2", "--format"]
    short = [call("diff", *two, form).stdout for form in ("csv", "json")]
    assert len(short[0].splitlines()) == 3
    assert len(json.loads(short[1])["tables"]["ops"]["rows"]) == 2
    assert call("diff", *captures, "--top", "-1").exit_code == 2
    page = tmp_path / "difference.html"
    assert call("diff", *captures, "-o", page).exit_code == 0
    assert "before → after" in page.read_text("utf-8")
    timeline = tmp_path / "both.json"
    assert call("diff", *captures, "--timeline", timeline, "-o", tmp_path / "x.txt").exit_code == 0
    assert json.loads(timeline.read_text("utf-8"))["traceEvents"]


def test_views_and_tools(call, captures):
    assert "Scope view" in call("diff", *captures, "--view", "scope").stdout
    text = call("diff", *captures, "--tool", "op-stats", "--table", "ops").stdout
    assert "total self-time: difference" in text


def test_what_is_wrong_is_reported(call, captures):
    for words, why in (
        (["--tool", "nope"], "there is no tool 'nope'"),
        (["--view", "scope", "--tool", "op-stats"], "choose one"),
        (["--step", "3"], "--step goes with --tool"),
    ):
        result = call("diff", *captures, *words)
        assert result.exit_code == 2
        assert why in result.stderr


@pytest.mark.parametrize("words", [[], ["--view", "op"], ["--tool", "op-stats"]])
def test_one_recording_given_twice_cannot_be_compared(call, captures, tmp_path, words):
    copied = tmp_path / "copied.xplane.pb.xz"
    shutil.copy(WORKERS / "worker0_6009.xplane.pb.xz", copied)
    for again in (captures[0], copied):
        result = call("diff", captures[0], again, *words)
        assert result.exit_code == 2
        assert "are the same recording, so there is nothing to compare" in result.stderr
        assert not result.stdout


@pytest.mark.parametrize("words", [(), ("--tool", "op-stats"), ("--view", "op")])
def test_hosts_are_read_one_by_one(call, words):
    runs = (TUTORIALS / "two-workers", TUTORIALS / "input-bound")
    expected = call("diff", *runs, *words, "--format", "json")
    result = call("diff", *runs, *words, "--format", "json", "--engine", "process")
    assert (result.exit_code, result.stdout) == (expected.exit_code, expected.stdout)
