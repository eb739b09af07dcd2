import contextlib
import gzip
import io
import subprocess
import sys

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, logged, op, op_log, options, run, traced

GRAPH = graph(op("w", "VariableV2", shape=[4]), op("y", "Relu", "w"))
RUN = run({"w": 5, "y": 70})
LOG = op_log(logged("w", types=["_trainable_variables"]), traced("y", "f.py:1:main"))


def profiler(**kwargs):
    made = tfprof.Profiler(GRAPH, LOG, **kwargs)
    made.add_step(3, RUN)
    return made


def test_coverage_and_steps():
    made = tfprof.Profiler(graph(op("a"), op("b")))
    assert (made.coverage, made.steps) == (0, [])
    made.add_step(9, run({"a": 1}))
    made.add_step(-2, run({"a": 1}))
    assert made.coverage == pytest.approx(0.5)
    assert made.steps == [-2, 9]


def test_every_kind_of_source(tmp_path):
    for data, name in ((GRAPH, "graph"), (RUN, "run"), (LOG, "log")):
        (tmp_path / name).write_bytes(gzip.compress(data.SerializeToString()))
    made = tfprof.Profiler(tmp_path / "graph", str(tmp_path / "log"))
    made.add_step(3, tmp_path / "run")
    from_bytes = tfprof.Profiler(GRAPH.SerializeToString(), LOG.SerializeToString())
    from_bytes.add_step(3, RUN.SerializeToString())
    for cmd in ("scope", "graph", "op", "code"):
        rows = profiler().view(cmd).to_rows()
        assert made.view(cmd).to_rows() == rows
        assert from_bytes.view(cmd).to_rows() == rows


def test_trainable_variables_of_a_meta_graph():
    message = pb.MetaGraphDef(graph_def=GRAPH)
    variable = pb.VariableDef(variable_name="w:0").SerializeToString()
    message.collection_def["trainable_variables"].bytes_list.value.append(variable)
    made = tfprof.Profiler(message)
    tree = made.view("scope", tfprof.ProfileOptionBuilder.trainable_variables_parameter())
    assert tree.names == ["_TFProfRoot", "w"]
    assert tree.root.total_parameters == 4


def test_without_a_graph_the_run_names_the_ops():
    made = tfprof.Profiler()
    made.add_step(0, RUN)
    assert sorted(made.view("scope").names) == ["_TFProfRoot", "w", "y"]


def test_views_return_their_messages():
    made = profiler()
    assert isinstance(made.profile_name_scope(options()), tfprof.GraphNodeProto)
    assert isinstance(made.profile_graph(options()), tfprof.GraphNodeProto)
    assert isinstance(made.profile_operations(options()), tfprof.MultiGraphNodeProto)
    assert isinstance(made.profile_python(options()), tfprof.MultiGraphNodeProto)


def test_stdout_goes_through_sys_stdout():
    made = profiler()
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        made.profile_operations(options(output="stdout"))
    assert stream.getvalue() == made.report("op", options(output="none")).replace(
        "none:", "stdout:"
    )


def test_no_output_writes_nothing(capfd):
    profiler().profile_operations(options())
    profiler().view("op", options(output="stdout"))
    assert capfd.readouterr().out == ""


def test_a_file_holds_the_report_without_its_frame(tmp_path, capfd):
    path = tmp_path / "out, 1=2.txt"
    path.write_text("old and longer " * 1000)
    made = profiler()
    made.profile_operations(options(output=f"file:outfile={path}"))
    text = path.read_bytes().decode("utf-8")
    report = made.report("op", options())
    frame = "\n==================Model Analysis Report======================\n"
    assert text == report.partition(frame)[2].partition("\n======================End")[0]
    assert text.startswith("\nDoc:\n")
    assert capfd.readouterr().out == ""


def test_a_file_is_utf_8_with_plain_line_ends(tmp_path):
    made = tfprof.Profiler(graph(op("h\u00f6he/\U0001f600")))
    made.profile_name_scope(options(output=f"file:outfile={tmp_path / 'out'}", select=[]))
    data = (tmp_path / "out").read_bytes()
    assert "    h\u00f6he/\U0001f600 ()\n".encode() in data
    assert b"\r" not in data


def test_view_without_options_shows_what_the_profile_can_answer_with():
    made = profiler()
    asked = tfprof.ProfileOptionBuilder().order_by("auto").select(["auto"]).build()
    fresh = made.view("scope", asked)
    assert made.view("scope").to_rows() == fresh.to_rows()


def test_options_stay_as_they_are():
    given = options(select=["bytes"])
    before = repr(given)
    profiler().profile_name_scope(given)
    profiler().view("scope", given)
    assert repr(given) == before


def test_the_messages_given_stay_as_they_are():
    data = [m.SerializeToString(deterministic=True) for m in (GRAPH, RUN, LOG)]
    profiler().profile_python(options())
    assert [m.SerializeToString(deterministic=True) for m in (GRAPH, RUN, LOG)] == data


def test_a_failed_step_changes_nothing():
    made = profiler()
    rows = made.view("scope").to_rows()
    with pytest.raises(tfprof.InputError):
        made.add_step(4, b"\xff\xff\xff")
    assert made.steps == [3]
    assert made.view("scope").to_rows() == rows


def test_profile_in_one_call():
    message = tfprof.profile(GRAPH, RUN, LOG, "op", options())
    assert message == profiler().profile_operations(options())
    assert tfprof.profile(GRAPH, RUN, LOG, cmd="code", options=options()).total_exec_micros == 70


def test_profile_shows_trainable_variables_by_default(capsys):
    for arguments in ({}, {"options": None}, {"options": 0}):
        message = tfprof.profile(GRAPH, op_log=LOG, **arguments)
        assert [child.name for child in message.children] == ["w"]
        assert message.total_parameters == 4
    assert capsys.readouterr().out.count("  w (4, 4/4 params)\n") == 3


@pytest.mark.parametrize("empty", [None, pb.RunMetadata(), b""], ids=["none", "message", "bytes"])
def test_profile_without_a_run(empty):
    message = tfprof.profile(GRAPH, empty, cmd="scope", options=options())
    assert [child.name for child in message.children] == ["w", "y"]
    assert message.total_exec_micros == 0


def test_one_shot_run_is_step_0():
    message = tfprof.profile(GRAPH, RUN, options=options(step=0))
    assert message.total_exec_micros == 75
    with pytest.raises(tfprof.UsageError, match="step 1 was not added; available steps: 0"):
        tfprof.profile(GRAPH, RUN, options=options(step=1))


@pytest.mark.parametrize(("value", "classic"), [("1", True), ("0", False), ("", False)])
def test_the_environment_chooses_the_mode(monkeypatch, value, classic):
    monkeypatch.setenv("TFPROF_CLASSIC", value)
    assert tfprof.Profiler(GRAPH).classic is classic
    assert tfprof.Profiler(GRAPH, classic=True).classic
    assert not tfprof.Profiler(GRAPH, classic=False).classic


def test_the_default_mode_without_the_environment(monkeypatch):
    monkeypatch.delenv("TFPROF_CLASSIC", raising=False)
    assert not tfprof.Profiler(GRAPH).classic


def test_errors_are_a_tree_with_exit_codes():
    assert issubclass(tfprof.UsageError, (tfprof.TfprofError, ValueError))
    for error in (
        tfprof.UnknownFormatError, tfprof.MalformedProfileError, tfprof.EmptyProfileError,
    ):  # fmt: skip
        assert issubclass(error, tfprof.InputError)
    codes = {
        "TfprofError": 1, "UsageError": 2, "InputError": 3, "UnknownFormatError": 3,
        "MalformedProfileError": 3, "EmptyProfileError": 4, "MissingDependencyError": 5,
    }  # fmt: skip
    assert {name: getattr(tfprof, name).exit_code for name in codes} == codes


def test_classic_reports_an_empty_frame_when_the_step_is_unknown(capsys):
    made = profiler(classic=True)
    with pytest.warns(tfprof.TfprofWarning):
        made.profile_name_scope(options(step=7, output="stdout"))
    out = capsys.readouterr().out
    assert "Profile:" not in out
    assert out.endswith("\n======================End of Report==========================\n")


def test_works_without_tensorflow_installed(tmp_path):
    (tmp_path / "graph.pb").write_bytes(GRAPH.SerializeToString())
    program = (
        "import sys\n"
        "sys.modules['tensorflow'] = None\n"  # importing it fails now
        "import tfprof\n"
        "profiler = tfprof.Profiler(sys.argv[1])\n"
        "assert len(profiler.view('op')) == 3\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "graph.pb")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_profiler_says_what_it_holds():
    made = tfprof.Profiler(graph(op("x"), op("y")))
    assert repr(made) == "<tfprof.Profiler: 2 ops, no steps>"
    made.add_step(3, RUN)
    assert repr(made) == "<tfprof.Profiler: 3 ops, step 3>"
    for step in range(9):
        made.add_step(step, RUN)
    assert repr(made) == "<tfprof.Profiler: 3 ops, 9 steps from 0 to 8>"
    assert "classic mode>" in repr(tfprof.Profiler(graph(op("x")), classic=True))
