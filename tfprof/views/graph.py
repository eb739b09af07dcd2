"""Graph view: ops by data flow, each under the first consumer that leads to it."""

from __future__ import annotations

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.tree import Tree
from tfprof.profiles.model.executions import NO_OP
from tfprof.profiles.model.profile import Profile
from tfprof.views.ordering import NameRanks
from tfprof.views.roots import ROOT_NAME
from tfprof.views.scope import OpTree


def build_graph_tree(profile: Profile, *, classic: bool) -> OpTree:
    """Depth-first tree along the inputs, from the ops that no other op consumes.

    Args:
        profile: The profile.
        classic: Leave out what no such op leads to (pure cycles), as the original does.
            Otherwise the first op of each such component, in byte order, is taken as its top.
    """
    ops = profile.ops
    offsets, producers = ops.input_offsets(), ops.input_rows()
    names = tree_walks.taken(ops.names.values, ops.name_ids.array)
    consumed = np.zeros(len(ops), np.bool_)
    consumed[producers[producers >= 0]] = True
    tops = _by_name(names, ~consumed)
    order, parent = tree_walks.depth_first(offsets, producers, tops)
    if len(order) < len(ops) and not classic:
        missed = np.ones(len(ops), np.bool_)
        missed[order] = False
        tops = np.concatenate([tops, _by_name(names, missed)])
        order, parent = tree_walks.depth_first(offsets, producers, tops)
    tree_names = [ROOT_NAME, *tree_walks.taken(names, order)]
    op_rows = np.concatenate([[NO_OP], order])
    return OpTree(Tree.from_parents(parent), tree_names, op_rows, NameRanks(tree_names))


def _by_name(names: list[str], chosen: BoolArray) -> Int64Array:
    """Some rows in byte order of their names."""
    rows = np.flatnonzero(chosen)
    sorted_rows: Int64Array = rows[tree_walks.name_order(tree_walks.taken(names, rows))]
    return sorted_rows
