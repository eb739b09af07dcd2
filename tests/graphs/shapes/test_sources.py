"""Shapes of what comes from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, ints, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_STRING, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    return shapes(SHAPES, call(op_type, *inputs, **attrs))[0]


def test_an_iterator_says_what_it_gives() -> None:
    op = call("IteratorGetNext", output_shapes=((None, 28, 28), None, (-1,)))
    assert shapes(SHAPES, op) == [(None, 28, 28), None, (None,)]
    for broken in ({}, {"output_shapes": "many"}):
        with pytest.raises(UnknownError):
            shapes(SHAPES, call("IteratorGetNext", **broken))


def test_images_have_the_channels_asked_for() -> None:
    assert shape("DecodeJpeg", Tensor((), DT_STRING), channels=3) == (None, None, 3)
    assert shape("DecodePng", Tensor((), DT_STRING)) == (None, None, None)
    assert shape("DecodeImage", Tensor((), DT_STRING), channels=3) is None
    assert shape("DecodeImage", expand_animations=False) == (None, None, None)
    assert shape("DecodeAndCropJpeg", Tensor(), ints(1, 2, 30, 40), channels=1) == (30, 40, 1)


def test_features_of_a_batch_of_examples() -> None:
    text = Tensor((B,), DT_STRING)
    op = call(
        "ParseExampleV2",
        text,
        num_sparse=1,
        dense_shapes=((4,), (None, 2)),
        ragged_value_types=(1,),
    )
    assert shapes(SHAPES, op) == [
        *[(None, 2), (None,), (2,)],
        *[(B, 4), (B, None, 2)],
        *[(None,), (B + 1,)],
    ]
    op = call("ParseSingleExample", Tensor((), DT_STRING), num_sparse=1, dense_shapes=((4,),))
    assert shapes(SHAPES, op) == [(None, 1), (None,), (1,), (4,)]
    for broken in ({"num_sparse": -1}, {"num_sparse": 1, "dense_shapes": 3}):
        with pytest.raises(UnknownError):
            shapes(SHAPES, call("ParseSingleExample", Tensor((), DT_STRING), **broken))


def test_raw_bytes_of_a_known_length() -> None:
    assert shape("DecodePaddedRaw", Tensor((B,), 7), scalar(12), out_type=1) == (B, 3)
    assert shape("DecodePaddedRaw", Tensor((B,), 7), scalar(None), out_type=1) == (B, None)


def test_a_shape_attribute_that_is_none_says_nothing() -> None:
    assert shape("Placeholder", shape="2,3") is None
    assert shape("Placeholder", shape=(None, 3)) == (None, 3)
    assert shape("Placeholder", shape=(-1, 3)) == (None, 3)
    assert shape("Placeholder") is None


def test_a_constant_has_the_shape_of_its_value() -> None:
    assert shape("Const", value=Tensor((2, 3), 1)) == (2, 3)
    with pytest.raises(UnknownError):
        shape("Const", value=7)


TEXT = np.array([["a", "b"]], object)
EXAMPLES = np.array([b"", b""], object)
NONE = np.zeros([0], object)


def _text(f: Any, array: Any) -> Any:
    import tensorflow as tf

    made = tf.compat.v1.placeholder(tf.string, [None, *array.shape[1:]], f"fed{len(f.arrays)}")
    f.arrays[made.name] = array
    return made


CASES = {
    "Strings": lambda r, f: [
        r.StringLower(input=_text(f, TEXT)),
        r.StringLength(input=_text(f, TEXT)),
        r.StringStrip(input=_text(f, TEXT)),
        r.RegexReplace(input=_text(f, TEXT), pattern="a", rewrite="b"),
        r.StaticRegexReplace(input=_text(f, TEXT), pattern="a", rewrite="b"),
        r.RegexFullMatch(input=_text(f, TEXT), pattern="a"),
        r.StringToHashBucketFast(input=_text(f, TEXT), num_buckets=5),
        r.Substr(input=_text(f, TEXT), pos=0, len=1),
        r.AsString(input=f(np.ones((2, 3), np.float32), 0)),
        r.EncodeBase64(input=_text(f, TEXT)),
    ],
    "StringJoin": lambda r, f: r.StringJoin(inputs=["x", _text(f, TEXT), _text(f, TEXT)]),
    "StringSplit": lambda r, f: r.StringSplitV2(input=_text(f, TEXT[0]), sep=","),
    "Fingerprint": lambda r, f: r.Fingerprint(
        data=f(np.ones((2, 3), np.float32), 0), method="farmhash64"
    ),
    "DecodeRaw": lambda r, f: [
        r.DecodeRaw(bytes=_text(f, TEXT), out_type=np.uint8),
        r.DecodePaddedRaw(input_bytes=_text(f, TEXT), fixed_length=8, out_type=np.int16),
    ],
    "DecodeCSV": lambda r, f: r.DecodeCSV(
        records=_text(f, np.array(["1,2", "3,4"], object)), record_defaults=[[0], [0]]
    ),
    "Images": lambda r, f: [
        r.DecodePng(contents=r.EncodePng(image=np.zeros((4, 5, 3), np.uint8)), channels=3),
        r.DecodeJpeg(contents=r.EncodeJpeg(image=np.zeros((4, 5, 3), np.uint8)), channels=1),
        r.DecodeImage(contents=r.EncodePng(image=np.zeros((4, 5, 3), np.uint8))),
        r.DecodeAndCropJpeg(
            contents=r.EncodeJpeg(image=np.zeros((4, 5, 3), np.uint8)),
            crop_window=[1, 1, 2, 3],
        ),
        r.ExtractJpegShape(contents=r.EncodeJpeg(image=np.zeros((4, 5, 3), np.uint8))),
    ],
    "DecodeWav": lambda r, f: r.DecodeWav(
        contents=r.EncodeWav(audio=np.zeros((5, 2), np.float32), sample_rate=8000),
        desired_channels=1,
    ),
    "ParseExampleV2": lambda r, f: r.ParseExampleV2(
        serialized=_text(f, EXAMPLES),
        names=NONE,
        sparse_keys=np.array(["s"], object),
        dense_keys=np.array(["d"], object),
        ragged_keys=np.array(["r"], object),
        dense_defaults=[np.zeros(3, np.float32)],
        num_sparse=1,
        sparse_types=[np.float32],
        ragged_value_types=[np.float32],
        ragged_split_types=[np.int64],
        dense_shapes=[[3]],
    ),
    "ParseExample": lambda r, f: r.ParseExample(
        serialized=_text(f, EXAMPLES),
        names=NONE,
        sparse_keys=["s"],
        dense_keys=["d"],
        dense_defaults=[np.zeros(3, np.float32)],
        sparse_types=[np.float32],
        dense_shapes=[[3]],
    ),
    "ParseSingleExample": lambda r, f: r.ParseSingleExample(
        serialized="",
        dense_defaults=[np.zeros(3, np.float32)],
        num_sparse=1,
        sparse_keys=["s"],
        dense_keys=["d"],
        sparse_types=[np.float32],
        dense_shapes=[[3]],
    ),
    "Scalars": lambda r, f: [
        r.SerializeTensor(tensor=f(np.ones(3, np.float32), 0)),
        r.Timestamp(),
        r.ShardedFilename(basename="a", shard=1, num_shards=3),
        r.ToBool(input=f(np.ones(3, np.float32), 0)),
        r.MergeSummary(inputs=[r.ScalarSummary(tags="a", values=1.0)]),
    ],
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case: str) -> None:
    check(CASES[case])


@pytest.mark.tensorflow
def test_sources_are_those_of_tensorflow() -> None:
    """They wait for data or devices, so the graph is not run."""

    def build(r: Any, f: Any) -> None:
        parts = {"output_types": [np.float32, np.int32], "output_shapes": [[None, 3], []]}
        made = r.IteratorV2(shared_name="", container="", **parts)
        r.IteratorGetNext(iterator=made, **parts)
        table = r.HashTableV2(key_dtype=np.int32, value_dtype=np.float32)
        r.LookupTableSizeV2(table_handle=table)
        r.InfeedDequeue(dtype=np.float32, shape=[2, 3])
        r.InfeedDequeueTuple(dtypes=[np.float32], shapes=[[2, 3]])

    check(build, run=False)
