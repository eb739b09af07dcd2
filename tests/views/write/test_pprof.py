"""pprof files of the default mode: complete, and readable by pprof."""

import gzip
import shutil
import subprocess

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import CPU, graph, op, op_log, options, run, traced
from tfprof.views.write.pprof import view_to_pprof

MAIN = "dir/train.py:3:main"
BUILD = "dir/train.py:10:build"
LAYER = "dir/net.py:20:layer"


@pytest.fixture
def profiler():
    log = op_log(
        traced("outer", MAIN, BUILD),
        traced("inner", MAIN, BUILD, LAYER, float_ops=7),
        traced("gradients/inner_grad/mul", MAIN),
    )
    names = {"outer": "NoOp", "inner": "MatMul", "gradients/inner_grad/mul": "Mul"}
    made = tfprof.Profiler(graph(*(op(name, kind) for name, kind in names.items())), log)
    made.add_step(4, run({"outer": 10, "inner": 200, "gradients/inner_grad/mul": 3000}))
    return made


def stacks(data):
    """Samples as {op: (lines from innermost to outermost, values, labels)}."""
    profile = pb.Profile.FromString(gzip.decompress(data))
    text = profile.string_table
    functions = {f.id: (text[f.name], text[f.filename]) for f in profile.function}
    lines = {
        place.id: (*functions[place.line[0].function_id], place.line[0].line)
        for place in profile.location
    }
    types = [text[kind.type] for kind in profile.sample_type]
    found = {}
    for sample in profile.sample:
        labels = {text[la.key]: text[la.str] if la.str else la.num for la in sample.label}
        values = dict(zip(types, sample.value, strict=True))
        found[labels.pop("op")] = ([lines[i] for i in sample.location_id], values, labels)
    return found


def test_every_op_is_at_its_line_with_all_values(profiler):
    found = stacks(view_to_pprof(profiler.view("code", options(step=4))))
    main, build, layer = (
        ("train:main", "dir/train.py", 3),
        ("train:build", "dir/train.py", 10),
        ("net:layer", "dir/net.py", 20),
    )
    lines, values, labels = found["inner"]
    assert lines == [("MatMul", "", 0), layer, build, main]
    assert values == {
        "runs": 1, "micros": 200, "accelerator_micros": 0, "bytes": 0, "float_ops": 7, "params": 0,
    }  # fmt: skip
    assert labels == {"op_type": "MatMul", "device": CPU.lower(), "step": 4}
    # The line has callees of its own: the original leaves such an op out (quirk Q25).
    assert found["outer"][0] == [("NoOp", "", 0), build, main]
    gradient_lines, gradient_values, _ = found["gradients/inner_grad/mul"]
    assert [line[0] for line in gradient_lines] == [
        "Mul",
        "net:layer (gradient)",
        "train:build (gradient)",
        "train:main (gradient)",
    ]
    assert gradient_values["micros"] == 3000


def test_the_original_loses_ops_of_lines_that_call_others():
    classic = tfprof.Profiler(
        graph(op("outer"), op("inner")),
        op_log(
            traced("outer", MAIN, BUILD),
            traced("inner", MAIN, BUILD, LAYER),
        ),
        classic=True,
    )
    tree = classic.view("code", options(select=["micros"]))
    profile = pb.Profile.FromString(gzip.decompress(view_to_pprof(tree)))
    labels = [profile.string_table[sample.label[0].str] for sample in profile.sample]
    assert labels == ["inner"]


def test_hidden_lines_pass_their_ops_to_the_line_above(profiler):
    tree = profiler.view("code", options(hide_name_regexes=["net.py.*"]))
    lines, _, _ = stacks(view_to_pprof(tree))["inner"]
    assert [line[0] for line in lines] == ["MatMul", "train:build", "train:main"]


LIBRARY = "lib/python3.11/site-packages/tensorflow/python/ops/nn.py:9:conv"


@pytest.mark.parametrize(
    ("frames", "own", "every"),
    [
        (
            (MAIN, LIBRARY, LAYER),
            ["net:layer", "train:main"],
            ["net:layer", "nn:conv", "train:main"],
        ),
        ((MAIN, LIBRARY), ["train:main"], ["nn:conv", "train:main"]),
        ((LIBRARY,), ["nn:conv"], ["nn:conv"]),
    ],
    ids=["between", "innermost", "nothing else"],
)
def test_lines_of_libraries_are_left_out_by_default(tmp_path, frames, own, every):
    profiler = tfprof.Profiler(graph(op("inner", "MatMul")), op_log(traced("inner", *frames)))
    path = tmp_path / "p.pb.gz"
    for output, expected in (("", own), ("frames=all,", every)):
        profiler.profile_python({**options(), "output": f"pprof:{output}outfile={path}"})
        lines, _, _ = stacks(path.read_bytes())["inner"]
        assert [line[0] for line in lines] == ["MatMul", *expected]


def test_stacks_are_whole_whatever_is_shown(tmp_path):
    frames = [f"dir/a.py:{number}:f{number}" for number in range(30)]
    profiler = tfprof.Profiler(graph(op("inner", "MatMul")), op_log(traced("inner", *frames)))
    path = tmp_path / "p.pb.gz"
    few = {**options(), "max_depth": 3}
    profiler.profile_python({**few, "output": f"pprof:outfile={path}"})
    lines, _, _ = stacks(path.read_bytes())["inner"]
    assert len(lines) == 31


def test_no_time_is_lost(profiler):
    tree = profiler.view("code", options())
    total = sum(values["micros"] for _, values, _ in stacks(view_to_pprof(tree)).values())
    assert total == tree.total_exec_micros == 3210


def test_equal_views_give_equal_bytes(profiler):
    first, second = (view_to_pprof(profiler.view("code", options())) for _ in range(2))
    assert first == second


def test_the_selected_attribute_is_shown_first(profiler):
    tree = profiler.view("code", options(select=["float_ops"]))
    profile = pb.Profile.FromString(gzip.decompress(view_to_pprof(tree)))
    assert profile.string_table[profile.default_sample_type] == "float_ops"


def test_only_the_code_view_has_call_stacks(profiler, tmp_path):
    wrong = {**options(), "output": f"pprof:outfile={tmp_path / 'p'}"}
    with pytest.raises(tfprof.UsageError, match="Only 'code' view"):
        profiler.profile_operations(wrong)
    assert not (tmp_path / "p").exists()


def test_classic_tells_of_the_file_as_the_original_does(tmp_path, capsys):
    path = tmp_path / "p.pb.gz"
    files = tfprof.demo_files()
    classic = tfprof.Profiler(files.graph, files.op_log, classic=True)
    classic.profile_python({**options(), "output": f"pprof:outfile={path}"})
    said = f"\nRun pprof -png --nodecount=100 --sample_index=1 <{path}>\n"
    assert capsys.readouterr().out.endswith(said)


def test_written_by_the_api_and_the_command_line(profiler, tmp_path, capsys):
    path = tmp_path / "a,b.pb.gz"
    profiler.profile_python({**options(step=4), "output": f"pprof:outfile={path}"})
    assert set(stacks(path.read_bytes())) == {"outer", "inner", "gradients/inner_grad/mul"}
    assert capsys.readouterr().out == f"{path}: open it with pprof -http=: {path}\n"

    from click.testing import CliRunner

    from tfprof.cli.program import cli

    target = tmp_path / "demo.pb.gz"
    result = CliRunner().invoke(cli, ["code", "--demo", "-output", f"pprof:outfile={target}"])
    assert result.exit_code == 0, result.output
    assert len(stacks(target.read_bytes())) > 1000


@pytest.mark.skipif(shutil.which("pprof") is None, reason="needs Go's pprof program")
def test_gos_pprof_reads_it(profiler, tmp_path):
    path = tmp_path / "p.pb.gz"
    path.write_bytes(view_to_pprof(profiler.view("code", options())))
    shown = subprocess.run(["pprof", "-raw", str(path)], capture_output=True, text=True, check=True)
    assert "train:main" in shown.stdout
