import json

import pytest

import tfprof

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """Two folders with the same capture."""
    from tfprof.demo import demo_capture

    folder = tmp_path_factory.mktemp("runs")
    source = demo_capture("input-bound")
    tfprof.open_run(source)
    from pathlib import Path

    for name in ("before", "after"):
        for path in Path(source).rglob("*") if Path(source).is_dir() else [Path(source)]:
            if path.is_file():
                target = folder / name / path.name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(path.read_bytes())
    return folder / "before", folder / "after"


def test_a_report(call, captures):
    result = call("diff", *captures)
    assert result.exit_code == 0
    assert result.stdout.startswith("before → after")
    assert "the noise of the steps" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 110


def test_formats_and_files(call, captures, tmp_path):
    data = json.loads(call("diff", *captures, "--format", "json").stdout)
    assert data["data"]["format"] == 1
    assert set(data["tables"]) == {"step", "parts", "ops"}
    assert call("diff", *captures, "--format", "csv").stdout.startswith("op,type,before_ms")
    page = tmp_path / "difference.html"
    assert call("diff", *captures, "-o", page).exit_code == 0
    assert "before → after" in page.read_text("utf-8")
    timeline = tmp_path / "both.json"
    assert call("diff", *captures, "--timeline", timeline, "-o", tmp_path / "x.txt").exit_code == 0
    assert json.loads(timeline.read_text("utf-8"))["traceEvents"]


def test_views_and_tools(call, captures):
    assert "Scope view" in call("diff", *captures, "--view", "scope").stdout
    text = call("diff", *captures, "--tool", "tf-data", "--table", "iterators").stdout
    assert "self time: before" in text


def test_what_is_wrong_is_said(call, captures):
    for words, why in (
        (["--tool", "nope"], "there is no tool 'nope'"),
        (["--view", "scope", "--tool", "op-stats"], "choose one"),
        (["--step", "3"], "--step goes with --tool"),
    ):
        result = call("diff", *captures, *words)
        assert result.exit_code == 2
        assert why in result.stderr
