"""Shapes of reductions over devices."""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import floor_div
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.arguments import same_shape, size
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()


@RULES.of("CollectiveReduceScatterV2")
def _scattered(op: OpCall) -> list[PartialShape]:
    """Each device keeps its share of the rows."""
    dims = op.shape()
    if not dims:
        raise UnknownError("a scalar cannot be scattered")
    k = size(op, 1)
    return [(None if k is None else floor_div(dims[0], k), *dims[1:])]


RULES.of(
    """
    CollectiveReduce CollectiveReduceV2 CollectiveReduceV3 CrossReplicaSum NcclAllReduce
    """
)(lambda op: [op.shape()])
RULES.of("NcclReduce")(lambda op: [same_shape(tensor.shape for tensor in op.inputs)])
