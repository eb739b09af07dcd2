"""Meaning of the categories of TPU instructions for a step (``tpu_step_details_utils.h``)."""

from __future__ import annotations

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.timeline.collective_names import COLLECTIVE_OPCODES
from tfprof.captures.rules import Rules

INFEED = ("infeed",)
OUTFEED = ("outfeed",)
HOST_TRANSFER = ("host send", "host send-done", "host recv", "host recv-done")
OFF_DUTY = frozenset((*INFEED, *OUTFEED, *HOST_TRANSFER, "async-done", "megacore fusion"))
"""Categories of the time in which a TensorCore does not compute."""

ALL_REDUCE = ("all-reduce", "all-reduce fusion", "all-to-all")
HIGH_FLOPS = (
    "convolution", "convolution base-dilated", "convolution window-dilated", "convolution fusion",
    "output fusion",
)  # fmt: skip
SEND = ("send", "send-done")
RECEIVE = ("recv", "recv-done")
SPARSE_INFEED, SPARSE_OUTFEED = "sparsecorev0 infeed", "sparsecorev0 outfeed"

_SPENT_ON: dict[str, Spent] = {
    **dict.fromkeys((*SEND, *RECEIVE, "async-done", "megacore fusion"), Spent.DEVICE_TO_DEVICE),
    **dict.fromkeys(ALL_REDUCE, Spent.DEVICE_COLLECTIVES),
    **dict.fromkeys(
        (*INFEED, "host recv", "host recv-done", SPARSE_INFEED), Spent.DEVICE_WAIT_HOST
    ),
    **dict.fromkeys(
        (*OUTFEED, "host send", "host send-done", SPARSE_OUTFEED), Spent.DEVICE_TO_HOST
    ),
}


def spent_on(category: str, *, rules: Rules) -> Spent:
    """The part of a step to which the time of instructions of a category counts.

    Args:
        category: The ``hlo_category``.
        rules: Which categories are collectives.
    """
    known = _SPENT_ON.get(category)
    if known is not None:
        return known
    is_collective = not rules.knows_two_collectives and category.startswith(COLLECTIVE_OPCODES)
    return Spent.DEVICE_COLLECTIVES if is_collective else Spent.DEVICE_COMPUTE_32
