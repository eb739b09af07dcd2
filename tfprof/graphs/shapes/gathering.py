"""Shapes of ops that pick elements by index, or put them somewhere by index."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError, axis_in
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import Dims, PartialShape
from tfprof.graphs.shapes.dims import inserted, replaced, same_shape
from tfprof.graphs.shapes.rules import SHAPES, Shapes


@SHAPES.of("Gather", "GatherV2")
def _gather(op: OpCall) -> Shapes:
    params, indices = op.shape(0), op.shape(1)
    batch = op.integer("batch_dims")
    batch = axis_in(batch, len(indices) + (batch >= 0))
    axis = op.scalar(2) if len(op.inputs) > 2 else 0
    if not isinstance(axis, int):
        return [(None,) * (len(params) - 1 + len(indices) - batch)]
    return [_gathered(params, indices, axis_in(axis, len(params)), batch)]


@SHAPES.of("ResourceGather")
def _gather_from_variable(op: OpCall) -> Shapes:
    params, indices = op.handle_dims(), op.shape(1)
    batch = axis_in(op.integer("batch_dims"), len(params))
    return [_gathered(params, indices, batch, batch)]


def _gathered(params: Dims, indices: Dims, axis: int, batch: int) -> PartialShape:
    if batch > axis or batch > len(indices):
        raise UnknownError(f"{batch} batch dimensions before axis {axis}")
    return replaced(params, axis, *indices[batch:])


@SHAPES.of("GatherNd", "ResourceGatherNd")
def _gather_slices(op: OpCall) -> Shapes:
    """The last dimension of the indices is the number of leading dimensions that they index."""
    params = op.shape(0) if op.type == "GatherNd" else op.handle_dims()
    indices = op.shape(1)
    depth = indices[-1]
    if not isinstance(depth, int) or depth > len(params):
        raise UnknownError(f"indices of {depth} coordinates into {len(params)} dimensions")
    return [(*indices[:-1], *params[depth:])]


@SHAPES.of("OneHot")
def _one_hot(op: OpCall) -> Shapes:
    dims = op.shape(0)
    return [inserted(dims, axis_in(op.integer("axis", -1), len(dims) + 1), op.size(1))]


@SHAPES.of("Where")
def _where(op: OpCall) -> Shapes:
    """A row of coordinates for each element that is true."""
    values = op.input(0).values
    known = values is not None and all(isinstance(value, (bool, int)) for value in values)
    return [(sum(map(bool, values)) if known and values else None, len(op.shape(0)))]


@SHAPES.of("Unique", "UniqueWithCounts")
def _unique(op: OpCall) -> Shapes:
    (n,) = op.shape_of_rank(0, 1)
    values = op.input(0).values
    different = n if n in (0, 1) else None
    if values is not None and all(isinstance(value, (int, float)) for value in values):
        different = len(set(values))
    return [(different,), (n,), (different,)][: 2 if op.type == "Unique" else 3]


@SHAPES.of("UniqueV2", "UniqueWithCountsV2")
def _unique_along(op: OpCall) -> Shapes:
    dims = op.shape(0)
    axes = op.known_ints(1)
    if len(axes) > 1:
        raise UnknownError(f"different elements along {len(axes)} axes")
    axis = axis_in(axes[0] if axes else 0, len(dims))
    shapes = [replaced(dims, axis, None), (dims[axis],), (None,)]
    return shapes[: 2 if op.type == "UniqueV2" else 3]


@SHAPES.of("ListDiff")
def _list_difference(op: OpCall) -> Shapes:
    left = None
    if op.input(0).values is not None and op.input(1).values is not None:
        gone = set(op.known_ints(1))
        left = sum(value not in gone for value in op.known_ints(0))
    return [(left,), (left,)]


@SHAPES.of("DynamicPartition")
def _dynamic_partition(op: OpCall) -> Shapes:
    data, partitions = op.shape(0), op.shape(1)
    return [(None, *data[len(partitions) :])] * op.count_attr("num_partitions")


@SHAPES.of("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(op: OpCall) -> Shapes:
    """The largest index gives the number of rows."""
    n = len(op.inputs) // 2
    indices, data = op.inputs[:n], op.inputs[n:]
    inner = same_shape(
        rows.shape[len(places.shape) :]
        for places, rows in zip(indices, data, strict=True)
        if places.shape is not None and rows.shape is not None
    )
    if inner is None:
        raise UnknownError("the shapes of the rows are unknown")
    if any(places.values is None for places in indices):
        return [(None, *inner)]
    largest = max((i for place in range(n) for i in op.known_ints(place)), default=-1)
    return [(largest + 1, *inner)]


@SHAPES.of("EditDistance")
def _edit_distance(op: OpCall) -> Shapes:
    hypothesis, truth = op.spelled_shape(2), op.spelled_shape(5)
    if hypothesis is None or truth is None:
        raise UnknownError("the shapes of the sequences are unknown")
    return [same_shape((hypothesis[:-1], truth[:-1]))]


@SHAPES.of("RaggedTensorToTensor")
def _ragged_to_tensor(op: OpCall) -> Shapes:
    """The wanted shape crops or pads the ragged sizes; sizes that it leaves open stay."""
    wanted, inner = op.element_shape(0), op.shape(1)[1:]
    kinds = op.attr("row_partition_types", ())
    rows: Number | None = None
    if kinds[:1] == ("FIRST_DIM_SIZE",):
        rows = op.size(3)
    elif kinds[:1] == ("ROW_SPLITS",):
        rows = op.shape_of_rank(3, 1)[0] - 1
    ragged = (None,) * sum(kind != "FIRST_DIM_SIZE" for kind in kinds)
    if wanted is None:
        return [(rows, *ragged, *inner)]
    first, *others = same_shape((wanted, (None, *ragged, *inner))) or wanted
    return [(rows if first is None else first, *others)]


@SHAPES.of("RaggedRange")
def _ragged_range(op: OpCall) -> Shapes:
    """The begin of each range, and the numbers of all."""
    n = max((op.shape(index) for index in range(3)), key=len)
    return [(n[0] + 1 if n else 2,), (None,)]


@SHAPES.of("RaggedGather")
def _ragged_gather(op: OpCall) -> Shapes:
    """Splits of each ragged dimension, then the values of all rows."""
    splits = op.count_attr("OUTPUT_RAGGED_RANK")
    return [*[(None,)] * splits, (None, *op.shape(-2)[1:])]


@SHAPES.of("RaggedTensorToSparse")
def _ragged_to_sparse(op: OpCall) -> Shapes:
    """Coordinates, values and shape; every split stands for one dimension."""
    rank = len(op.inputs) - 1 + len(op.shape(-1))
    return [(None, rank), (None,), (rank,)]


# Tables of vectors add a dimension; the default has the shape of one value.
SHAPES.of("LookupTableFind LookupTableFindV2")(lambda op: [(*op.shape(1), *op.shape(2))])
SHAPES.of("Bincount")(lambda op: [(op.size(1),)])
# A histogram for each row of a matrix, or one.
SHAPES.of("DenseBincount")(lambda op: [(*op.shape(0)[:-1], op.size(1))])
SHAPES.of("UnravelIndex")(lambda op: [(op.shape_of_rank(1, 1)[0], *op.shape(0))])
SHAPES.of("RaggedTensorFromVariant")(
    lambda op: [*[(None,)] * op.count_attr("output_ragged_rank"), None]
)
