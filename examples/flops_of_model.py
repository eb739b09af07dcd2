"""Float operations and parameters of a Keras model, by layer; needs TensorFlow.

python examples/flops_of_model.py
"""

import keras

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
    """Count one call of the model, for one image and for a batch of any size."""
    model = build()
    report = tfprof.flops(model, batch=1)
    for layer, flops in report.by_scope.items():
        print(f"{layer or 'all':16} {flops:>10,}")
    print(f"{'multiply-adds':16} {report.macs:>10,}")
    print(f"{'parameters':16} {tfprof.params(model).total:>10,}")
    print(f"a batch of B takes {tfprof.flops(model).flops}")


if __name__ == "__main__":
    main()
