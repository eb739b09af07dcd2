"""Writes the checkpoints beside it with TensorFlow 2.21; what is in them stands here, too.

python -m tests.files.checkpoint.recorded.make
"""

from pathlib import Path

FOLDER = Path(__file__).parent

FLOATS = [0.0, 1.5, -2.0, 0.25]
NUMBERS = {
    "float16": FLOATS, "bfloat16": FLOATS, "float32": [0.1, -1e-9, float("inf"), 3.0],
    "float64": [0.1, -1e-300, float("nan"), 3.0], "float8_e5m2": FLOATS, "float8_e4m3fn": FLOATS,
    "int8": [-128, 0, 1, 127], "int16": [-32768, 0, 1, 32767], "int32": [-(2**31), 0, 1, 7],
    "int64": [-(2**63), 0, 1, 2**63 - 1], "uint8": [0, 1, 2, 255], "uint16": [0, 1, 2, 65535],
    "uint32": [0, 1, 2, 2**32 - 1], "uint64": [0, 1, 2, 2**64 - 1], "int4": [-8, -1, 0, 7],
    "uint4": [0, 1, 8, 15], "bool": [True, False, True, True],
    "complex64": [0j, 1 + 2j, -0.5j, 3 + 0j], "complex128": [0j, 1 + 2j, -0.5j, 3 + 0j],
    "qint8": [-128, 0, 1, 127], "quint8": [0, 1, 2, 255], "qint16": [-32768, 0, 1, 32767],
    "quint16": [0, 1, 2, 65535], "qint32": [-(2**31), 0, 1, 7],
}  # fmt: skip
TEXTS = [b"", b"two words", b"\xff\x00" * 80, "größe".encode()]
IN_V1 = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool",
    "complex64", "complex128", "qint8", "quint8", "qint32",
)  # fmt: skip
"""The types that TensorFlow writes into the first format."""

PARTS = [[float(10 * row + column) for column in range(6)] for row in range(10)]
PART_SPECS = ("10 6 0,4:0,6", "10 6 4,6:0,2", "10 6 4,6:2,4")
"""Shape, then start and length in each dimension."""


def tensors(tf, names):
    """One tensor for each type, 2x2, and texts."""
    import numpy as np

    made = {}
    for name in names:
        values = NUMBERS[name]
        if name[0] == "q" or name.startswith("quint"):
            plain = tf.constant(values, name[1:], shape=[2, 2])
            made[name] = tf.bitcast(plain, getattr(tf, name))
        elif name in ("int4", "uint4"):
            made[name] = tf.cast(tf.constant(values, "int8", shape=[2, 2]), tf.as_dtype(name))
        elif name == "uint64":
            made[name] = tf.constant(np.array(values, np.uint64).reshape(2, 2))
        else:
            made[name] = tf.constant(values, tf.as_dtype(name), shape=[2, 2])
    return made | {"string": tf.constant(TEXTS, shape=[4, 1]), "scalar": tf.constant(5)}


def parts(tf):
    whole = tf.constant(PARTS)
    return [whole[:4], whole[4:, :2], whole[4:, 2:]]


def write(tf, folder):
    """Write all of them."""
    made = tensors(tf, NUMBERS)
    tf.raw_ops.SaveV2(
        prefix=str(folder / "types"), tensor_names=[*made], shape_and_slices=[""] * len(made),
        tensors=[*made.values()],
    )  # fmt: skip
    made = tensors(tf, IN_V1)
    tf.raw_ops.SaveSlices(
        filename=str(folder / "types.v1"), tensor_names=[*made, *["parts"] * 3],
        shapes_and_slices=[""] * len(made) + list(PART_SPECS), data=[*made.values(), *parts(tf)],
    )  # fmt: skip
    shards = [str(folder / f"shard{number}") for number in (0, 1, 2)]
    for shard, spec, part in zip(shards, PART_SPECS, parts(tf), strict=True):
        tf.raw_ops.SaveV2(
            prefix=shard, tensor_names=["parts", Path(shard).name],
            shape_and_slices=[spec, ""], tensors=[part, tf.constant([1.0, 2.0])],
        )  # fmt: skip
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=shards, destination_prefix=str(folder / "sharded-12")
    )
    for number in (0, 1):
        tf.raw_ops.SaveSlices(
            filename=str(folder / f"old-3-{number:05}-of-00002"),
            tensor_names=["parts", f"only{number}"],
            shapes_and_slices=[("10 6 0,4:-", "10 6 4,6:-")[number], ""],
            data=[(parts(tf)[0], tf.constant(PARTS[4:]))[number], tf.constant([1.0, 2.0])],
        )
    model = tf.Module()
    model.kernel = tf.Variable(tf.ones([2, 3]) / 3, name="dense/kernel")
    model.bias = tf.Variable(tf.zeros([3]), name="dense/bias")
    saved = tf.train.Checkpoint(model=model, step=tf.Variable(7, dtype=tf.int64, name="step"))
    saved.write(str(folder / "objects"))


def main():
    import tensorflow as tf

    for path in FOLDER.iterdir():
        if path.is_file() and path.suffix != ".py":
            path.unlink()
    write(tf, FOLDER)


if __name__ == "__main__":
    main()
