"""Record some batches of Keras' `fit`, and ask for layers and lines; needs TensorFlow.

python examples/keras_fit.py
"""

import keras
import numpy as np

import tfprof


def main() -> None:
    """Train, record batches 5 to 7, and print two reports."""
    model = keras.Sequential(
        [
            keras.Input([784]),
            keras.layers.Dense(128, activation="relu", name="hidden"),
            keras.layers.Dense(10, name="classify"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)

    callback = tfprof.keras.ProfilerCallback(steps=(5, 7), dir="profiles")
    pixels = np.random.default_rng(1).random((640, 784))
    model.fit(pixels, np.arange(640) % 10, batch_size=64, verbose=0, callbacks=[callback])

    profiler = callback.profiler
    print("Recorded batches:", *profiler.steps)
    builder = tfprof.ProfileOptionBuilder().order_by("micros").select(["micros", "float_ops"])
    profiler.profile_name_scope(builder.with_max_depth(5).with_min_execution_time(10).build())
    own_lines = [".*keras_fit.*"]
    profiler.profile_python(
        builder.with_max_depth(20).with_node_names(show_name_regexes=own_lines).build()
    )


if __name__ == "__main__":
    main()
