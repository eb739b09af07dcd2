"""Shapes of constants and inputs: feeds, iterators, records, files, text."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, floor_div
from tfprof.graphs.model.tensors import ELEMENT_BYTES, PartialShape, Tensor
from tfprof.graphs.shapes.arguments import (
    as_shape,
    count_attr,
    shape_attr,
    shapes_attr,
    size,
    spelled_shape,
)
from tfprof.graphs.shapes.rules import Rules, Shapes

RULES: Rules[PartialShape] = Rules()


@RULES.of("Const", "HostConst", "_EagerConst")
def _constant(op: OpCall) -> Shapes:
    value = op.attr("value")
    if isinstance(value, Tensor):
        return [value.shape]
    return [op.shape(0)]


@RULES.of("StringJoin")
def _string_join(op: OpCall) -> Shapes:
    """Scalars are joined to each element of the others."""
    shapes = [op.shape(index) for index in range(len(op.inputs))]
    return [next((shape for shape in shapes if shape), ())]


@RULES.of("Batch")
def _batch(op: OpCall) -> Shapes:
    """The joined requests, the begin of each, and their number."""
    parts = [None if part.shape is None else (None, *part.shape[1:]) for part in op.inputs]
    return [*parts, (None, 3), ()]


@RULES.of("DecodeAndCropJpeg", "DecodeBmp", "DecodeJpeg", "DecodeJxl", "DecodePng", "DecodeWebP")
def _image(op: OpCall) -> Shapes:
    """0 channels means those of the file; a cropped image has the size of the window."""
    height: Number | None = None
    width: Number | None = None
    if op.type == "DecodeAndCropJpeg" and op.input(1).values is not None:
        _, _, height, width = op.numbers(1)
    return [(height, width, op.integer("channels") or None)]


@RULES.of("DecodeImage")
def _any_image(op: OpCall) -> Shapes:
    """An animation has one dimension more, unless only its first frame is wanted."""
    if op.flag("expand_animations", True):
        return [None]
    return [(None, None, op.integer("channels") or None)]


@RULES.of("DecodeWav")
def _sound(op: OpCall) -> Shapes:
    samples, channels = op.integer("desired_samples", -1), op.integer("desired_channels", -1)
    return [(None if samples < 0 else samples, None if channels < 0 else channels), ()]


@RULES.of("DecodePaddedRaw")
def _padded_raw(op: OpCall) -> Shapes:
    length, width = size(op, 1), ELEMENT_BYTES.get(op.integer("out_type"))
    known = length is not None and width is not None
    return [(*op.shape(0), floor_div(length, width) if known else None)]  # type: ignore[arg-type]


@RULES.of("ParseExampleV2")
def _examples_and_ragged(op: OpCall) -> Shapes:
    """Values and splits of ragged features come last."""
    batch = op.shape(0)
    ragged = len(op.ints("ragged_value_types"))
    splits: PartialShape = (batch[0] + 1,) if batch else (0,)
    return [
        *_features(count_attr(op, "num_sparse"), _dense_shapes(op), batch),
        *[(None,)] * ragged,
        *[splits] * ragged,
    ]


def _dense_shapes(op: OpCall) -> Sequence[PartialShape]:
    value = op.attr("dense_shapes", ())
    if not isinstance(value, tuple):
        raise UnknownError("the shapes of the dense features are unknown")
    return [as_shape(shape) for shape in value]


def _features(
    n_sparse: int, dense: Sequence[PartialShape], batch: tuple[Number, ...]
) -> list[PartialShape]:
    """Coordinates, values and shapes of sparse features, then the dense ones."""
    rank = len(batch) + 1
    return [
        *[(None, rank)] * n_sparse,
        *[(None,)] * n_sparse,
        *[(rank,)] * n_sparse,
        *(None if shape is None else (*batch, *shape) for shape in dense),
    ]


RULES.of(
    """
    Placeholder PlaceholderV2 _Arg FakeParam ImmutableConst CollectiveBcastRecv CollectiveBcastSend
    CollectiveGather NcclBroadcast
    """
)(lambda op: [shape_attr(op)])
# What is fed may have another shape than the default.
RULES.of("PlaceholderWithDefault")(lambda op: [shape_attr(op)])
RULES.of(
    """
    DatasetToSingleElement GetElementAtIndex IteratorGetNext IteratorGetNextSync
    MultiDeviceIteratorGetNextFromShard OptionalGetValue ReduceDataset
    """
)(lambda op: shapes_attr(op, "output_shapes"))
RULES.of("InfeedDequeueTuple OutfeedDequeueTuple OutfeedDequeueTupleV2")(
    lambda op: shapes_attr(op, "shapes")
)
RULES.of("InfeedDequeue OutfeedDequeue OutfeedDequeueV2 XlaRecv XlaRecvFromHost")(
    lambda op: [shape_attr(op, "Toutput_shape" if op.type == "XlaRecvFromHost" else "shape")]
)
RULES.of("CollectiveBcastRecvV2")(lambda op: [spelled_shape(op, 3)])
RULES.of(
    """
    CollectiveBcastSendV2 AsString DecodeBase64 DecodeCompressed DecodeJSONExample EncodeBase64
    RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace StringLength StringLower
    StringStrip StringToHashBucket StringToNumber StringToHashBucketFast StringToHashBucketStrong
    StringUpper Substr UnicodeScript UnicodeTranscode _TensorToHashBucketFast
    """
)(lambda op: [op.shape()])
# The parts of all members, whose number is known only when the program runs.
RULES.of("CollectiveGatherV2")(lambda op: [(None, *op.shape(0)[1:])])
RULES.of(
    """
    AnonymousHashTable AnonymousIterator AnonymousMutableDenseHashTable AnonymousMutableHashTable
    AnonymousMutableHashTableOfTensors FIFOQueueV2 HashTableV2 Iterator IteratorV2
    MutableDenseHashTableV2 MutableHashTableV2 MutableHashTableOfTensorsV2 MutexV2 OneShotIterator
    PaddingFIFOQueueV2 PriorityQueueV2 RandomShuffleQueueV2 SummaryWriter AudioSummary
    AudioSummaryV2 BarrierIncompleteSize BarrierReadySize ComputeBatchSize DatasetCardinality
    DeviceIndex DevicePlacementOp EncodeJpeg EncodePng EncodeWav HistogramSummary ImageSummary
    LookupTableSize LookupTableSizeV2 MapSize MapIncompleteSize MergeSummary OptionalHasValue
    OrderedMapIncompleteSize OrderedMapSize ReadFile ScalarSummary SerializeTensor ShardedFilename
    ShardedFilespec StageSize StringFormat TensorSummary Timestamp TensorSummaryV2 ToBool
    """
)(lambda op: [()])
RULES.of("ReaderRead ReaderReadV2")(lambda op: [(), ()])
RULES.of("ReaderReadUpTo ReaderReadUpToV2")(lambda op: [(None,), (None,)])
RULES.of("MatchingFiles RecordInput")(lambda op: [(None,)])
RULES.of("Unbatch UnbatchGrad")(lambda op: [(None, *op.shape(0)[1:])])
# A sparse matrix: coordinates, words, and its shape.
RULES.of("StringSplit StringSplitV2")(lambda op: [(None, 2), (None,), (2,)])
RULES.of("Fingerprint")(lambda op: [(op.shape(0)[0], 8)])
RULES.of("ExtractJpegShape")(lambda op: [(3,)])
RULES.of("DecodeGif")(lambda op: [(None, None, None, 3)])
RULES.of("DecodeRaw")(lambda op: [(*op.shape(0), None)])
RULES.of("DecodeCSV")(lambda op: [op.shape(0)] * (len(op.inputs) - 1))
RULES.of("ParseSingleExample")(
    lambda op: _features(count_attr(op, "num_sparse"), _dense_shapes(op), ())
)
RULES.of("ParseExample")(
    lambda op: _features(op.integer("Nsparse"), _dense_shapes(op), op.shape_of_rank(0, 1))
)
