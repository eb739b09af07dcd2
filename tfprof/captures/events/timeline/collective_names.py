"""Names of collectives, in which devices or hosts work together: all-reduce, all-gather …"""

from __future__ import annotations

import re

from tfprof.core.columns.numerals import whole_number

COLLECTIVE_OPCODES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-")
"""Prefixes of opcodes and categories of XLA's collectives."""

_INSTRUCTION = re.compile(
    r"(all-reduce|all-gather|(ragged-)?all-to-all|reduce-scatter|collective-(permute|broadcast)"
    r"|psum|pmax|pmin|pmean|ppermute|pbroadcast|all_gather|all_to_all|reduce_scatter)\b"
    r"|(psum|pmax|pmin|all_gather|ppermute)_(scatter|invariant|reduced|unreduced)\b"
)
"""An instruction's name is its opcode, or JAX's function, and a number."""

_OP_TYPE = re.compile(r"Collective(Reduce|Gather|Bcast|AllToAll|Permute)|Nccl")


def is_collective_instruction(name: str) -> bool:
    """Whether an instruction is a collective, by its name: for captures without its program.

    >>> [is_collective_instruction(name) for name in ("all-reduce.3", "psum_invariant.7", "dot.1")]
    [True, True, False]
    """
    return _INSTRUCTION.match(name) is not None


def is_collective_op(op_type: str) -> bool:
    """Whether a TensorFlow op is a collective."""
    return _OP_TYPE.match(op_type) is not None


_KERNEL = re.compile("nccl|rccl", re.IGNORECASE)


def is_collective_name(name: str) -> bool:
    """Whether an event is a collective, by its name alone, whatever kind of event it is.

    >>> names = ("ncclDevKernel_AllGather_RING_LL", "%all-reduce.3 = f32[] …", "a:CollectiveReduce")
    >>> [is_collective_name(name) for name in (*names, "dot.1")]
    [True, True, True, False]
    """
    return (
        _KERNEL.match(name) is not None
        or is_collective_instruction(name.removeprefix("%"))
        or is_collective_op(name.rpartition(":")[2])
    )


_KERNEL_OF = re.compile(
    r"(?:nccl|rccl)(?:Dev)?Kernel_(AllReduce|AllGather|AllGatherV|ReduceScatter|Broadcast|Reduce"
    r"|SendRecv)(?=_|$|\()(?:.*_(TREE|RING|COLLNET_DIRECT|COLLNET_CHAIN|NVLS|NVLS_TREE|PAT)_)?",
    re.IGNORECASE,
)

_OF_KERNELS = {
    "allreduce": "all-reduce", "allgather": "all-gather", "allgatherv": "all-gather",
    "reducescatter": "reduce-scatter", "broadcast": "broadcast", "reduce": "reduce",
    "sendrecv": "send and receive",
}  # fmt: skip

_OF_OPS = {
    "CollectiveReduceScatter": "reduce-scatter", "CollectiveReduce": "all-reduce",
    "CollectiveGather": "all-gather", "CollectiveBcast": "broadcast",
    "CollectiveAllToAll": "all-to-all", "CollectivePermute": "collective-permute",
    "NcclAllReduce": "all-reduce", "NcclReduce": "reduce", "NcclBroadcast": "broadcast",
}  # fmt: skip
"""Operations of TensorFlow's ops, by how their types begin."""


def operation_of(name: str) -> str:
    """What a kernel of NCCL or an op of TensorFlow does, by its name; else empty.

    >>> operation_of("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgs)")
    'all-reduce'
    >>> operation_of("CollectiveGatherV2")
    'all-gather'
    """
    kernel = _KERNEL_OF.match(name)
    if kernel is not None:
        return _OF_KERNELS[kernel[1].lower()]
    return next((what for start, what in _OF_OPS.items() if name.startswith(start)), "")


def algorithm_of_kernel(name: str) -> str:
    """The algorithm of a kernel of NCCL, as far as its name states.

    One kernel serves several algorithms: only trees have kernels of their own.

    >>> algorithm_of_kernel("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgs)")
    'tree'
    >>> algorithm_of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)")
    'no tree'
    """
    match = _KERNEL_OF.match(name)
    if match is None or not match[2] or match[1].lower() not in ("allreduce", "reduce"):
        return ""
    return "tree" if match[2].upper() == "TREE" else "no tree"


def n_replica_groups(text: str) -> int:
    """Number of groups of devices that work separately; 1 if all devices work together.

    >>> [n_replica_groups(text) for text in ("", "{}", "{{0,1}}", "{{0,1},{2,3}}", "[4,2]<=[8]")]
    [1, 1, 1, 2, 4]
    """
    if text.startswith("["):
        return max(1, whole_number(text[1:].partition(",")[0], 1))
    return max(1, text.count("{") - 1)
