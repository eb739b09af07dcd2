"""Commands that read captures: which files, which answers, in which form."""

import csv
import gzip
import io
import json

import pytest

from tests.captures.tools.oracle import folder
from tfprof.captures.all_tools import TABLE_TOOLS
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.captures.trace.events import TraceResult
from tfprof.cli.commands.tool import commands
from tfprof.cli.registry import COMMANDS
from tfprof.core.text.claims import quoted
from tfprof.core.wire import messages as pb

pytestmark = pytest.mark.slow

COLUMNS = (Column("op", "Op", "string"), Column("time", "Time", unit="us"))
RESULT = ToolResult(
    "overview",
    "Overview Page",
    quoted(("Input takes most of the time.",)),
    {
        "ops": Table("ops", COLUMNS, [(f"op{i}", float(i)) for i in range(25)], title="Ops"),
        "steps": Table("steps", COLUMNS, [("1", 2.0)], title="Steps"),
    },
    gviz=lambda: [{"cols": []}],
)


def space(name="MatMul", host="machine"):
    line = pb.XLine(id=1, name="main", events=[pb.XEvent(metadata_id=1, offset_ps=1)])
    plane = pb.XPlane(
        name="/host:CPU", lines=[line], event_metadata={1: pb.XEventMetadata(id=1, name=name)}
    )
    return pb.XSpace(planes=[plane], hostnames=[host]).SerializeToString()


@pytest.fixture
def logs(tmp_path):
    for run in ("2026_01_01_00_00_00", "2026_01_02_00_00_00"):
        folder = tmp_path / "logs" / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        for host in ("w0", "w1"):
            (folder / f"{host}.xplane.pb").write_bytes(space(host=host))
    return tmp_path / "logs"


@pytest.fixture
def asked(monkeypatch):
    """The questions to the tool, which answers ``RESULT``."""
    questions = []

    def overview(run, *, host=None, step=None, classic=False):
        names = [each.name for each in run.chosen(host)]
        questions.append({"run": run.name, "hosts": names, "step": step, "classic": classic})
        return RESULT

    monkeypatch.setattr("tfprof.captures.overview.overview_page.overview", overview)
    return questions


def test_every_tool_is_a_command():
    assert {tool.name for tool in TABLE_TOOLS} == set(commands)
    assert set(commands) <= set(COMMANDS)
    others = {name for name in commands if COMMANDS[name].module != "tfprof.cli.commands.tool"}
    assert others == {"monitor"}  # which also watches running programs


@pytest.mark.parametrize("name", [*commands, "trace", "tools"])
def test_help_has_examples_and_sections(call, name):
    result = call(name, "-h")
    assert result.exit_code == 0
    assert "Input:" in result.stdout
    assert f"tfprof {name} logs/" in result.stdout


def test_text_shows_the_verdict_and_the_first_rows(call, logs, asked):
    result = call("overview", logs)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Overview Page\nInput takes most of the time.\n")
    assert "op19" in result.stdout
    assert "op20" not in result.stdout
    assert "5 more rows; --top 0 shows all" in result.stdout
    assert "\x1b" not in result.stdout
    assert asked == [
        {"run": "2026_01_02_00_00_00", "hosts": ["w0", "w1"], "step": None, "classic": False}
    ]


def test_the_question_reaches_the_tool(call, logs, asked):
    words = ["--run", "2026_01_01_00_00_00", "--host", "w1", "-step", "3", "--classic"]
    assert call("overview", logs, *words).exit_code == 0
    assert asked == [{"run": "2026_01_01_00_00_00", "hosts": ["w1"], "step": 3, "classic": True}]
    assert call("overview", logs, TFPROF_CLASSIC="1").exit_code == 0
    assert asked[1]["classic"]


def test_a_tool_without_steps_gets_no_step(call, logs, monkeypatch):
    monkeypatch.setattr(
        "tfprof.captures.tools.buffer_memory.memory_viewer", lambda run, *, host, classic: RESULT
    )
    assert call("memory-viewer", logs).exit_code == 0
    result = call("memory-viewer", logs, "--step", "3")
    assert result.exit_code == 2
    assert "unknown option '--step'" in result.stderr


def test_files_can_be_named_one_by_one(call, logs, asked):
    files = sorted(logs.rglob("*.xplane.pb"))[:2]
    assert call("overview", *files).exit_code == 0
    assert asked[0]["hosts"] == ["w0", "w1"]


def test_json_csv_and_gviz(call, logs, asked):
    data = json.loads(call("overview", logs, "--format=json").stdout)
    assert "2026_01_01_00_00_00" in data.pop("notes")[0]["message"]  # the run that is not shown
    assert data == {key: value for key, value in RESULT.to_dict().items() if key != "notes"}
    one = json.loads(call("overview", logs, "--format=json", "--table=steps").stdout)
    assert one == RESULT.tables["steps"].to_dict()
    assert json.loads(call("overview", logs, "--format=gviz").stdout) == [{"cols": []}]
    one = json.loads(call("overview", logs, "--format=gviz", "--table=steps").stdout)
    assert one == RESULT.tables["steps"].to_gviz()
    result = call("overview", logs, "--format=csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 25
    assert rows[3] == {"op": "op3", "time": "3.0"}
    assert "this is the table ops; --table chooses steps" in result.stderr
    result = call("overview", logs, "--format=csv", "--table=steps")
    assert (result.stdout, result.stderr) == ("op,time\n1,2.0\n", "")


def test_top_cuts_data_only_on_request(call, logs, asked):
    data = json.loads(call("overview", logs, "--format=json", "--top=2").stdout)
    assert len(data["tables"]["ops"]["rows"]) == 2
    assert "op24" in call("overview", logs, "--top=0").stdout
    assert call("overview", logs, "--top=-1").exit_code == 2
    assert call("overview", logs, "--top=3", "--format=gviz").exit_code == 2


def test_all_tables_as_csv_are_files(call, logs, asked, tmp_path):
    path = tmp_path / "out.csv"
    result = call("overview", logs, "--table", "all", "-o", path)
    assert result.exit_code == 0
    assert (tmp_path / "out.steps.csv").read_text() == "op,time\n1,2.0\n"
    assert len((tmp_path / "out.ops.csv").read_text().splitlines()) == 26
    assert not path.exists()
    again = call("overview", logs, "--table", "all", "-o", path)
    assert again.exit_code == 2
    assert "out.ops.csv: exists already" in again.stderr
    assert call("overview", logs, "--table", "all", "--format", "csv").exit_code == 2


def test_files_tell_their_format(call, logs, asked, tmp_path):
    assert call("overview", logs, "-o", tmp_path / "o.json").exit_code == 0
    assert json.loads((tmp_path / "o.json").read_text())["tool"] == "overview"
    assert call("overview", logs, "-o", tmp_path / "o.csv.gz").exit_code == 0
    assert gzip.decompress((tmp_path / "o.csv.gz").read_bytes()).startswith(b"op,time\n")
    assert call("overview", logs, "-o", tmp_path / "o.json").exit_code == 2
    assert call("overview", logs, "-o", tmp_path / "o.json", "--force").exit_code == 0


def test_what_was_not_read_is_in_the_notes(call, logs, asked):
    bad = logs / "plugins" / "profile" / "2026_01_02_00_00_00" / "w2.xplane.pb"
    bad.write_bytes(b"\xff\xff")
    result = call("overview", logs)
    assert result.exit_code == 0
    assert "\nwarning:" in result.stdout
    assert "[w2]" in result.stdout
    assert "tfprof: warning: " in call("overview", logs, "--format=csv").stderr
    assert call("overview", logs, "--format=json").stderr == ""
    assert "tfprof: warning: " in call("tools", logs).stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "nothing to read: give a log folder"),
        (["{logs}", "--run", "old"], 2, "no run 'old'; it has: 2026_01_01_00_00_00, 2026_01_02"),
        (["{logs}", "--host", "w7"], 2, "no host 'w7' in this run; it has: w0, w1"),
        (["{logs}", "--table", "x"], 2, "overview has no table 'x'; it has: ops, steps"),
        (["{logs}/gone"], 3, "cannot be read"),
        (["{empty}"], 4, "holds no capture"),
        (["{logs}", "--step", "x"], 2, "'x' is not a whole number"),
    ],
)
def test_errors_name_what_is_there(call, logs, asked, tmp_path, words, code, message):
    (tmp_path / "empty").mkdir()
    words = [word.format(logs=logs, empty=tmp_path / "empty") for word in words]
    result = call("overview", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


LEGACY = [
    {"cols": [{"id": "stepnum", "label": "s", "type": "string"}], "rows": [{"c": [{"v": "7"}]}]}
]


@pytest.fixture
def legacy(tmp_path):
    path = tmp_path / "old" / "localhost.overview_page.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LEGACY))
    return path


def test_precomputed_results_open(call, legacy):
    result = call("overview", legacy)
    assert result.exit_code == 0
    assert "computed when the profile was captured" in result.stdout
    assert json.loads(call("overview", legacy, "--format=gviz").stdout) == LEGACY


def test_precomputed_results_of_a_folder_open(call, legacy):
    assert call("overview", legacy.parent).stdout == call("overview", legacy).stdout
    other = legacy.with_name("other.overview_page.json")
    other.write_text("[]")
    result = call("overview", legacy.parent)
    assert result.exit_code == 2
    assert "2 precomputed results" in result.stderr
    assert call("overview", legacy.parent, "--host", "localhost").exit_code == 0
    assert call("kernel-stats", legacy.parent).exit_code == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kernel-stats", "{path}"], "use tfprof overview "),
        (["overview", "{path}", "--step", "3"], "for all steps; leave --step out"),
        (["overview", "{path}", "{path}"], "give it alone"),
    ],
)
def test_precomputed_results_answer_nothing_else(call, legacy, words, message):
    result = call(*(word.format(path=legacy) for word in words))
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_capture_comes_before_precomputed_results(call, legacy, tmp_path, asked):
    above = tmp_path / "above"
    (above / "run").mkdir(parents=True)
    (above / "run" / "h.xplane.pb").write_bytes(space())
    legacy.rename(above / "oracle")
    result = call("overview", above)
    assert result.exit_code == 0
    assert asked[-1]["run"] == "run"


@pytest.fixture
def traced(monkeypatch):
    trace = {"displayTimeUnit": "ns", "traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]}
    notes = (Note("warning", "One plane is missing."),)
    pieces = [json.dumps(trace).encode()]
    result = TraceResult("trace", "Trace viewer", notes=notes, pieces=lambda: iter(pieces))
    monkeypatch.setattr("tfprof.captures.trace.events.trace", lambda run, **question: result)
    return trace


def test_traces_are_files(call, logs, traced, tmp_path):
    path = tmp_path / "trace.json.gz"
    result = call("trace", logs, "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(gzip.decompress(path.read_bytes())) == traced
    assert "tfprof: warning: One plane is missing." in result.stderr
    assert f"note: {path}: open it in chrome://tracing or Perfetto\n" in result.stderr
    assert json.loads(call("trace", logs, "-o", "-").stdout) == traced
    assert call("trace", logs, "-o", path).exit_code == 2
    missing = call("trace", logs)
    assert missing.exit_code == 2
    assert "-o" in missing.stderr


def test_tools_lists_runs_hosts_and_tools(call, logs):
    result = call("tools", logs)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "XSpace capture of the TensorFlow 2 profiler: run 2026_01_02_00_00_00, 2 hosts"
    )
    assert lines[1] == "runs: 2026_01_01_00_00_00, 2026_01_02_00_00_00"
    row = "w0    w0       none         1       1             0    0        0    0 µs"
    assert f"\n{row}\n" in result.stdout
    assert "\noverview        yes\n" in result.stdout
    assert "\nkernel-stats    there are no GPU kernels\n" in result.stdout
    assert f"Try next: tfprof overview {logs}" in result.stdout


def test_tools_as_data(call, logs):
    data = json.loads(call("tools", logs, "--run=2026_01_01_00_00_00", "--format=json").stdout)
    assert data["run"] == "2026_01_01_00_00_00"
    assert data["tools"]["overview"] is None
    assert data["tools"]["kernel-stats"] == "there are no GPU kernels"
    assert data["rows"][0] == {
        "name": "w0", "machine": "w0", "devices": [], "lines": 1, "events": 1, "marked_steps": 0,
        "ops": 0, "kernels": 0, "dropped": 0, "covered_us": 0.0,
    }  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(call("tools", logs, "--format=csv").stdout)))
    assert [row["name"] for row in rows] == ["w0", "w1"]


def test_info_tells_what_a_capture_holds(call, logs):
    expected = call("tools", logs).stdout
    assert call("info", logs).stdout == expected
    file = min(logs.rglob("*.xplane.pb"))
    assert "1 host\n" in call("info", file).stdout
    packed = file.with_name("w9.xplane.pb.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert call("info", packed).exit_code == 0


def test_hostile_names_of_hosts_are_shown_and_not_sent(call, tmp_path):
    path = tmp_path / "h.xplane.pb"
    path.write_bytes(space(host="a\x1b[2J"))
    out = call("tools", path).stdout
    assert "\x1b" not in out
    assert "a\\x1b[2J" in out


def test_the_graph_around_an_instruction(call):
    path = folder("cpu-xla")
    near = json.loads(call("graph-viewer", path, "--width=1", "--format=json").stdout)
    names = [
        row[0] if isinstance(row, list) else row["instruction"]
        for row in near["tables"]["nodes"]["rows"]
    ]
    assert names[0] == "MatMul_1.2"  # which took the most time
    chosen = call("graph-viewer", path, "--node", names[1], "--width=0", "--format=csv")
    assert [line.split(",")[0] for line in chosen.stdout.splitlines()[1:]] == [names[1]]
    wrong = call("graph-viewer", path, "--node", "nosuch")
    assert wrong.exit_code != 0
    assert "no instruction 'nosuch'" in wrong.stderr


@pytest.mark.one_engine
@pytest.mark.thorough
@pytest.mark.parametrize("capture", ["gpu-synthetic", "cpu-xla", "cpu-multi-worker", "tpu-v6e-jax"])
@pytest.mark.parametrize("tool", TABLE_TOOLS, ids=lambda tool: tool.name)
def test_real_captures_in_every_form(call, tool, capture):
    path = folder(capture)
    text = call(tool.name, path)
    assert (text.exit_code, text.stderr) == (0, "")
    lines = text.stdout.splitlines()
    assert len(lines) >= 2
    assert all(line == line.rstrip() for line in lines)
    assert call(tool.name, path).stdout == text.stdout
    data = json.loads(call(tool.name, path, "--format=json").stdout)
    assert data["tool"] == tool.name
    for table in data["tables"]:
        made = call(tool.name, path, "--format=csv", "--table", table)
        assert made.exit_code == 0
        ids = [column["id"] for column in data["tables"][table]["columns"]]
        assert next(csv.reader(io.StringIO(made.stdout))) == ids
    made = call(tool.name, path, "--format=gviz", "--classic")
    others = (
        "collectives", "compiles", "graph-viewer", "latency", "monitor", "stragglers",
        "utilization",
    )  # fmt: skip
    if tool.name in others:
        is_of_programs = tool.name == "graph-viewer" and not data["tables"]
        reason = "holds no compiled programs" if is_of_programs else "the reference has no JSON for"
        assert reason in made.stderr
    elif not tool.name.startswith("memory"):  # of which the reference answers for one host only
        assert made.exit_code == 0


def test_a_tool_without_tables_says_why(call, logs):
    done = call("memory-viewer", logs, "--format", "csv")
    assert (done.exit_code, done.stdout) == (4, "")
    assert "memory-viewer has no table of this run. The capture holds no" in done.stderr


def test_sentences_about_all_steps_say_so_beside_tables_of_one(call):
    whole = json.loads(call("overview", "--demo", "--format", "json").stdout)
    step = whole["tables"]["steps"]["rows"][1]["stepnum"].rpartition(" ")[2]
    one = json.loads(call("overview", "--demo", "--step", step, "--format", "json").stdout)
    assert len(one["tables"]["steps"]["rows"]) == 1
    assert "are about all steps" in str(one["notes"])
    assert "are about all steps" not in str(whole["notes"])
