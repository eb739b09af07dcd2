"""Float operations and parameters of a Keras model, by layer; needs TensorFlow.

python examples/flops_of_model.py
"""

import keras
import tensorflow as tf

import tfprof


def build() -> keras.Model:
    """A small convolutional network."""
    return keras.Sequential(
        [
            keras.Input([32, 32, 3]),
            keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="conv"),
            keras.layers.MaxPooling2D(name="pool"),
            keras.layers.Flatten(name="flatten"),
            keras.layers.Dense(10, name="classify"),
        ],
        name="net",
    )


def main() -> None:
    """Trace one call of the model for one image, and count."""
    model = build()
    call = tf.function(lambda images: model(images, training=False))
    graph = call.get_concrete_function(tf.TensorSpec([1, 32, 32, 3])).graph

    options = tfprof.ProfileOptionBuilder().with_max_depth(3).order_by("float_ops")
    net = tfprof.profile(graph, options=options.with_empty_output().build()).children[0]
    for layer in net.children:
        print(f"{layer.name:16} {layer.total_float_ops:>10,}")
    print(f"{'all':16} {net.total_float_ops:>10,}")
    print(f"{'parameters':16} {model.count_params():>10,}")


if __name__ == "__main__":
    main()
