import csv
import gzip
import io
import json

import pytest

from tfprof.cli.commands.export import TABLE_NAMES, TEXT_FORMATS
from tfprof.profiles.write import tables
from tfprof.profiles.write.tables import TABLES

pytestmark = pytest.mark.slow


def test_the_command_lists_all_tables():
    assert tuple(table.name for table in TABLES) == TABLE_NAMES
    assert TEXT_FORMATS == tables.FORMATS


def test_ops_are_the_default(call, graph, runs):
    result = call("export", "--graph_path", graph, "--run_meta_path", ",".join(runs))
    assert result.exit_code == 0
    assert result.stderr.startswith("note: ops have no float operations")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["name"] for row in rows] == ["x", "w", "layer/y"]
    assert (rows[2]["exec_micros"], rows[0]["exec_micros"], rows[1]["parameters"]) == (
        "20",
        "",
        "6",
    )


@pytest.mark.parametrize("table", TABLE_NAMES)
def test_every_table_of_the_recorded_step(call, table):
    result = call("export", "--demo", "--table", table)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("\n") > 1


def test_formats(call, graph, runs):
    words = ["export", "-graph_path", graph, "-run_meta_path", runs[0], "-table", "op_steps"]
    (line,) = call(*words, "-format", "jsonl").stdout.splitlines()
    assert json.loads(line)["op"] == "layer/y"
    assert json.loads(call(*words, "--format=json").stdout)["rows"] == [json.loads(line)]
    assert call(*words, "--format", "xml").exit_code == 2


def test_the_name_of_the_file_says_the_format(call, graph, tmp_path):
    path = tmp_path / "ops.jsonl.gz"
    words = ["export", "--graph_path", graph, "-o", path]
    assert call(*words).exit_code == 0
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["x", "w", "layer/y"]
    assert call(*words).exit_code == 2
    assert call(*words, "--force", "--format", "csv").exit_code == 0
    assert gzip.decompress(path.read_bytes()).startswith(b"name,type,")


@pytest.mark.parametrize("name", ["steps.parquet", "steps.arrow", "steps.feather"])
def test_tables_for_data_frames(call, graph, runs, tmp_path, name):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import feather, parquet

    path = tmp_path / name
    words = ["export", "-graph_path", graph, "-run_meta_path", runs[0], "-table", "op_steps"]
    assert call(*words, "-o", path).exit_code == 0
    reader = parquet if name.endswith("parquet") else feather
    rows = reader.read_table(path).to_pylist()
    assert rows == [json.loads(call(*words, "-format", "jsonl").stdout)]


def test_a_format_that_export_does_not_write(call, graph, tmp_path):
    path = tmp_path / "ops.xlsx"
    result = call("export", "--graph_path", graph, "-o", path)
    assert (result.exit_code, path.exists()) == (2, False)
    assert "export does not write xlsx" in result.stderr


def test_list(call):
    result = call("export", "--list")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 100
    for table in TABLES:
        assert f"\n{table.name}: {table.about}\n" in f"\n{result.stdout}"
        for field in table.fields:
            assert f"\n  {field.name} " in result.stdout


def test_what_is_wrong_is_reported(call):
    result = call("export", "--demo", "--table", "kernels")
    assert result.exit_code == 2
    assert "op_steps" in result.stderr
    assert call("export").exit_code == 2


def test_the_list_keeps_to_the_terminal(call):
    text = call("export", "--list", COLUMNS="60").stdout
    assert max(map(len, text.splitlines())) <= 60
    assert text.split() == call("export", "--list").stdout.split()
