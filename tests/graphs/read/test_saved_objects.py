"""Variables of exported programs: built by hand, and as TensorFlow writes them."""

from __future__ import annotations

from typing import Any

import pytest

from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError
from tfprof.graphs.model.program import Variable
from tfprof.graphs.read.saved_objects import variables_of

FLOAT, INT64 = pb.DataType.DT_FLOAT, pb.DataType.DT_INT64


class Objects:
    """A graph of saved objects, each with the names of what it holds."""

    def __init__(self) -> None:
        self.meta_graph = pb.MetaGraphDef()
        self._nodes = self.meta_graph.object_graph_def.nodes

    def add(self, identifier: str = "_generic_user_object", **children: int) -> int:
        """An object; returns its place."""
        node = self._nodes.add()
        node.user_object.identifier = identifier
        self.hold(len(self._nodes) - 1, **children)
        return len(self._nodes) - 1

    def hold(self, place: int, **children: int) -> None:
        for name, child in children.items():
            self._nodes[place].children.add(local_name=name, node_id=child)

    def list_of(self, *places: int) -> int:
        return self.add(
            "trackable_list_wrapper", **{str(i): place for i, place in enumerate(places)}
        )

    def variable(self, name: str, *shape: int, trains: bool = True, dtype: int = FLOAT) -> int:
        variable = self._nodes.add().variable
        variable.name, variable.dtype, variable.trainable = name, dtype, trains
        variable.shape.SetInParent()
        for dim in shape:
            variable.shape.dim.add(size=dim)
        return len(self._nodes) - 1

    def slot(self, owner: int, original: int, variable: int) -> None:
        self._nodes[owner].slot_variables.add(
            original_variable_node_id=original, slot_name="m", slot_variable_node_id=variable
        )


def test_lists_of_the_root_tell() -> None:
    objects = Objects()
    root = objects.add()
    kernel = objects.variable("dense/kernel", 4, 3)
    frozen = objects.variable("frozen/kernel", -1, 2)
    seed = objects.variable("seed_generator_3/seed_generator_state", 2, trains=False, dtype=INT64)
    objects.variable("dense/kernel", 4, 3)  # a second handle of the first one
    everything = objects.list_of(kernel, frozen, seed, kernel)
    objects.hold(root, variables=everything, trainable_variables=objects.list_of(kernel))
    assert variables_of(objects.meta_graph) == [
        Variable("dense/kernel", (4, 3), FLOAT, True),
        Variable("frozen/kernel", (None, 2), FLOAT, False),
    ]


def test_optimizers_and_metrics_are_not_the_model() -> None:
    objects = Objects()
    root = objects.add()
    weight = objects.variable("w", 2)
    other = objects.variable("mean", 3, trains=False)
    step, moment, slot, total, rate = (
        objects.variable(name, trains=False) for name in ("iter", "m", "w/m", "total", "rate")
    )
    optimizer = objects.add(_iterations=step, _momentums=objects.list_of(moment))
    legacy = objects.add("optimizer", learning_rate=rate)
    objects.slot(legacy, weight, slot)
    metric = objects.add("_tf_keras_metric", total=total)
    objects.hold(root, w=weight, mean=other, opt=optimizer, old=legacy, metric=metric)
    assert variables_of(objects.meta_graph) == [
        Variable("w", (2,), FLOAT, True),
        Variable("mean", (3,), FLOAT, False),
    ]


def test_trained_variables_follow_from_the_optimizer() -> None:
    objects = Objects()
    objects.add()
    first, frozen = objects.variable("a", 1), objects.variable("b", 1)
    objects.add(
        _iterations=objects.variable("i", trains=False),
        _trainable_variables=objects.list_of(first),
    )
    found = variables_of(objects.meta_graph)
    assert found is not None
    assert [(each.name, each.trainable) for each in found] == [("a", True), ("b", False)]
    assert frozen


def test_broken_references_are_passed_over() -> None:
    objects = Objects()
    root = objects.add()
    objects.hold(root, variables=99, trainable_variables=-1, itself=root)
    objects.variable("", 2)
    assert variables_of(objects.meta_graph) == [Variable("variable 1", (2,), FLOAT, True)]


def test_objects_without_variables_tell_nothing() -> None:
    assert variables_of(pb.MetaGraphDef()) is None
    objects = Objects()
    objects.add()
    assert variables_of(objects.meta_graph) is None


def collections(**named: list[str]) -> pb.MetaGraphDef:
    meta_graph = pb.MetaGraphDef()
    for key, names in named.items():
        for name in names:
            definition = pb.VariableDef(variable_name=f"{name}:0")
            meta_graph.collection_def[key].bytes_list.value.append(definition.SerializeToString())
    for name in sorted({name for names in named.values() for name in names} - {"gone"}):
        node = meta_graph.graph_def.node.add(name=name, op="VariableV2")
        node.attr["dtype"].type = FLOAT
        node.attr["shape"].shape.dim.add(size=len(name))
    return meta_graph


def test_collections() -> None:
    everything = ["dense/w", "bn/mean", "dense/w/Adam", "train/dense/w/Adam_1", "beta1_power",
                  "global_step", "gone"]  # fmt: skip
    meta_graph = collections(variables=everything, trainable_variables=["dense/w"])
    assert variables_of(meta_graph) == [
        Variable("dense/w", (7,), FLOAT, True),
        Variable("bn/mean", (7,), FLOAT, False),
        Variable("gone", None, 0, False),
    ]


def test_without_the_trainable_collection_trained_variables_are_unknown() -> None:
    (found,) = variables_of(collections(variables=["w"])) or ()
    assert found.trainable is None


def test_a_broken_collection() -> None:
    meta_graph = pb.MetaGraphDef()
    meta_graph.collection_def["variables"].bytes_list.value.append(b"\x0a\x05ab")
    with pytest.raises(MalformedProfileError, match="collection variables"):
        variables_of(meta_graph)


def read(folder: Any) -> dict[str, Variable]:
    saved = pb.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    found = variables_of(saved.meta_graphs[0])
    assert found is not None
    names = {variable.name: variable for variable in found}
    assert len(names) == len(found)
    return names


def trained(keras: Any) -> Any:
    import numpy as np

    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(3, name="first"),
            layers.BatchNormalization(name="norm"),
            layers.Dropout(0.5),
            layers.Dense(2, name="frozen"),
        ],
        name="net",
    )
    model.get_layer("frozen").trainable = False
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.zeros((8, 4)), np.zeros((8, 2)), verbose=0)
    return model


def check(model: Any, found: dict[str, Variable]) -> None:
    def name(variable: Any) -> str:
        return getattr(variable, "path", None) or variable.name.partition(":")[0]

    assert {n: each.shape for n, each in found.items()} == {
        name(weight): tuple(weight.shape) for weight in model.weights
    }
    assert {n for n, each in found.items() if each.trainable} == {
        name(weight) for weight in model.trainable_weights
    }


@pytest.mark.tensorflow
def test_keras_export(tmp_path: Any) -> None:
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    model = trained(keras)
    model.export(tmp_path, verbose=False)
    check(model, read(tmp_path))


@pytest.mark.tensorflow
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_saved_models_of_keras(tmp_path: Any, library: str) -> None:
    keras = pytest.importorskip(library)
    tf = pytest.importorskip("tensorflow")
    model = trained(keras)
    tf.saved_model.save(model, tmp_path)
    check(model, read(tmp_path))


@pytest.mark.tensorflow
def test_saved_models_of_legacy_optimizers(tmp_path: Any) -> None:
    keras = pytest.importorskip("tf_keras")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.legacy.Adam(), "mse")
    model.fit([[1.0] * 4], [[1.0] * 3], verbose=0)
    model.save(tmp_path, save_format="tf")
    check(model, read(tmp_path))


@pytest.mark.tensorflow
def test_a_module_of_tensorflow(tmp_path: Any) -> None:
    tf = pytest.importorskip("tensorflow")
    module = tf.Module()
    module.weight = tf.Variable(tf.ones([3, 2]), name="weight")
    module.count = tf.Variable(0, trainable=False, name="count")
    module.open = tf.Variable([1.0], shape=[None], name="open")
    tf.saved_model.save(module, tmp_path)
    assert read(tmp_path) == {
        "weight": Variable("weight", (3, 2), FLOAT, True),
        "count": Variable("count", (), pb.DataType.DT_INT32, False),
        "open": Variable("open", (None,), FLOAT, True),
    }


@pytest.mark.tensorflow
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_graph_of_tensorflow_1(use_resource: bool) -> None:
    tf = pytest.importorskip("tensorflow")
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3])
        with v1.variable_scope("model", use_resource=use_resource):
            weight = v1.get_variable("w", [3, 2])
            v1.get_variable("mean", [2], trainable=False)
        with v1.variable_scope("optimizer", use_resource=use_resource):
            step = v1.train.get_or_create_global_step()
            v1.train.AdamOptimizer().minimize(tf.reduce_sum(x @ weight), global_step=step)
        data = v1.train.export_meta_graph(graph=graph).SerializeToString()
    assert variables_of(pb.MetaGraphDef.FromString(data)) == [
        Variable("model/w", (3, 2), FLOAT, True),
        Variable("model/mean", (2,), FLOAT, False),
    ]
