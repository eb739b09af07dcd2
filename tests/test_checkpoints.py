"""Checkpoints in views: types of ops, and values of variables."""

import shutil
from itertools import compress

import numpy as np
import pytest

import tfprof
from tests.files.checkpoint.recorded.make import FOLDER
from tests.views.report_body import render_body
from tfprof.errors import InputError, UsageError
from tfprof.files.checkpoint import open_checkpoint
from tfprof.testing.builders import graph, op, options, run
from tfprof.views.show.tfprof_text import render_report

OBJECTS = FOLDER / "objects"
TYPE = "_checkpoint_variables"


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


def network(classic=False):
    nodes = [
        op("dense/kernel", "VarHandleOp"),
        op("dense/bias", "VarHandleOp"),
        op("x"),
        op("step"),
    ]
    return tfprof.Profiler(graph(*nodes), classic=classic)


def marked(profiler):
    view = profiler.view("scope", options(account_type_regexes=[TYPE]))
    return sorted(compress(view.names, view.accounted.tolist()))


@pytest.mark.parametrize("source", [str(OBJECTS), OBJECTS, open_checkpoint(OBJECTS)])
def test_ops_of_variables_get_a_type(source, classic):
    profiler = network(classic)
    assert marked(profiler) == []
    profiler.add_checkpoint(source)
    assert marked(profiler) == ["dense/bias", "dense/kernel", "step"]
    types = profiler.view("op", options(account_type_regexes=[TYPE]))
    assert [node.name for node in types.children] == ["NoOp"]


def test_ops_that_come_later_get_it_too(classic):
    profiler = tfprof.Profiler(graph(op("dense/bias")), classic=classic)
    profiler.add_checkpoint(OBJECTS)
    profiler.add_step(0, run({"dense/bias": 1, "step": 2}))
    # The original looks once.
    assert marked(profiler) == (["dense/bias"] if classic else ["dense/bias", "step"])


def test_loaded_profiles(classic):
    data = network().serialize_to_string()
    profiler = tfprof.Profiler.load(data, classic=classic)
    profiler.add_checkpoint(OBJECTS)
    # The original marks ops of graphs only, but has the values all the same.
    assert marked(profiler) == ([] if classic else ["dense/bias", "dense/kernel", "step"])
    assert "[7 ],\n" in profiler.report("scope", options(select=["tensor_value"]))


def test_types_are_saved_once():
    profiler = network()
    profiler.add_checkpoint(OBJECTS)
    profiler.add_checkpoint(OBJECTS)
    added = profiler._session.profile.ops.added_types
    assert all(len(types) == 1 for types in added.values())
    again = tfprof.Profiler.load(profiler.serialize_to_string())
    assert marked(again) == ["dense/bias", "dense/kernel", "step"]


def test_a_merged_profile_has_them_too():
    profiler = network()
    profiler.add_checkpoint(OBJECTS)
    both = network().merge(profiler)
    assert marked(both) == ["dense/bias", "dense/kernel", "step"]
    assert "[7 ],\n" in both.report("scope", options(select=["tensor_value"]))


def body(profiler, cmd="scope", **changes):
    tree = profiler.view(cmd, options(select=["tensor_value"], order_by="name", **changes))
    return render_body(tree)


def test_values_below_the_lines_of_variables(classic):
    profiler = network(classic)
    profiler.add_checkpoint(OBJECTS)
    third = "0.33" if classic else "0.33333334"
    zero = "0.00" if classic else "0.0"
    row = f"[{third} {third} {third} ],\n"
    assert body(profiler) == (
        "node name | \n"
        "_TFProfRoot ()\n"
        "  dense ()\n"
        f"    dense/bias ()\n[{zero} {zero} {zero} ],\n"
        f"    dense/kernel ()\n[{row}{row}],\n"
        "  step ()\n[7 ],\n"
        "  x ()\n"
    )
    assert "[7 ],\n" in body(profiler, "graph")
    assert "[7 ]" not in body(profiler, "op")


def test_a_partitioned_variable_stands_at_its_scope():
    profiler = tfprof.Profiler(graph(op("parts/part_0"), op("parts/part_1")))
    profiler.add_checkpoint(FOLDER / "sharded-12")
    assert "  parts ()\n[[0.0 1.0 2.0 3.0 4.0 5.0 ],\n" in body(profiler)


def test_a_checkpoint_of_another_program_is_noted(classic):
    profiler = tfprof.Profiler(graph(op("other")), classic=classic)
    profiler.add_checkpoint(OBJECTS)
    codes = lambda: [notice.code for notice in profiler.notices]  # noqa: E731
    profiler.view("scope", options(select=["params"]))
    assert codes() == []
    profiler.view("scope", options(select=["tensor_value"]))
    assert codes() == ([] if classic else ["values-of-others"])
    profiler.add_step(0, run({"dense/bias": 1}))
    profiler.view("graph", options(select=["tensor_value"]))
    assert codes() == []


def test_returned_messages():
    profiler = network()
    profiler.add_checkpoint(OBJECTS)
    root = profiler.profile_name_scope(options(select=["tensor_value"]))
    nodes = {node.name: node.tensor_value for top in root.children for node in [top, *top.children]}
    assert list(nodes["dense/kernel"].value_double) == [float(np.float32(1) / np.float32(3))] * 6
    assert list(nodes["step"].value_int64) == [7]
    assert not nodes["x"].dtype
    root = profiler.profile_name_scope(options(select=["micros"]))
    assert not any(node.HasField("tensor_value") for node in root.children)


def test_rows_have_a_column():
    profiler = network()
    profiler.add_checkpoint(OBJECTS)
    rows = profiler.view("scope", options(select=["tensor_value"])).to_rows()
    assert {row["name"]: row["tensor_value"] for row in rows} == {
        "_TFProfRoot": "",
        "dense": "",
        "dense/bias": "[0.0, 0.0, 0.0]",
        "dense/kernel": "[[0.33333334, 0.33333334, 0.33333334], [0.33333334, 0.33333334, "
        "0.33333334]]",
        "step": "7",
        "x": "",
    }
    assert "tensor_value" not in profiler.view("scope", options(select=["micros"])).to_rows()[0]


def test_the_explanation_says_what_to_expect():
    profiler = network()
    about = "tensor_value: Values of variables"
    chosen = options(select=["tensor_value"])
    assert f"{about}; there are none without a" in render_report(profiler.view("scope", chosen))
    profiler.add_checkpoint(OBJECTS)
    assert f"{about}, below their lines" in render_report(profiler.view("scope", chosen))


def test_values_of_a_missing_shard_are_an_error_only_when_shown(tmp_path):
    shutil.copy(FOLDER / "types.index", tmp_path)
    profiler = tfprof.Profiler(graph(op("float32"), op("x")))
    profiler.add_checkpoint(tmp_path)
    assert marked(profiler) == ["float32"]
    profiler.report("scope", options(select=["micros"]))
    with pytest.raises(InputError, match="variable float32: its values cannot be read"):
        profiler.report("scope", options(select=["tensor_value"]))


def test_the_checkpoint_that_was_added_last_has_the_values(tmp_path):
    profiler = network()
    profiler.add_checkpoint(OBJECTS)
    profiler.add_checkpoint(FOLDER / "types")
    assert "[7 ]" not in body(profiler)


def test_another_file_than_a_checkpoint_changes_nothing(tmp_path):
    profiler = network()
    with pytest.raises(UsageError, match="got bytes"):
        profiler.add_checkpoint(b"x")
    with pytest.raises(InputError, match="there is no checkpoint in this folder"):
        profiler.add_checkpoint(tmp_path)
    assert marked(profiler) == []


@pytest.mark.tensorflow
def test_a_session_and_its_checkpoint(tmp_path):
    tf = pytest.importorskip("tensorflow")
    tf1 = tf.compat.v1
    live = tf.Graph()
    with live.as_default(), tf1.Session() as session:
        tf1.get_variable("layer/w", initializer=[[1.5, 2.0]], use_resource=True)
        profiler = tfprof.Profiler(live)
        session.run(tf1.global_variables_initializer())
        profiler.add_checkpoint(tf1.train.Saver().save(session, str(tmp_path / "m")))
    assert marked(profiler) == ["layer/w"]
    assert "layer/w ()\n[[1.5 2.0 ],\n],\n" in body(profiler)
