import csv
import gzip
import io
import json
import shlex

import pytest

import tfprof
from tfprof.cli.options import CLI_DEFAULTS, chosen_options
from tfprof.cli.program import cli
from tfprof.cli.registry import COMMANDS
from tfprof.errors import InputError
from tfprof.options.spec import OPTIONS

VIEWS = ("scope", "graph", "op", "code")
VALUES = {"int": "3", "bool": "true", "str": "name", "list": "a,b"}
PARSED = {"int": 3, "bool": True, "str": "name", "list": ["a", "b"]}


def command(kind):
    return cli.get_command(None, kind)


def chosen(kind, words):
    context = command(kind).make_context(kind, list(words))
    return chosen_options(context.params)


@pytest.mark.parametrize("kind", VIEWS)
def test_defaults_are_the_builders_but_for_depth_and_what_the_profile_decides(kind):
    expected = {o.name: o.builder_default for o in OPTIONS}
    expected |= {"max_depth": 10, "order_by": "auto", "select": ["auto"]}
    assert chosen(kind, []) == expected == dict(CLI_DEFAULTS)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: o.name)
def test_every_option_in_every_spelling(option):
    value = VALUES[option.kind]
    dashed = option.name.replace("_", "-")
    for words in (
        [f"-{option.name}", value],
        [f"-{option.name}={value}"],
        [f"--{option.name}", value],
        [f"--{option.name}={value}"],
        [f"--{dashed}", value],
        [f"--{dashed}={value}"],
    ):
        assert chosen("op", words) == {**CLI_DEFAULTS, option.name: PARSED[option.kind]}, words


def test_lists_repeat_and_can_be_empty():
    words = ["--show_name_regexes", "a", "--show_name_regexes", "b,c", "-select", "''"]
    options = chosen("op", words)
    assert options["show_name_regexes"] == ["a", "b", "c"]
    assert options["select"] == []


@pytest.mark.parametrize("kind", VIEWS)
def test_help_mentions_every_option_and_two_examples(call, kind):
    result = call(kind, "-h")
    assert result.exit_code == 0
    assert all(f"--{option.name} " in result.stdout for option in OPTIONS)
    for name in ("graph_path", "run_meta_path", "op_log_path", "demo", "classic", "outfile",
                 "force", "format", "max_rows", "color"):  # fmt: skip
        assert f"--{name}" in result.stdout
    assert result.stdout.count(f"  tfprof {kind} ") >= 2
    assert call(kind, "--help").stdout == result.stdout


@pytest.mark.parametrize("kind", VIEWS)
def test_the_demo_example_of_the_help_runs(call, kind):
    words = shlex.split(command(kind).examples[0])
    assert words[:3] == ["tfprof", kind, "--demo"]
    result = call(*words[1:])
    assert result.exit_code == 0
    assert all(line.startswith("note: ") for line in result.stderr.splitlines())
    assert "Profile:\nnode name |" in result.stdout


@pytest.mark.parametrize("classic", [True, False])
@pytest.mark.parametrize("kind", ["scope", "graph", "op"])
def test_text_is_the_report_without_its_envelope(call, graph, runs, kind, classic):
    profiler = tfprof.Profiler(graph, classic=classic)
    for step, run in enumerate(runs):
        profiler.add_step(step, run)
    report = profiler.report(kind, {**CLI_DEFAULTS, "select": ["micros", "params"]})
    head, tail = "Model Analysis Report======================\n", "\n======================End of"
    expected = report.partition(head)[2].partition(tail)[0]
    assert "Profile:\n" in expected
    flag = "--classic" if classic else "--no-classic"
    result = call(
        kind, flag, "--graph_path", graph, "--run_meta_path", ",".join(runs),
        "-select", "micros,params",
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (0, expected)


def test_file_i_is_step_i(call, graph, runs):
    result = call(
        "op", "--graph_path", graph, "--run_meta_path", ",".join(runs), "-step=1",
        "--format=json",
    )  # fmt: skip
    answer = json.loads(result.stdout)
    assert (answer["view"], answer["steps"]) == ("op", [0, 1])
    assert {row["name"]: row["exec_micros"] for row in answer["rows"]}["MatMul"] == 30


def test_csv_holds_the_rows_of_the_view(call, graph, runs):
    arguments = ["scope", "--graph_path", graph, "--run_meta_path", runs[0], "--format=csv"]
    result = call(*arguments)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    profiler = tfprof.Profiler(graph)
    profiler.add_step(0, runs[0])
    expected = profiler.view("scope", CLI_DEFAULTS).to_rows()
    texts = [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in expected
    ]
    assert rows == texts
    assert call(*arguments).stdout == result.stdout


def test_what_is_not_known_is_null_with_the_reason(call, graph):
    words = ["op", "--graph_path", graph, "-select", "micros", "--format=json"]
    result = call(*words)
    answer = json.loads(result.stdout)
    matmul = {row["name"]: row for row in answer["rows"]}["MatMul"]
    assert (matmul["exec_micros"], matmul["parameters"]) == (None, 0)
    assert answer["missing"]["exec_micros"] == "times, memory and runs need run metadata"
    assert "parameters" not in answer["missing"]
    assert "n/a: times, memory and runs need run metadata (--run_meta_path)" in result.stderr
    classic = call(*words, "--classic")
    assert '"exec_micros": 0' in classic.stdout
    assert "n/a" not in classic.stderr
    assert "missing" not in classic.stdout


def test_table_marks_what_was_not_measured(call, graph):
    result = call("op", "--graph_path", graph, "--format=table", "-select=micros,params")
    lines = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line}
    assert lines["MatMul"][:3] == ["MatMul", "n/a", "0"]
    assert lines["VariableV2"][:3] == ["VariableV2", "n/a", "6"]
    assert "\x1b" not in result.stdout


def test_outfile_is_not_overwritten_without_force(call, graph, tmp_path):
    out = tmp_path / "report.txt"
    arguments = ["op", "--graph_path", graph]
    assert call(*arguments, "-o", out).exit_code == 0
    assert out.read_text() == call(*arguments, "-o", "-").stdout == call(*arguments).stdout
    out.write_text("mine")
    for words in (["-o", str(out)], ["-output", f"file:outfile={out}"]):
        refused = call(*arguments, *words)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "--force" in refused.stderr
        assert out.read_text() == "mine"
    assert call(*arguments, "-output", f"file:outfile={out}", "--force").exit_code == 0
    assert out.read_text() == call(*arguments).stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.pbtxt", "report.txt"]


def test_failed_write_leaves_nothing(call, graph, tmp_path, monkeypatch):
    def interrupt(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupt)
    result = call("op", "--graph_path", graph, "-o", tmp_path / "out.txt")
    assert result.exit_code == 130
    assert [p.name for p in tmp_path.iterdir()] == ["graph.pbtxt"]


def test_output_none_prints_nothing(call, graph):
    result = call("op", "--graph_path", graph, "-output", "none")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["op"], 2, "nothing to read"),
        (["op", "--op_log_path", "x"], 2, "nothing to profile in x"),
        (["op", "--demo", "--graph_path", "x"], 2, "--demo reads files of its own"),
        (["op", "--graph_path", "no/such"], 3, "no/such"),
        (["op", "--demo", "-max_depth", "x"], 2, "is not a whole number"),
        (["op", "--demo", "-order_by", "micro"], 2, "did you mean 'micros'?"),
        (["op", "--demo", "-select", "micros,byte"], 2, "did you mean 'bytes'?"),
        (["op", "--demo", "-show_name_regexes", "("], 2, "regular expression '('"),
        (["op", "--demo", "-step", "7"], 2, "7"),
        (["op", "--demo", "-output", "pprof:outfile=x"], 2, "Only 'code' view supports pprof"),
        (["op", "--demo", "-output", "timeline:outfile=x"], 2, "doesn't support timeline"),
        (["op", "--demo", "-output", "dot:outfile=x.svg"], 2, "no edges to draw"),
        (["graph", "--demo", "-output", "dot:outfile=x.gif"], 2, "x.gif"),
        (["op", "--demo", "-account_displayed_op_only=maybe"], 2, "neither true nor false"),
        (["op", "--demo", "-max_dept=3"], 2, "did you mean --max_depth?"),
        (["op", "--demo", "extra"], 2, "extra"),
        (["op", "--demo", "-o", "no/such/folder.txt"], 3, "no such folder"),
        (["op", "--demo", "-o", "x", "-output", "none"], 2, "contradict"),
        (["op", "--demo", "--max_rows", "-1"], 2, "0 (all) or more"),
        (["op", "--demo", "--format", "xml"], 2, "xml"),
        (["opp"], 2, "did you mean 'op'?"),
    ],
)
def test_errors(call, words, code, message):
    result = call(*words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("tfprof: error: ")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_wrong_file_says_what_it_looks_like(call, runs):
    result = call("op", "--graph_path", runs[0])
    assert result.exit_code == 3
    assert "RunMetadata" in result.stderr


def test_code_view_without_call_stacks_is_empty(call, graph):
    assert call("code", "--graph_path", graph).exit_code == 4


def test_interrupt_exits_with_130(call, graph, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tfprof.inputs.profile_files.Profiler", interrupt)
    assert call("op", "--graph_path", graph).exit_code == 130


def test_too_little_memory_names_the_remedy(call, graph, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("tfprof.inputs.profile_files.Profiler", fail)
    result = call("op", "--graph_path", graph)
    assert result.exit_code == 3
    assert result.stderr.startswith("tfprof: error: there is not enough memory for this")
    assert "--memory SIZE" in result.stderr


def test_library_error_while_running(call, graph, monkeypatch):
    def fail(*arguments, **options):
        raise InputError("broken \x1b[31m")

    monkeypatch.setattr("tfprof.inputs.profile_files.Profiler", fail)
    result = call("op", "--graph_path", graph)
    assert (result.exit_code, result.stderr) == (3, "tfprof: error: broken \\x1b[31m\n")


def test_notices_follow_the_report(call, graph, runs, tmp_path):
    broken = tmp_path / "log.pbtxt"
    broken.write_text('log_entries { name: "w" code_def { traces { file_id: 9 } } }')
    result = call("op", "--graph_path", graph, "--op_log_path", broken)
    assert result.exit_code == 0
    assert result.stderr.startswith("note: ")
    assert result.stderr.count("id_to_string") == 1


def test_classic_warnings_are_notes(call, graph, tmp_path):
    empty = tmp_path / "empty.pbtxt"
    empty.write_text("cost_graph {}")
    result = call("op", "--classic", "--graph_path", graph, "--run_meta_path", empty)
    assert result.exit_code == 0
    assert result.stderr.startswith("tfprof: warning: step 0")


def test_version(call):
    assert call("--version").stdout == f"tfprof {tfprof.__version__}\n"


def test_help_lists_every_command(call):
    result = call("-h")
    assert result.exit_code == 0
    for name, entry in COMMANDS.items():
        assert name in result.stdout
        assert entry.short_help in result.stdout


def test_demo_is_plain_and_deterministic(call):
    first, second = call("demo"), call("demo")
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    assert "\x1b" not in first.stdout
    assert max(map(len, first.stdout.splitlines()[:40])) <= 100
    for text in ("ResNet-50", "25.6 M", "Conv2DBackpropFilter", "stage_3", "Try next",
                 "--graph_path"):  # fmt: skip
        assert text in first.stdout
    files = tfprof.demo_files()
    assert str(files.graph) in first.stdout


@pytest.mark.parametrize("width", [40, 80, 120, 160])
def test_demo_keeps_to_columns(call, width):
    lines = call("demo", COLUMNS=str(width)).stdout.splitlines()
    tables = [line for line in lines if "MB" in line or "─" in line]
    assert tables
    assert max(map(len, tables)) <= width


def test_demo_in_colour(call):
    assert "\x1b[" in call("demo", "--color=always").stdout
    assert "\x1b[" in call("demo", FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[" not in call("demo", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_the_ending_of_the_file_packs(call, graph, tmp_path):
    assert call("op", graph, "-o", tmp_path / "ops.csv.gz").exit_code == 0
    data = (tmp_path / "ops.csv.gz").read_bytes()
    assert gzip.decompress(data).decode() == call("op", graph, "--format", "csv").stdout


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("ops.csv", "name,"),
        ("ops.json", '{"view": "op"'),
        ("ops.html", "<!DOCTYPE html>"),
        ("ops.txt", "\nDoc:\n"),
        ("ops", "\nDoc:\n"),
    ],
)
def test_the_ending_of_the_file_chooses_the_format(call, graph, tmp_path, name, start):
    out = tmp_path / name
    assert call("op", graph, "-o", out).exit_code == 0
    assert out.read_text("utf-8").lower().startswith(start.lower())
    assert call("op", graph, "--format", "text", "-o", out, "--force").exit_code == 0
    assert out.read_text("utf-8").startswith("\nDoc:\n")
    assert call("op", "--force", graph, "--outfile", out, "--format=csv").exit_code == 0
    assert out.read_text("utf-8").startswith("name,")


@pytest.mark.parametrize("words", [["op", "--demo", "--format", "table"],
                                   ["scope", "--demo", "-max_depth", "2", "--format", "tree"],
                                   ["demo"], ["advise", "--demo"]])  # fmt: skip
def test_lines_end_without_blanks(call, words):
    lines = call(*words).stdout.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.pbtxt"
    path.write_text("".join(f'node {{ name: "n{n}" op: "NoOp" }}\n' for n in range(10_000)))
    return str(path)


def test_a_long_text_comes_with_ways_to_shorten_it(call, many):
    words = ["scope", "--graph_path", many, "-select", "params", "-max_depth", "2"]
    result = call(*words)
    lines = result.stdout.splitlines()
    assert (lines[-10_000], lines[-1]) == ("  n0 (0/0 params)", "  n9999 (0/0 params)")
    size = f"{len(result.stdout) / 1000:.0f} kB"
    assert result.stderr == (
        f"note: {len(lines):,} lines, {size}; --max_depth N shows fewer levels, --min_occurrence N "
        "only large rows, --format tree --max_rows 40 the largest; --outfile FILE writes a file\n"
    )
    assert call(*words, "-show_name_regexes", "n1.*").stderr == ""
    tree = call(*words, "--format", "tree", "--max_rows", "40")
    assert (len(tree.stdout.splitlines()), tree.stderr) == (41, "")


@pytest.mark.parametrize(
    "words", [["--classic"], ["--format=csv"], ["--format=json"], ["-o"], ["-output"]]
)
def test_no_remark_on_the_length_if_output_is_not_a_terminal(call, many, tmp_path, words):
    path = tmp_path / "out.txt"
    words = {"-o": ["-o", path], "-output": ["-output", f"file:outfile={path}"]}.get(
        words[0], words
    )
    result = call("scope", "--graph_path", many, "-select", "params", *words)
    assert (result.exit_code, result.stderr) == (0, "")
