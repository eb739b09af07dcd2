"""Code view: ops by the Python lines that made them (``tfprof_code.cc``)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import EMPTY_STACK
from tfprof.core.columns.tree import Tree
from tfprof.profiles.model.profile import Profile
from tfprof.views.ordering import NameRanks
from tfprof.views.roots import ROOT_NAME
from tfprof.views.spans import Groups, spans_of

GRADIENT_SUFFIX = " (gradient)"
_NO_NODE = -1


@dataclass(frozen=True, slots=True)
class CodeTree:
    """Code lines as a tree, and the ops that each line made.

    Attributes:
        tree: The tree; position 0 is the root.
        names: Text of each position: ``file:line:function``.
        frames: First frame seen for each position, -1 for the root.
        groups: Ops of each position.
        ranks: Ranks of the names.
        dropped_gradients: Groups of gradient ops whose forward op has no call stack.
    """

    tree: Tree
    names: list[str]
    frames: list[int]
    groups: Groups
    ranks: NameRanks
    dropped_gradients: int


@dataclass(slots=True)
class _Builder:
    """Grows the tree line by line; nodes are numbered in order of creation."""

    profile: Profile
    parents: list[int] = field(default_factory=lambda: [-1])
    names: list[str] = field(default_factory=lambda: [ROOT_NAME])
    frames: list[int] = field(default_factory=lambda: [-1])
    _children: dict[tuple[int, str], int] = field(default_factory=dict)
    _of_stack: dict[tuple[int, bool], int] = field(default_factory=dict)
    _labels: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._labels = [frame.label for frame in self.profile.stacks.frames.values]

    def node_of_stack(self, stack: int, gradient: bool) -> int:
        """The node at the innermost frame of a stack; missing ones are made on the way."""
        known = self._of_stack.get((stack, gradient))
        if known is not None:
            return known
        missing = []
        rows = self.profile.stacks.rows
        while stack != EMPTY_STACK and (stack, gradient) not in self._of_stack:
            missing.append(stack)
            stack = rows[stack][0]
        node = self._of_stack.get((stack, gradient), 0)
        for below in reversed(missing):
            node = self._child(node, rows[below][1], gradient)
            self._of_stack[below, gradient] = node
        return node

    def nodes_of_stacks(self, stacks: Int64Array) -> Int64Array:
        """The nodes of many stacks; new ones are made in the order in which stacks appear."""
        distinct, first, which = np.unique(stacks, return_index=True, return_inverse=True)
        nodes = np.zeros(len(distinct), np.int64)
        for place in np.argsort(first).tolist():
            nodes[place] = self.node_of_stack(int(distinct[place]), gradient=False)
        all_nodes: Int64Array = nodes[which.reshape(-1)]
        return all_nodes

    def _child(self, parent: int, frame: int, gradient: bool) -> int:
        text = self._labels[frame] + (GRADIENT_SUFFIX if gradient else "")
        node = self._children.get((parent, text))
        if node is None:
            node = self._children[parent, text] = len(self.names)
            self.parents.append(parent)
            self.names.append(text)
            self.frames.append(frame)
        return node


def build_code_tree(profile: Profile) -> CodeTree:
    """Hang every op with a call stack under its lines.

    Ops are taken in byte order of their names. Gradient ops come last, under the lines of the
    forward op, marked ``(gradient)``; their own lines lie inside TensorFlow.
    """
    ops = profile.ops
    builder = _Builder(profile)
    traced = ops.rows_by_name()
    traced = traced[ops.stack_ids.array[traced] > EMPTY_STACK]
    stacks = ops.stack_ids.array[traced]
    names = tree_walks.taken(ops.names.values, ops.name_ids.array[traced])
    gradients: dict[str, list[int]] = {}
    for place in [place for place, name in enumerate(names) if "_grad/" in name]:
        forward = forward_name(names[place])
        if forward:
            gradients.setdefault(forward, []).append(place)
    of_gradient = np.zeros(len(ops), np.bool_)
    for places in gradients.values():
        of_gradient[traced[places]] = True

    is_forward = ~of_gradient[traced]
    nodes = np.full(len(traced), _NO_NODE, np.int64)
    nodes[is_forward] = builder.nodes_of_stacks(stacks[is_forward])
    dropped = 0
    for forward in sorted(gradients):
        row = ops.row(forward)
        stack = int(ops.stack_ids.array[row]) if row >= 0 else EMPTY_STACK
        if stack > EMPTY_STACK and not of_gradient[row]:
            nodes[gradients[forward]] = builder.node_of_stack(stack, gradient=True)
        else:
            dropped += 1
    placed = nodes != _NO_NODE
    return _in_preorder(builder, traced[placed], nodes[placed], dropped)


def forward_name(name: str) -> str:
    """Name of the forward op if ``name`` belongs to its gradient, else empty.

    The text between the first ``gradients/`` and the first ``_grad/``; if the latter comes
    first, everything after ``gradients/``, as the original has it.
    """
    start = name.find("gradients/")
    end = name.find("_grad/")
    if start < 0 or end < 0:
        return ""
    start += len("gradients/")
    return name[start:end] if end >= start else name[start:]


def _in_preorder(builder: _Builder, rows: Int64Array, nodes: Int64Array, dropped: int) -> CodeTree:
    """Renumber nodes from order of creation to preorder; siblings keep their order."""
    parents = np.array(builder.parents[1:], np.int64)
    children, offsets = spans_of(parents, len(parents) + 1)
    order, above = tree_walks.depth_first(offsets, children + 1, np.zeros(1, np.int64))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    names = tree_walks.taken(builder.names, order)
    return CodeTree(
        Tree.from_parents(above[1:] - 1),  # the walk puts a root above the root
        names,
        [builder.frames[node] for node in order.tolist()],
        Groups.from_keys(rows, position[nodes], len(order)),
        NameRanks(names),
        dropped,
    )
