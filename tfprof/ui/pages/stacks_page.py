"""Sampled call stacks of another program: a tree, and a flame graph, of each of their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.captures.tools.device_memory import device_memory
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.stacks import StackFrame, Stacks
from tfprof.inputs.opened import Opened
from tfprof.ui.pages.document import Page
from tfprof.ui.pages.precomputed_page import blocks_of
from tfprof.ui.pages.tree_block import TreeMeasure, tree_block

_UNITS = {
    "nanoseconds": ("us", 1e-3), "microseconds": ("us", 1.0), "milliseconds": ("us", 1e3),
    "seconds": ("us", 1e6), "bytes": ("bytes", 1.0), "count": ("count", 1.0),
}  # fmt: skip
"""By the unit of samples: the unit on pages, and the scale to it."""


def stacks_page(opened: Opened) -> Page:
    """The page of an opened run; errors are those of reading it."""
    assert opened.stacks is not None, "site.py lists it only where there are stacks"
    stacks = opened.stacks()
    order, parents = _preorder(stacks.parents)
    names = [_name(frame) for frame in stacks.frames]
    measures = [_measure(stacks, kind, order) for kind in range(len(stacks.types))]
    block = tree_block(
        ["all", *[names[frame] for frame in stacks.frame_of[order].tolist()]],
        np.concatenate([[-1], parents + 1]),
        measures,
        id="stacks",
        title="Who calls whom",
        header="call",
        primary=measures[stacks.default].id if measures else "",
        is_called=True,
    )
    n_samples = len(stacks.nodes)
    about = f"{n_samples:,} sample{'' if n_samples == 1 else 's'} of another program's call stacks."
    return Page("stacks", "Call stacks", about, [block])


def device_memory_page(opened: Opened) -> Page:
    """The page of a device memory profile; errors are those of reading it."""
    assert opened.stacks is not None, "site.py lists it only where there are stacks"
    about = "Arrays that the program held on devices, by the line that made them."
    return Page("memory", "Device memory", about, blocks_of(device_memory(opened.stacks())))


def _preorder(parents: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Nodes, each followed by the nodes that it calls, and the place of each node's parent."""
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for node, parent in enumerate(parents.tolist()):
        children[parent].append(node)  # -1 is the last list
    order: list[int] = []
    waiting = children[-1][::-1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(children[node])
    place = np.full(len(parents) + 1, -1, np.int64)
    place[order] = np.arange(len(order))
    return np.array(order, np.int64), place[parents[order]]


def _measure(stacks: Stacks, kind: int, order: Sequence[int] | Int64Array) -> TreeMeasure:
    told = stacks.types[kind]
    unit, factor = _UNITS.get(told.unit, ("", 1.0))
    totals = stacks.totals(kind)[order] * factor
    own = stacks.own(kind)[order] * factor
    whole = float(stacks.values[kind].sum()) * factor
    return TreeMeasure(
        f"{kind}_{told.name}", told.name, unit,
        np.concatenate([[whole], totals]), np.concatenate([[0.0], own]), whole=whole,
    )  # fmt: skip


def _name(frame: StackFrame) -> str:
    return f"{frame.name} ({frame.file}:{frame.line})" if frame.file else frame.name
