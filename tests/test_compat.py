"""``tfprof.compat.v1`` in place of ``tf.compat.v1.profiler``: programs keep working."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.compat import model_analyzer, v1
from tfprof.testing.builders import graph, op, run

builder = v1.ProfileOptionBuilder


@pytest.mark.tensorflow
def test_every_public_name_of_tensorflow_is_there() -> None:
    theirs = pytest.importorskip("tensorflow").compat.v1.profiler
    names = {name for name in dir(theirs) if not name.startswith("_")}
    assert names <= set(v1.__all__)
    for name in ("profile", "advise", "write_op_log"):
        ours = list(inspect.signature(getattr(v1, name)).parameters)
        assert ours == list(inspect.signature(getattr(theirs, name)).parameters)


def test_classic_is_the_default() -> None:
    assert v1.Profiler(graph(op("a"))).classic
    with pytest.warns(tfprof.TfprofWarning, match="num_hidden_ops"):
        v1.profile(graph(op("a")), options={"select": ["num_hidden_ops"], "output": "none"})


def test_all_advice_is_every_checker_of_tensorflow() -> None:
    advice = v1.advise(graph(op("a")), run({"a": 5}), options=v1.ALL_ADVICE)
    assert set(advice.checkers) == set(v1.advise(graph(op("a")), run({"a": 5})).checkers)


@pytest.mark.tensorflow
def test_all_advice_is_tensorflows() -> None:
    analyzer = pytest.importorskip("tensorflow.python.profiler.model_analyzer")
    assert analyzer.ALL_ADVICE == v1.ALL_ADVICE


@pytest.mark.tensorflow
def test_the_context_and_its_profilers_are_classic(session: Any, tmp_path: Path) -> None:
    ours = list(inspect.signature(v1.ProfileContext.__init__).parameters)
    assert ours == ["self", "profile_dir", "trace_steps", "dump_steps", "enabled", "debug"]
    for context, classic in (
        (v1.ProfileContext(tmp_path, [0], []), True),
        (tfprof.ProfileContext(tmp_path, [0], []), False),
    ):
        with context:
            session.run(session.fetches[2])
        assert context.profiler.classic is classic
        assert [profiler.classic for profiler in context.profilers] == [classic]


def test_coverage_is_where_programs_look_for_it() -> None:
    profiler = v1.Profiler(graph(op("a"), op("b")))
    assert profiler._coverage == 0.0
    profiler.add_step(0, run({"a": 5}))
    assert profiler._coverage == pytest.approx(0.5)


def conv_net() -> tuple[Any, ...]:
    """Two convolutions of the same image; each result, and their sum."""
    v1_tf = pytest.importorskip("tensorflow").compat.v1
    image = v1_tf.zeros([2, 6, 6, 3])
    first = v1_tf.get_variable("first", [3, 3, 3, 6])
    second = v1_tf.get_variable("second", [2, 3, 3, 6])
    left = v1_tf.nn.conv2d(image, first, [1, 2, 2, 1], "SAME", name="left")
    right = v1_tf.nn.conv2d(image, second, [1, 2, 2, 1], "SAME", name="right")
    return left, right, v1_tf.add(left, right, name="sum")


def traced(session: Any, fetch: Any) -> Any:
    v1_tf = pytest.importorskip("tensorflow").compat.v1
    metadata = v1_tf.RunMetadata()
    options = v1_tf.RunOptions(trace_level=v1_tf.RunOptions.FULL_TRACE)
    session.run(fetch, options=options, run_metadata=metadata)
    return metadata


def find(node: Any, name: str) -> Any:
    if node.name == name:
        return node
    return next((hit for child in node.children if (hit := find(child, name))), None)


@pytest.fixture
def session() -> Any:
    v1_tf = pytest.importorskip("tensorflow").compat.v1
    with v1_tf.Graph().as_default() as tf_graph, v1_tf.Session(graph=tf_graph) as session:
        session.fetches = conv_net()
        session.run(v1_tf.global_variables_initializer())
        yield session


@pytest.mark.tensorflow
def test_parameters_of_a_live_graph_in_a_file(session: Any, tmp_path: Path) -> None:
    options = builder(builder.trainable_variables_parameter())
    v1.profile(session.graph, options=options.with_file_output(tmp_path / "dump").build())
    text = (tmp_path / "dump").read_text()
    assert text.split("Profile:\n")[1] == (
        "node name | # parameters\n"
        "_TFProfRoot (--/270 params)\n"
        "  first (3x3x3x6, 162/162 params)\n"
        "  second (2x3x3x6, 108/108 params)\n"
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("cmd", "method"),
    [
        ("scope", "profile_name_scope"),
        ("graph", "profile_graph"),
        ("op", "profile_operations"),
        ("code", "profile_python"),
    ],
)
def test_one_shot_and_profiler_write_the_same(
    session: Any, tmp_path: Path, cmd: str, method: str
) -> None:
    dump = tmp_path / "dump"
    options = (
        builder(builder.trainable_variables_parameter())
        .with_file_output(dump)
        .with_accounted_types([".*"])
        .select(["params", "float_ops", "micros", "bytes", "device", "op_types", "occurrence"])
        .build()
    )
    run_meta = traced(session, session.fetches[2])
    profiler = v1.Profiler(session.graph)
    profiler.add_step(1, run_meta)
    getattr(profiler, method)(options)
    first = dump.read_text()
    v1.profile(session.graph, run_meta=run_meta, cmd=cmd, options=options)
    assert dump.read_text() == first


@pytest.mark.tensorflow
def test_each_step_shows_what_has_run_so_far(session: Any) -> None:
    options = builder(builder.time_and_memory(min_bytes=0)).with_empty_output().build()
    profiler = v1.Profiler(session.graph)
    seen = [profiler.profile_name_scope(options)]
    for step, fetch in enumerate(session.fetches, start=1):
        profiler.add_step(step, traced(session, fetch))
        seen.append(profiler.profile_name_scope(options))
    shown = [[find(root, name) is not None for name in ("left", "right", "sum")] for root in seen]
    assert shown == [
        [False, False, False],
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    advice = profiler.advise({"ExpensiveOperationChecker": {}, "JobChecker": {}})
    assert list(advice.checkers) == ["ExpensiveOperationChecker"]
    assert advice.checkers["ExpensiveOperationChecker"].reports


def test_print_model_analysis_of_tensorflow_1(capsys: pytest.CaptureFixture[str]) -> None:
    """The calls that programs of TensorFlow 1 make; the options are dicts that they change."""
    program = graph(op("w", "VariableV2"), op("x/MatMul", "MatMul", "w"))
    ran = run({"w": 5, "x/MatMul": 7})
    log = v1.OpLogProto()
    entry = log.log_entries.add(name="x/MatMul", float_ops=30)
    entry.types.append("mine")
    log.log_entries.add(name="w", types=["_trainable_variables"])
    analysis = model_analyzer.print_model_analysis
    found = analysis(program, op_log=log)
    assert [child.name for child in found.children] == ["w"]
    options = model_analyzer.FLOAT_OPS_OPTIONS
    assert analysis(program, op_log=log, tfprof_options=options).total_float_ops == 30
    timing = {**model_analyzer.PRINT_ALL_TIMING_MEMORY, "min_bytes": 0}
    found = analysis(program, run_meta=ran, tfprof_cmd="scope", tfprof_options=timing)
    assert found.total_exec_micros == 12
    assert [child.name for child in found.children] == ["w", "x"]  # by name, not by time
    assert isinstance(
        analysis(program, ran, tfprof_cmd="op", tfprof_options=timing), v1.MultiGraphNodeProto
    )
    shown = capsys.readouterr().out
    assert "_TFProfRoot (--/30 flops)" in shown and "x/MatMul" in shown
    with pytest.raises(tfprof.UsageError):
        analysis(program, tfprof_cmd="unknown")


@pytest.mark.tensorflow
def test_options_of_tensorflow_1_are_the_presets_of_tensorflow() -> None:
    theirs = pytest.importorskip("tensorflow").compat.v1.profiler.ProfileOptionBuilder
    assert theirs.trainable_variables_parameter() == (
        model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
    )
    assert theirs.float_operation() == model_analyzer.FLOAT_OPS_OPTIONS
    timing = theirs.time_and_memory()
    assert {**timing, "order_by": "name"} == model_analyzer.PRINT_ALL_TIMING_MEMORY
