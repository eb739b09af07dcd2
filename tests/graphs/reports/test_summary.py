import csv
import io
import json
import sys

import pytest
from rich.console import Console

import tfprof
from tests.graphs.interpreter.programs import (
    BOOL,
    FLOAT,
    Ref,
    Type,
    function,
    graph,
    node,
    placeholder,
)
from tests.graphs.reports.programs import matmul, read, two_layers, variable
from tests.profiles.float_ops.profiled_graphs import several_runs
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.graphs.costs.layer_tree import NO_LAYER
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.reports.flops import flops, params
from tfprof.graphs.reports.flops_text import explanation
from tfprof.graphs.reports.summary import summary

pytestmark = pytest.mark.slow

BATCH = Symbolic.named("B")


def numbers(found):
    return [(row.path, row.weights.params, row.total.flops, row.total.macs) for row in found.rows]


def test_scopes_of_a_graph():
    found = summary(two_layers(), batch=8)
    assert numbers(found) == [
        ("", 23, 328, 144),
        ("dense1", 12, 216, 96),
        ("dense2", 6, 96, 48),
        (NO_LAYER, 5, 0, 0),
    ]
    assert [row.shapes for row in found.rows] == [None, ((8, 3),), ((8, 2),), ()]
    assert [row.total.activation_bytes for row in found.rows] == [224, 96, 64, 0]
    assert [row.weights.size_bytes for row in found.rows] == [92, 48, 24, 20]
    assert (found.flops, found.macs) == (328, 144)
    assert [found.share(row) for row in found.rows[:3]] == [1, 216 / 328, 96 / 328]


def test_it_says_what_flops_and_params_say():
    target = tfprof.demo_files().graph
    found = summary(target)
    assert found.rows[0].total.flops == found.flops == flops(target).flops
    assert found.rows[0].total.macs == found.macs == flops(target).macs
    assert found.rows[0].weights.params == params(target).total
    assert found.params.total == params(target).total
    by_scope = {scope: count for scope, count in flops(target).by_scope.items() if count}
    assert {row.path: row.total.flops for row in found.rows if row.total.flops} == by_scope


def test_open_sizes():
    found = summary(two_layers())
    assert found.flops == 41 * BATCH
    plain = found.to_rows()[1]
    assert plain["flops"] == "27·B"
    assert plain["share"] == 27 / 41
    assert plain["output_shapes"] == "[B, 3]"
    assert plain["activation_bytes"] == "12·B"
    assert any("unknown sizes" in note for note in found.notes)
    assert "27·B" in str(found)


def test_shares_by_macs():
    found = summary(two_layers(), batch=8, convention="macs")
    assert [found.share(row) for row in found.rows] == [1, 96 / 144, 48 / 144, 0]


def test_depth_and_top():
    assert numbers(summary(two_layers(), batch=8, depth=0)) == [("", 23, 328, 144)]
    assert numbers(summary(two_layers(), batch=8, top=1)) == [
        ("", 23, 328, 144),
        ("dense1", 12, 216, 96),
        ("… 2 more", 11, 96, 48),
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"depth": -1}, {"depth": "2"}, {"top": 0}, {"device": "x"}, {"convention": "y"},
     {"batch": 0}],
)  # fmt: skip
def test_wrong_arguments(wrong):
    with pytest.raises(UsageError):
        summary(two_layers(), **wrong)


def test_a_scope_whose_weights_are_named_otherwise():
    message = graph(
        placeholder("x", 4, 4), variable("kernel", 4, 4), read("net/block_1/read", "kernel"),
        matmul("net/block_1/mm", "x", "net/block_1/read"),
    )  # fmt: skip
    assert {row.path: row.own_weights.params for row in summary(message).rows} == {
        "": 0, "net": 0, "net/block_1": 16,
    }  # fmt: skip


def test_a_device():
    found = summary(two_layers(), batch=8, device=(1e12, 1e9))
    # Bytes of the ops as nanoseconds: 272 + 192, 184, and 192 outside.
    assert [row["least_micros"] for row in found.to_rows()] == [0.84, 0.464, 0.184, 0]
    assert "times of 1e+12 operations and 1e+09 bytes per second" in found.device_notes[0]
    assert "lower bound" in found.device_notes[0]
    assert summary(two_layers(), batch=8).device_notes == ()
    assert "least_micros" not in summary(two_layers()).to_rows()[0]
    without_sizes = summary(two_layers(), device=(1e12, 1e9))
    assert without_sizes.to_rows()[0]["least_micros"] == 0
    assert "4 ops take no time here: sizes are unknown" in without_sizes.device_notes[1]


def test_json_and_csv_hold_the_same_rows():
    found = summary(two_layers(), device="a100")
    data = json.loads(found.to_json())
    assert data["rows"] == found.to_rows()
    assert data["flops"] == "41·B"
    assert data["params"] == 23
    assert data["coverage"] == 1
    assert data["device"] == "a100"
    assert data["notes"] == [*found.notes, *found.device_notes]
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["path"] for row in rows] == [row.path for row in found.rows]
    assert rows[1]["flops"] == "27·B"
    assert found.to_csv() == summary(two_layers(), device="a100").to_csv()


def test_a_data_frame(monkeypatch):
    class Pandas:
        DataFrame = list

    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    found = summary(two_layers())
    assert found.to_dataframe() == found.to_rows()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        found.to_dataframe()


def test_texts_for_people():
    found = summary(two_layers(), batch=8)
    assert repr(found) == "<ModelSummary 23 params, 328 FLOPs>"
    console = Console(file=io.StringIO(), width=100)
    console.print(found)
    printed = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    assert printed.replace("\u00a0", " ") == str(found)
    assert found._repr_html_().startswith("<iframe sandbox=")


def test_ops_that_could_not_be_counted_are_reported():
    message = graph(placeholder("x", 8), node("a/odd", "NoSuchOp", "x", T=Type(FLOAT)))
    found = summary(message)
    assert found.to_rows()[0]["flops"] == 0
    assert "NOT COUNTED" in str(found)
    assert "NoSuchOp" in json.loads(found.to_json())["uncounted"]


def test_branches_that_run_now_and_then():
    def branch(name, op, output):
        ops = [node("deep/op", op, *["x"] * (1 + (op == "MatMul")), T=Type(FLOAT))]
        return function(name, {"x": FLOAT}, {"y": (f"deep/op:{output}:0", FLOAT)}, *ops)

    choice = node(
        "c", "If", "p", "x", Tcond=Type(BOOL), Tin=[FLOAT], Tout=[FLOAT],
        then_branch=Ref("square"), else_branch=Ref("relu"),
    )  # fmt: skip
    message = graph(
        placeholder("x", 3, 3), placeholder("p", dtype=BOOL), choice,
        branch("square", "MatMul", "product"), branch("relu", "Relu", "activations"),
    )  # fmt: skip
    profiler = tfprof.Profiler(message)
    profiler.add_step(0, several_runs({"c/else/_1/deep/op": 3}))
    profiler.add_step(1, several_runs({"c/then/_2/deep/op": 1}))
    found = summary(profiler)
    # A quarter of 27 MACs and three quarters of 9 operations, rounded.
    assert (found.flops, found.macs) == (2 * 7 + 7, 7)
    assert numbers(found) == [("", 0, 21, 7), ("c", 0, 21, 7), ("c/deep", 0, 21, 7)]
    assert "with n = 9, k = 3" in explanation(found.report)
    assert " × 0.25 runs" in explanation(found.report)


def keras_model(keras):
    layers = keras.layers
    image = keras.Input((8, 8, 3), name="image")
    shared = layers.Dense(4, use_bias=False, name="shared")
    x = layers.Conv2D(4, 3, use_bias=False, name="conv")(image)  # [B, 6, 6, 4]
    x = layers.BatchNormalization(name="norm")(x)
    x = shared(shared(x))
    x = layers.Flatten(name="flatten")(x)
    inner = keras.Sequential([keras.Input((144,)), layers.Dense(2, name="head")], name="inner")
    return keras.Model(image, inner(x), name="net")


@pytest.mark.tensorflow
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_layers_of_a_keras_model(library):
    keras = pytest.importorskip(library)
    model = keras_model(keras)
    found = summary(model, batch=2)
    rows = {row.path: row for row in found.rows}
    assert list(rows)[:5] == ["net", "net/image", "net/conv", "net/norm", "net/shared"]
    assert rows["net/shared"].kind == "Dense"
    # Two calls of 2·6·6 rows by [4, 4]; the weights are there once.
    assert rows["net/shared"].total.macs == 2 * (72 * 16)
    assert rows["net/shared"].weights.params == 16
    assert rows["net/conv"].total == (72 * 4 * 27, 0, 72 * 4 * 4, 0, 0, 0)
    assert rows["net/norm"].weights[:3] == (8, 8, 0)
    assert rows["net/inner/head"].depth == 2
    assert rows["net/inner"].weights.params == rows["net/inner/head"].weights.params == 290
    assert rows["net/inner"].total.macs == 2 * 144 * 2
    assert rows["net/conv"].shapes == ((2, 6, 6, 4),)
    assert rows["net/flatten"].shapes == ((2, 144),)
    assert rows["net/flatten"].total.activation_bytes == 0
    assert rows["net"].weights.params == model.count_params()
    assert rows["net"].total.flops == flops(model, batch=2).flops
    assert NO_LAYER not in str(found)


@pytest.mark.tensorflow
def test_what_is_outside_the_layers_belongs_to_the_model():
    keras = pytest.importorskip("keras")

    class Residual(keras.Model):
        def __init__(self):
            super().__init__(name="residual")
            self.dense = keras.layers.Dense(4, use_bias=False, name="dense")
            self.scale = self.add_weight(shape=(4,), name="scale")

        def call(self, x):
            return x + self.scale * self.dense(x)

    found = summary(Residual(), input_shapes=(8, 4))
    whole, dense = found.rows
    assert (whole.own.flops, whole.own_weights.params) == (64, 4)
    assert (dense.total.macs, dense.weights.params) == (128, 16)
    assert whole.total.flops == 320


@pytest.mark.tensorflow
def test_layers_in_functions_do_not_follow_from_names():
    keras = pytest.importorskip("keras")
    import tensorflow as tf

    class Compiled(keras.Model):
        def __init__(self):
            super().__init__(name="compiled")
            self.first = keras.layers.Dense(4, use_bias=False, name="dense")
            self.second = keras.layers.Dense(8, use_bias=False, name="dense_1")

        @tf.function
        def call(self, x):
            return self.second(self.first(x))

    model = Compiled()
    model(tf.zeros((1, 2)))
    found = summary(model, input_shapes=(1, 2))
    assert [(row.path, row.own.macs, row.own_weights.params) for row in found.rows] == [
        ("compiled", 8 + 32, 0),  # and not 8 for dense_1, as the first layer is called in there
        ("compiled/dense", 0, 8),
        ("compiled/dense_1", 0, 32),
    ]


@pytest.mark.tensorflow
def test_an_exported_model_has_its_weights_where_they_are_used(tmp_path):
    keras = pytest.importorskip("keras")
    model = keras_model(keras)
    model.export(str(tmp_path / "model"), verbose=False)
    found = summary(tmp_path / "model", batch=2)
    live = summary(model, batch=2)
    assert found.flops == live.flops
    assert found.rows[0].weights == live.rows[0].weights
    by_name = {row.name.rstrip("_123"): row for row in found.rows if row.weights.params}
    assert by_name["conv"].weights.params == 108
    assert by_name["norm"].weights[:2] == (8, 8)
    assert by_name["head"].weights.params == 290
    assert NO_LAYER not in by_name
