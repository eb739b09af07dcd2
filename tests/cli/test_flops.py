import base64
import csv
import gzip
import io
import json
import re
from textwrap import wrap

import pytest

import tfprof
from tests.graphs.interpreter.programs import FLOAT, Ref, Type, graph, node, placeholder
from tests.graphs.interpreter.while_loops import TYPES, body, condition
from tests.graphs.reports.programs import two_layers

pytestmark = pytest.mark.slow

COMMANDS = ["flops", "summary"]


def written(path, message):
    path.write_bytes(message.SerializeToString())
    return str(path)


@pytest.fixture
def layers(tmp_path):
    return written(tmp_path / "layers.pb", two_layers())


def test_the_recorded_step(call):
    result = call("flops", "--demo")
    assert (result.exit_code, result.stderr) == (0, "")
    report = tfprof.demo_files()
    from tfprof.graphs.reports.flops import flops

    assert result.stdout.startswith(f"{flops(report.graph).flops:,} (198 G) FLOPs, ")
    assert "\nCoverage: 100 % of 9,833 ops" in result.stdout
    assert "\n├ resnet50 " in result.stdout
    prose = [line for line in result.stdout.splitlines() if not line.startswith(("├", "│", "└"))]
    assert max(map(len, prose)) <= 100
    assert all(line == line.rstrip() for line in result.stdout.splitlines())


def test_a_graph(call, layers):
    text = call("flops", layers, "--batch", "8").stdout
    assert text.startswith("328 FLOPs, 144 MACs\n")
    assert "├ dense1 " in text
    assert call("flops", "--graph_path", layers, "-batch=8").stdout == text


@pytest.mark.parametrize("words", [["x=8,4"], ["8,4"], ["8x4"], ["(8, 4)"], ["[8,4,]"], ["8,?"]])
def test_input_shapes(call, layers, words):
    for option in ("--input-shape", "-input_shape"):
        result = call("flops", layers, option, *words)
        assert result.stdout.startswith("328 FLOPs"), result.stderr


def test_several_inputs(call, tmp_path):
    message = graph(
        placeholder("a", None, None), placeholder("b", None, None),
        node("mm", "MatMul", "a", "b", T=Type(FLOAT)),
    )  # fmt: skip
    path = written(tmp_path / "two.pb", message)
    result = call("flops", path, "--input_shape", "a=2,3", "--input_shape", "b=3,5")
    assert result.stdout.startswith("60 FLOPs, 30 MACs\n")
    for wrong in (["2,3"], ["2,3", "3,5"], ["a=2,3", "3,5"], ["a=2,3", "a=2,3"], ["c=1"], ["a=x"],
                  ["=2,3"], ["a=2;3"]):  # fmt: skip
        words = [word for each in wrong for word in ("--input_shape", each)]
        result = call("flops", path, *words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "input_shape" in result.stderr


def test_trip_counts(call, tmp_path):
    message = graph(
        placeholder("x", 8, 8), placeholder("start", dtype=3), placeholder("limit", dtype=3),
        node("loop", "While", "start", "limit", "x", T=TYPES, cond=Ref("cond"), body=Ref("body")),
        condition(), body(),
    )  # fmt: skip
    path = written(tmp_path / "loop.pb", message)
    assert call("flops", path).stdout.startswith("1,024·")
    for words in ("3", "loop=3"):
        assert call("flops", path, "--trip-count", words).stdout.startswith("3,072 FLOPs")
    for words in ("x", "loop=", "-1"):
        assert call("flops", path, f"--trip_count={words}").exit_code == 2


def test_by_type(call, layers):
    text = call("flops", layers, "--batch", "8", "--by", "type").stdout
    assert text.endswith(
        "FLOPs by op type:\n  MatMul  288  87.8 %\n  Relu     24   7.3 %\n  AddV2    16   4.9 %\n"
    )
    data = json.loads(
        call("flops", layers, "--batch", "8", "--by", "type", "--format", "json").stdout
    )
    assert (data["flops"], data["macs"], data["coverage"]) == (328, 144, 1)
    assert [row["type"] for row in data["rows"][:3]] == ["MatMul", "Relu", "AddV2"]
    assert data["rows"][0]["count"] == 288
    assert {row["type"]: row["free_ops"] for row in data["rows"]}["VarHandleOp"] == 3


def test_by_op(call, layers):
    text = call("flops", layers, "--explain", "--top", "1").stdout
    assert "\nMatMul: 2 ops, 36·B FLOPs\n  2·n·k\n" in text
    assert "… and 2 cheaper op types" in text
    assert call("flops", layers, "--by", "op", "--top", "1").stdout == text
    rows = list(csv.DictReader(io.StringIO(
        call("flops", layers, "--by=op", "--format=csv", "--top=2").stdout
    )))  # fmt: skip
    assert [(row["name"], row["flops"], row["numbers"]) for row in rows] == [
        ("dense1/MatMul", "24·B", "n=3·B; k=4"),
        ("dense2/MatMul", "12·B", "n=2·B; k=3"),
    ]


def test_a_device(call, layers):
    words = ["flops", layers, "--batch", "8", "--device", "1e12,1e9"]
    text = call(*words).stdout
    assert "least time" in text
    assert "At least 840 ns per step: 840 ns limited by memory" in text
    assert "lower bound" in text
    rows = json.loads(call(*words, "--by", "op", "--format", "json").stdout)["rows"]
    assert (rows[0]["name"], rows[0]["micros"]) == ("dense1/MatMul", 0.272)
    result = call("flops", layers, "--device", "h900")
    assert result.exit_code == 2
    assert "Known: v100" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_formats(call, layers, command):
    data = json.loads(call(command, layers, "--format", "json").stdout)
    assert data["flops"] == "41·B"
    assert [row["path"] for row in data["rows"]][:3] == ["", "dense1", "dense2"]
    rows = list(csv.DictReader(io.StringIO(call(command, layers, "--format", "csv").stdout)))
    assert [row["params"] for row in rows] == ["23", "12", "6", "5"]
    assert call(command, layers, "--format", "html").stdout.startswith("<!DOCTYPE html>")


def test_summary(call, layers):
    text = call("summary", layers, "--depth", "0").stdout
    assert text.startswith("scope ")
    assert "\n23 parameters (92 B)\n41·B FLOPs, 18·B MACs\n" in text
    assert "dense1" not in text
    rows = json.loads(call("summary", layers, "--top", "1", "--format", "json").stdout)["rows"]
    assert [row["name"] for row in rows] == ["total", "dense1", "… 2 more"]


def test_convention(call, layers):
    text = call("flops", layers, "--convention", "macs").stdout
    assert "MACs by op type:\n  MatMul  18·B\n" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_to_a_file(call, layers, tmp_path, command):
    target = tmp_path / "out.txt"
    words = [command, layers, "-o", target]
    assert (call(*words).exit_code, call(*words).exit_code) == (0, 2)
    assert "41·B FLOPs" in target.read_text("utf-8")
    assert call(*words, "--force", "--batch", "8").exit_code == 0
    assert "328 FLOPs" in target.read_text("utf-8")
    assert call(command, layers, "-o", "").exit_code == 2
    assert call(command, layers, "-o", tmp_path / "no" / "where").exit_code == 3


@pytest.mark.parametrize(
    "words",
    [[], ["--demo", "a.pb"], ["a.pb", "--graph_path", "b.pb"], ["a.pb", "--depth", "-1"],
     ["a.pb", "--top", "0"], ["a.pb", "--batch", "0"], ["a.pb", "--batch", "x"],
     ["a.pb", "--format", "pdf"], ["a.pb", "--nonsense"], ["a.pb", "b.pb"]],
)  # fmt: skip
@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_usage(call, command, words):
    result = call(command, *words)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("words", [["--explain", "--by", "type"]])
def test_options_that_contradict_each_other(call, layers, words):
    assert call("flops", layers, *words).exit_code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_what_can_not_be_read(call, tmp_path, command):
    assert call(command, tmp_path / "no.pb").exit_code == 3
    text = tmp_path / "notes.md"
    text.write_text("# Notes\n\nNothing here.\n")
    result = call(command, text)
    assert result.exit_code == 3
    assert "It looks like a text file" in result.stderr
    for name in ("model.keras", "model.h5"):
        (tmp_path / name).write_bytes(b"\x89HDF\r\n\x1a\n")
        result = call(command, tmp_path / name)
        assert result.exit_code == 3
        assert "tfprof.flops(model)" in result.stderr
        assert "model.export(PATH)" in result.stderr


def test_a_signature(call, layers):
    result = call("flops", layers, "--signature", "serve")
    assert result.exit_code == 2
    assert "a GraphDef has no signatures" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_colour_width_and_help(call, layers, command):
    assert "\x1b[" in call(command, layers, "--color", "always").stdout
    assert "\x1b[" not in call(command, layers).stdout
    narrow = call(command, layers, COLUMNS="60").stdout
    table = [line for line in narrow.splitlines() if line.startswith(("├", "└", "─"))]
    assert max(map(len, table)) <= 60
    text = call(command, "--help").stdout
    assert "\nInput:\n  PATH " in text
    assert "Examples:" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_twice(process, layers, command):
    first, second = process(command, layers), process(command, layers)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


@pytest.mark.parametrize("words", [[], ["--by", "type"], ["--by", "op", "--top", "1"]])
def test_prose_is_wrapped_once(call, words):
    about = (
        "A multiply-add is 1 MAC and 2 FLOPs. Every other operation on floats is 1 FLOP; integer "
        "arithmetic on indices and shapes is not counted."
    )
    for columns, width in (("60", 60), ("200", 100)):
        text = call("flops", "--demo", *words, COLUMNS=columns).stdout
        assert text.partition("\n")[2].startswith("\n".join(wrap(about, width)) + "\n\n")


def page(text):
    packed = re.search(r'<script type="application/octet-stream" id="page/[^"]*">([^<]*)<', text)
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_page_is_about_float_operations_and_that_of_summary_about_layers(call):
    def shown(*words):
        text = call(*words, "--format", "html").stdout
        assert "the recorded ResNet-50 step of tfprof" in text
        return page(text)

    def tables(document):
        return [block["id"] for block in document["blocks"] if block["kind"] == "table"]

    flops, summary = shown("flops", "--demo"), shown("summary", "--demo")
    assert (flops["title"], tables(flops)) == ("Float operations", ["types", "layers"])
    assert (summary["title"], tables(summary)) == ("Model summary", ["layers"])
    assert "backward" in json.dumps(flops)
    assert tables(shown("flops", "--demo", "--by", "layer")) == ["layers"]
    types = shown("flops", "--demo", "--by", "type", "--top", "2")
    assert tables(types) == ["types"]
    assert next(b["n_rows"] for b in types["blocks"] if b["kind"] == "table") == 2
    ops = shown("flops", "--demo", "--explain", "--top", "3", "--device", "a100")
    assert tables(ops) == ["ops"]
    assert "A100" in json.dumps(ops)
