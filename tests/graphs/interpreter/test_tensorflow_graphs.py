"""Programs that TensorFlow makes: gradients, control flow, recurrent layers. By hand, exact."""

import pytest

import tfprof
from tests.graphs.interpreter.programs import analyse
from tfprof.core.wire import messages as pb

pytestmark = pytest.mark.tensorflow

PRODUCT = 2 * 100**3
ELEMENTS = 100 * 100


def of_function(function, *specs, **settings):
    """Analysis of a function, without the graph around it."""
    import tensorflow as tf

    concrete = tf.function(function).get_concrete_function(*specs)
    data = concrete.graph.as_graph_def(add_shapes=True).SerializeToString()
    return analyse(pb.GraphDef.FromString(data), **settings)


def spec(*dims, dtype="float32"):
    import tensorflow as tf

    return tf.TensorSpec(dims, dtype)


def flops(function, *specs, **settings):
    analysis, engine = of_function(function, *specs, **settings)
    uncounted = [v for v in analysis.verdicts.values() if v.status.value == "not counted"]
    assert uncounted == []
    return analysis.flops, list(engine.notes)


def test_the_cases_that_tensorflow_counts_wrong():
    import tensorflow as tf

    @tf.function
    def square(x):
        return x @ x

    @tf.function
    def twice(x):
        return square(x) + square(x)

    x = spec(100, 100)
    assert flops(lambda x: twice(x) * 2.0, x) == (2 * PRODUCT + 2 * ELEMENTS, [])
    assert flops(lambda x: tf.einsum("ij,kj->ik", x, x), x) == (PRODUCT, [])
    loop = lambda x: tf.while_loop(lambda i, y: i < 10, lambda i, y: (i + 1, y @ y), [0, x])  # noqa: E731
    assert flops(loop, x) == (10 * PRODUCT, [])
    count, notes = flops(
        lambda x, p: tf.cond(p, lambda: x @ x, lambda: x + 1.0), x, spec(dtype="bool")
    )
    assert count == PRODUCT
    assert len(notes) == 1
    count, _ = flops(lambda x: x @ tf.ones([100, 100]), spec(None, 100))
    assert str(count) == "20,000·B"


def test_scans_and_maps_run_as_often_as_there_are_elements():
    import tensorflow as tf

    x = spec(None, 8, 8)
    scan = lambda x: tf.scan(lambda a, y: a @ y, x, initializer=tf.eye(8))  # noqa: E731
    assert str(flops(scan, x)[0]) == "1,024·B"
    mapped = lambda x: tf.map_fn(lambda y: y @ y, x)  # noqa: E731
    assert str(flops(mapped, x)[0]) == "1,024·B"
    assert str(flops(lambda x: tf.vectorized_map(lambda y: y @ y, x), x)[0]).startswith("1,024·B")


def test_the_gradient_of_a_loop():
    import tensorflow as tf

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < 10, lambda i, y: (i + 1, tf.tanh(y @ y)), [0, x])
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    count, notes = flops(gradient, spec(100, 100))
    assert notes == []
    # Forward: a product and a tanh. Backward: two products and a sum, TanhGrad (3 per element).
    forward = 10 * (PRODUCT + ELEMENTS)
    backward = 10 * (2 * PRODUCT + ELEMENTS + 3 * ELEMENTS)
    assert count - forward - backward in range(2 * ELEMENTS)


def test_the_gradient_of_a_conditional():
    import tensorflow as tf

    def gradient(x, p):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.cond(p, lambda: x @ x, lambda: x + 1.0))
        return tape.gradient(loss, x)

    count, _ = flops(gradient, spec(100, 100), spec(dtype="bool"))
    assert 3 * PRODUCT <= count <= 3 * PRODUCT + 2 * ELEMENTS


def test_a_loop_that_ends_when_its_data_say_so():
    import tensorflow as tf

    def squared(x):
        while tf.reduce_sum(x) < 100.0:
            x = x @ x
        return x

    x = spec(100, 100)
    count, notes = flops(squared, x)
    assert count.symbols == ("trips(while)",)
    assert notes == ["how often the loop while runs is not known; give trip_counts={'while': n}"]
    asking = ELEMENTS - 1 + 1
    assert flops(squared, x, trip_counts={"while": 5}) == (5 * PRODUCT + 6 * asking, [])


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize(("batch", "steps"), [(8, 32), (None, None)])
def test_recurrent_layers_do_all_their_steps(layer, batch, steps):
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((steps, 16)), getattr(keras.layers, layer)(64)])
    call = tf.function(lambda x: model(x, training=False))
    report = tfprof.flops(call.get_concrete_function(spec(batch, steps, 16)))
    gates = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}[layer]
    macs = report.macs
    if batch is None:
        assert set(macs.symbols) == {"B", "x[1]"}
        macs = macs.bind({"B": 8, "x[1]": 32})
    assert macs == 8 * 32 * gates * 64 * (16 + 64)
    assert report.notes == ()
    assert report.coverage == 1


def test_a_recurrent_layers_gradient_does_twice_the_products():
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((32, 16)), keras.layers.LSTM(64)])

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x, training=True))
        return tape.gradient(loss, model.trainable_variables)

    report = tfprof.flops(tf.function(step).get_concrete_function(spec(8, 32, 16)))
    per_step = 8 * 4 * 64
    forward = 32 * per_step * (16 + 64)
    # Of both kernels and of the state; the gradient of the input is not needed.
    backward = 32 * per_step * (16 + 64 + 64)
    assert report.macs == forward + backward
    assert report.by_phase["forward"] > 2 * forward
    assert report.by_phase["backward"] > 2 * backward
    assert report.notes == ()


@pytest.mark.parametrize("add_shapes", [True, False])
def test_loops_of_tensorflow_1(add_shapes):
    import tensorflow as tf

    control_flow_v2 = tf.compat.v1.control_flow_v2_enabled()
    tf.compat.v1.disable_control_flow_v2()
    try:
        graph = tf.Graph()
        with graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [None, 20, 16], name="x")

            def body(i, a):
                _, b = tf.while_loop(
                    lambda j, b: j < 5, lambda j, b: (j + 1, b @ tf.ones([16, 16])), [0, a]
                )
                return i + 2, b

            tf.while_loop(lambda i, a: i < tf.shape(x)[1], body, [0, tf.zeros([4, 16])])
            mapped = tf.map_fn(lambda q: q @ tf.ones([16, 3]), x)
            tf.gradients(mapped, x)
    finally:
        if control_flow_v2:
            tf.compat.v1.enable_control_flow_v2()
    data = graph.as_graph_def(add_shapes=add_shapes).SerializeToString()
    analysis, engine = analyse(pb.GraphDef.FromString(data))
    nested = 10 * 5 * 4 * 16 * 16
    # The product, and its gradients by both factors.
    assert str(analysis.cost.macs) == f"{3 * 20 * 16 * 3:,}·B + {nested:,}"
    assert list(engine.notes) == []
