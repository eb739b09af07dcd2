"""Graph view: ops by data flow, each under the first consumer that leads to it."""

from __future__ import annotations

import numpy as np

from tfprof.model.columns import Int64Array
from tfprof.model.profile import Profile
from tfprof.model.tree import Tree
from tfprof.views.result import NO_OP, ROOT_NAME
from tfprof.views.scope import OpTree


def build_graph_tree(profile: Profile, *, classic: bool) -> OpTree:
    """Depth-first tree from the ops that nobody consumes along the inputs.

    Args:
        profile: The profile.
        classic: Leave out what no such op leads to (pure cycles), as the original does.
            Otherwise the first op of each such component, in byte order, is taken as its top.
    """
    ops = profile.ops
    n_ops = len(ops)
    producers = ops.input_rows()
    names = [ops.names[name_id] for name_id in ops.name_ids.array.tolist()]
    by_name = ops.rows_by_name()
    consumed = np.zeros(n_ops, np.bool_)
    consumed[producers[producers >= 0]] = True
    tops = by_name[~consumed[by_name]].tolist()
    if not classic:
        tops += by_name[consumed[by_name]].tolist()

    order, parent = _depth_first(ops.input_offsets(), producers, tops)
    op_rows = np.array([NO_OP, *order], np.int64)
    tree_names = [ROOT_NAME] + [names[row] for row in order]
    return OpTree(Tree.from_parents(parent), tree_names, op_rows)


def _depth_first(
    offsets: Int64Array, producers: Int64Array, tops: list[int]
) -> tuple[list[int], list[int]]:
    """Preorder of a depth-first walk that visits each op once.

    A stack of (op, position of its consumer) stands in for recursion: an op is claimed when it
    is taken from the stack, so it hangs under the consumer that recursion would reach it from.

    Returns:
        Ops in preorder, and for the root and each op the position of its parent.
    """
    known = producers >= 0
    bounds = np.concatenate([[0], np.cumsum(known)])[offsets]
    # A stack hands out last what it was given first, so inputs are kept from last to first.
    inputs = producers[known][::-1].tolist()
    first = (len(inputs) - bounds[1:]).tolist()
    stop = (len(inputs) - bounds[:-1]).tolist()
    visited = bytearray(len(first))
    order: list[int] = []
    parent = [-1]
    pending: list[int] = []
    consumers: list[int] = []
    for top in tops:
        if visited[top]:
            continue
        pending.append(top)
        consumers.append(0)
        while pending:
            op = pending.pop()
            consumer = consumers.pop()
            if visited[op]:
                continue
            visited[op] = 1
            order.append(op)
            parent.append(consumer)
            below = inputs[first[op] : stop[op]]
            if below:
                pending += below
                consumers += [len(order)] * len(below)
    return order, parent
