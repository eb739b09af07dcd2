import csv
import io
import json


def test_the_recorded_step(call):
    result = call("info", "--demo")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("ops            9,513: 9,511 of a graph, 2 named by ")
    assert "\nran            5,237 of 9,513 (55.1 %) in step 0\n" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert all(line == line.rstrip() for line in result.stdout.splitlines())
    assert call("info", "--demo").stdout == result.stdout


def test_steps_as_csv(call, graph, runs):
    result = call("info", "--graph_path", graph, "--run_meta_path", ",".join(runs), "--format=csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert rows[0] == {
        "step": "0", "ops": "1", "executions": "1", "wall_micros": "10", "op_micros": "10",
        "accelerator_micros": "", "cpu_micros": "10", "requested_bytes": "", "peak_bytes": "",
    }  # fmt: skip
    assert [row["op_micros"] for row in rows] == ["10", "30"]


def test_json_says_why_a_number_is_missing(call, graph, runs):
    words = ["info", "-graph_path", graph, "-run_meta_path", runs[0], "-format", "json"]
    data = json.loads(call(*words).stdout)
    assert data["ops"]["types"] == {"MatMul": 1, "Placeholder": 1, "VariableV2": 1}
    assert data["rows"][0]["peak_bytes"] is None
    assert [(missing["name"], missing["is_unknown"]) for missing in data["missing"]] == [
        ("accelerator_micros", False), ("requested_bytes", True), ("peak_bytes", True),
        ("trainable", True),
    ]  # fmt: skip


def test_files(call, graph, tmp_path):
    path = tmp_path / "info.txt"
    assert call("info", "--graph_path", graph, "-o", path).exit_code == 0
    assert "of a graph" in path.read_text(encoding="utf-8")
    assert call("info", "--graph_path", graph, "-o", path).exit_code == 2
    assert call("info", "--graph_path", graph, "-o", path, "--force").exit_code == 0
    assert call("info").exit_code == 2
