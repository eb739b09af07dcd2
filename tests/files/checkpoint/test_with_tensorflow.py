"""What TensorFlow writes today, and what it reads of it, against what we read."""

import numpy as np
import pytest

from tfprof.files.checkpoint import open_checkpoint

pytestmark = pytest.mark.tensorflow

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def compare(path, tf, unread=()):
    """Names, types, shapes and values; ``unread`` are those that TensorFlow's reader refuses."""
    reader = tf.train.load_checkpoint(str(path))
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    found = open_checkpoint(path)
    names = [variable.name for variable in found.variables]
    assert names == sorted(set(shapes) - {OBJECT_GRAPH})
    for variable in found.variables:
        assert variable.shape == tuple(shapes[variable.name])
        assert variable.dtype == dtypes[variable.name].name
        values = found.read(variable.name)
        if variable.name in unread:
            continue
        theirs = np.asarray(reader.get_tensor(variable.name))
        if theirs.dtype.kind == "S":
            theirs = theirs.astype(object)
        np.testing.assert_array_equal(values, theirs.astype(values.dtype))
        assert values.shape == theirs.shape
    return found


def graph_of_variables(tf):
    tf1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        for name, value in (
            ("layer/w", np.arange(12, dtype=np.float32).reshape(3, 4) / 7),
            ("step", np.int64(5)),
            ("flags", np.array([True, False])),
            ("large", np.random.default_rng(0).normal(size=(300, 70))),
        ):
            tf1.get_variable(name, initializer=value)
        tf1.get_variable("words", initializer=tf.constant([b"hello", b"", b"x" * 300]))
        for axis in (0, 1):
            tf1.get_variable(
                f"parted{axis}",
                shape=(10, 6),
                partitioner=tf1.fixed_size_partitioner(3, axis=axis),
                initializer=tf1.random_uniform_initializer(seed=1),
            )
    return graph


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("version", ["V1", "V2"])
def test_savers_of_sessions(tmp_path, version, sharded):
    tf = pytest.importorskip("tensorflow")
    from tensorflow.core.protobuf import saver_pb2

    graph = graph_of_variables(tf)
    with graph.as_default(), tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        saver = tf.compat.v1.train.Saver(
            write_version=getattr(saver_pb2.SaverDef, version), sharded=sharded
        )
        path = saver.save(session, str(tmp_path / "model.ckpt"), global_step=100)
        parted = {
            f"parted{axis}": np.concatenate(
                session.run(
                    [v for v in tf.compat.v1.global_variables() if f"parted{axis}/" in v.name]
                ),
                axis,
            )
            for axis in (0, 1)
        }
    found = compare(path, tf, unread=parted if version == "V1" else ())
    assert found.format == version
    assert open_checkpoint(tmp_path).path == found.path
    for name, values in parted.items():
        np.testing.assert_array_equal(found.read(name), values)


def test_objects(tmp_path):
    tf = pytest.importorskip("tensorflow")
    layer = tf.Module()
    layer.w = tf.Variable(tf.random.normal([30, 20], seed=1), name="w")
    layer.half = tf.Variable(tf.cast([1.5, 0.1], tf.bfloat16), name="half")
    layer.parts = [tf.Variable([b"a", b"bc"]), tf.Variable(1j)]
    path = tf.train.Checkpoint(layer=layer).save(str(tmp_path / "ckpt"))
    found = compare(path, tf)
    assert found.find("w").short_name == "layer/w"
    np.testing.assert_array_equal(found.read("w:0"), layer.w.numpy())


def test_weights_of_keras_models(tmp_path):
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("tf_keras")
    model = keras.Sequential(
        [keras.layers.Dense(4, input_shape=(3,)), keras.layers.BatchNormalization()]
    )
    model.compile("adam", "mse")
    model.fit(np.ones((8, 3)), np.ones((8, 4)), verbose=0)
    model.save_weights(str(tmp_path / "weights"), save_format="tf")
    found = compare(tmp_path / "weights", tf)
    for weight in model.weights:
        np.testing.assert_array_equal(found.read(weight.name), weight.numpy())


def test_saved_models(tmp_path):
    tf = pytest.importorskip("tensorflow")
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0], name="v")
    tf.saved_model.save(module, str(tmp_path / "model"))
    assert open_checkpoint(tmp_path / "model").read("v").tolist() == [1, 2]
