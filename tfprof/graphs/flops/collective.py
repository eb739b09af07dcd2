"""Reductions over devices. Each op counts what its own device adds, in a ring of k devices.

In a ring every device adds up one k-th of the elements: k - 1 additions for each of them.
"""

from __future__ import annotations

from tfprof.graphs.flops.element_types import additions, element_type
from tfprof.graphs.flops.formulas import Cost, Family, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div

FAMILY = Family.named("collective")

_RING = "Patarasuk & Yuan, Bandwidth Optimal All-reduce Algorithms, 2009"


def _ring(op: OpCall, k: Number) -> Cost:
    n = op.n_in()
    count = ceil_div(n * (k - 1), k)
    if op.text("final_op", "Id") == "Div" or _reduction(op) == "mean":
        count = count + ceil_div(n, k)
    return operations(additions(count, element_type(op)), n=n, k=k)


def _reduction(op: OpCall) -> str:
    return (op.text("reduction") or op.text("reduce_op")).lower()


def _device_count(op: OpCall, name: str) -> int:
    k = op.integer(name)
    if k < 1:
        raise UnknownError(f"the attribute {name} is missing")
    return k


@FAMILY.formula("CollectiveReduce", rule="n·(k - 1) / k", source=_RING)
def _reduce(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share; one division more for a mean."""
    return _ring(op, _device_count(op, "group_size"))


@FAMILY.formula(
    "CollectiveReduceV2", "CollectiveReduceScatterV2", rule="n·(k - 1) / k", source=_RING
)
def _reduce_v2(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share; one division more for a mean."""
    (k,) = op.numbers(1)
    return _ring(op, k)


@FAMILY.formula("CollectiveReduceV3", rule="n·(k - 1) / k", source=_RING)
def _reduce_v3(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share; groups are rows of devices."""
    return _ring(op, op.shape_of_rank(2, 2)[1])


@FAMILY.formula(
    "CrossReplicaSum",
    "DTensorAllReduce",
    "DTensorReduceScatter",
    rule="n·(k - 1) / k",
    source=_RING,
)
def _cross_replica_sum(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share; groups are rows of devices."""
    return _ring(op, op.shape_of_rank(1, 2)[1])


@FAMILY.formula("NcclAllReduce", rule="n·(k - 1) / k", source=_RING)
def _nccl_all_reduce(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share."""
    return _ring(op, _device_count(op, "num_devices"))


@FAMILY.formula("NcclReduce", rule="n·(k - 1)")
def _nccl_reduce(op: OpCall) -> Cost:
    """The sum of the k inputs takes k - 1 additions for each element."""
    k, n = len(op.inputs), op.n_in()
    return operations(additions(n * (k - 1), element_type(op)), n=n, k=k)
