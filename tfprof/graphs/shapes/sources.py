"""Shapes of constants and inputs: feeds, iterators, records, files, text."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, as_shape
from tfprof.graphs.model.symbolic import floor_div
from tfprof.graphs.model.tensors import ELEMENT_BYTES, Dims, PartialShape, Tensor
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("Const", "HostConst", "_EagerConst")
def _constant(op: OpCall) -> Shapes:
    value = op.attr("value")
    return [value.shape if isinstance(value, Tensor) else op.shape(0)]


@SHAPES.of("Batch")
def _batch(op: OpCall) -> Shapes:
    """The joined requests, the begin of each, and their number."""
    parts = [None if part.shape is None else (None, *part.shape[1:]) for part in op.inputs]
    return [*parts, (None, 3), ()]


@SHAPES.of("DecodeAndCropJpeg", "DecodeBmp", "DecodeJpeg", "DecodeJxl", "DecodePng", "DecodeWebP")
def _image(op: OpCall) -> Shapes:
    """0 channels means those of the file; a cropped image has the size of the window."""
    window: Dims | tuple[None, ...] = (None,) * 4
    if op.type == "DecodeAndCropJpeg" and op.input(1).values is not None:
        window = op.numbers(1)
    _, _, height, width = window
    return [(height, width, op.integer("channels") or None)]


@SHAPES.of("DecodeImage")
def _any_image(op: OpCall) -> Shapes:
    """An animation has one dimension more, unless only its first frame is wanted."""
    animated = op.flag("expand_animations", True)
    return [None if animated else (None, None, op.integer("channels") or None)]


@SHAPES.of("DecodeWav")
def _sound(op: OpCall) -> Shapes:
    names = ("desired_samples", "desired_channels")
    return [as_shape(tuple(op.integer(name, -1) for name in names)), ()]


@SHAPES.of("DecodePaddedRaw")
def _padded_raw(op: OpCall) -> Shapes:
    length, width = op.size(1), ELEMENT_BYTES.get(op.integer("out_type"))
    unknown = length is None or width is None
    return [(*op.shape(0), None if unknown else floor_div(length, width))]  # type: ignore[arg-type]


@SHAPES.of("ParseExampleV2")
def _examples_and_ragged(op: OpCall) -> Shapes:
    """Values and splits of ragged features come last."""
    batch = op.shape(0)
    ragged = len(op.ints("ragged_value_types"))
    splits: PartialShape = (batch[0] + 1,) if batch else (0,)
    return [
        *_features(op, op.count_attr("num_sparse"), batch),
        *[(None,)] * ragged,
        *[splits] * ragged,
    ]


def _features(op: OpCall, n_sparse: int, batch: Dims) -> Shapes:
    """Coordinates, values and shapes of sparse features, then the dense ones."""
    rank = len(batch) + 1
    return [
        *[(None, rank)] * n_sparse,
        *[(None,)] * n_sparse,
        *[(rank,)] * n_sparse,
        *(None if s is None else (*batch, *s) for s in op.shapes_attr("dense_shapes", ())),
    ]


SHAPES.of(
    """
    DatasetToSingleElement GetElementAtIndex IteratorGetNext IteratorGetNextSync
    MultiDeviceIteratorGetNextFromShard OptionalGetValue ReduceDataset
    """
)(lambda op: op.shapes_attr("output_shapes"))
SHAPES.of("InfeedDequeueTuple OutfeedDequeueTuple OutfeedDequeueTupleV2")(
    lambda op: op.shapes_attr("shapes")
)
# Scalars are joined to each element of the others.
SHAPES.of("StringJoin")(
    lambda op: [next(filter(None, [op.shape(index) for index in range(len(op.inputs))]), ())]
)
# The parts of all members, whose number is known only when the program runs.
SHAPES.of("CollectiveGatherV2")(lambda op: [(None, *op.shape(0)[1:])])
SHAPES.of("Unbatch UnbatchGrad")(lambda op: [(None, *op.shape(0)[1:])])
SHAPES.of("Fingerprint")(lambda op: [(op.shape(0)[0], 8)])
SHAPES.of("DecodeRaw")(lambda op: [(*op.shape(0), None)])
SHAPES.of("DecodeCSV")(lambda op: [op.shape(0)] * (len(op.inputs) - 1))
SHAPES.of("ParseSingleExample")(lambda op: _features(op, op.count_attr("num_sparse"), ()))
SHAPES.of("ParseExample")(lambda op: _features(op, op.integer("Nsparse"), op.shape_of_rank(0, 1)))
