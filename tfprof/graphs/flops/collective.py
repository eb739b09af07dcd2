"""Reductions over devices. Each op counts what its own device adds, in a ring of k devices.

In a ring every device adds up one k-th of the elements: k - 1 additions for each of them.
"""

from __future__ import annotations

from collections.abc import Callable

from tfprof.graphs.flops.formulas import Cost, additions, formula, operations
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, ceil_div

_RING = "Patarasuk & Yuan, Bandwidth Optimal All-reduce Algorithms, 2009"


def _group_size(op: OpCall) -> Number:
    (k,) = op.numbers(1)
    return k


def _device_count(op: OpCall, name: str) -> int:
    k = op.integer(name)
    if k < 1:
        raise UnknownError(f"the attribute {name} is missing")
    return k


_DEVICES: dict[str, Callable[[OpCall], Number]] = {
    "CollectiveReduce": lambda op: _device_count(op, "group_size"),
    "CollectiveReduceV2": _group_size,
    "CollectiveReduceScatterV2": _group_size,
    "CollectiveReduceV3": lambda op: op.shape_of_rank(2, 2)[1],
    "CrossReplicaSum": lambda op: op.shape_of_rank(1, 2)[1],
    "DTensorAllReduce": lambda op: op.shape_of_rank(1, 2)[1],
    "DTensorReduceScatter": lambda op: op.shape_of_rank(1, 2)[1],
    "NcclAllReduce": lambda op: _device_count(op, "num_devices"),
}
"""Number of devices in a group; where an input lists groups, these are its rows."""


@formula(*_DEVICES, rule="n·(k - 1) / k", source=_RING)
def _ring(op: OpCall) -> Cost:
    """k - 1 additions for each element of the device's share; one division more for a mean."""
    n, k = op.n_in(), _DEVICES[op.type](op)
    count = ceil_div(n * (k - 1), k)
    reduction = (op.text("reduction") or op.text("reduce_op")).lower()
    if op.text("final_op", "Id") == "Div" or reduction == "mean":
        count = count + ceil_div(n, k)
    return operations(additions(count, op.dtype()), n=n, k=k)


@formula("NcclReduce", rule="n·(k - 1)")
def _nccl_reduce(op: OpCall) -> Cost:
    """The sum of the k inputs takes k - 1 additions for each element."""
    k, n = len(op.inputs), op.n_in()
    return operations(additions(n * (k - 1), op.dtype()), n=n, k=k)
