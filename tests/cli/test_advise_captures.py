"""``tfprof advise`` on what the TensorFlow 2 profiler has captured."""

import json

import pytest

from tests.captures.tools.recorded import TUTORIALS
from tfprof.captures.practices.practices import PRACTICES


def test_a_capture(call):
    result = call("advise", TUTORIALS / "two-gpus")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("1 critical finding, 3 warnings and 1 remark\n")
    assert "critical: input-pipeline/bound\n  32.0% of the step time" in result.stdout
    assert "  gain  up to 999 µs per step: 32.0% of the step, as an upper limit" in result.stdout
    assert "www.tensorflow.org/guide/data_performance_analysis" in result.stdout
    assert "Nothing to report: input-pipeline/prefetch, " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_json(call):
    data = json.loads(call("advise", TUTORIALS / "two-gpus", "--format", "json").stdout)
    assert data["checkers"] == list(PRACTICES)
    first = data["findings"][0]
    assert (first["rule"], first["severity"]) == ("input-pipeline/bound", "critical")
    assert first["evidence"]["op_self_micros"] == pytest.approx(393.818, abs=1e-3)


def test_some_practices(call):
    words = ["--checkers", "kernel-launch/share,devices/idle"]
    result = call("advise", TUTORIALS / "two-gpus", *words)
    assert result.stdout.startswith("1 warning\n\nwarning: kernel-launch/share\n")
    assert "Nothing to report: devices/idle" in result.stdout
    result = call("advise", TUTORIALS / "two-gpus", "--checkers", "JobChecker")
    assert result.exit_code == 2
    assert "unknown checker 'JobChecker'. Allowed: input-pipeline/bound, " in result.stderr


def test_there_is_no_classic_advice(call):
    result = call("advise", TUTORIALS / "xla", "--classic")
    assert result.exit_code == 2
    assert "leave out --classic" in result.stderr


def test_several_files_and_a_broken_one(call, tmp_path):
    good = next((TUTORIALS / "xla").iterdir())
    broken = tmp_path / "w1.xplane.pb"
    broken.write_bytes(b"\x0a\xff\xff\xff\xff")
    result = call("advise", good, broken)
    assert result.exit_code == 0
    assert "w1.xplane.pb is truncated or damaged" in result.stderr
    assert "input-pipeline/bound" in result.stdout
