"""Scope view: ops by the scopes in their names (``a/b/c`` lies in ``a/b``)."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.tree import Tree
from tfprof.profiles.model.profile import Profile
from tfprof.views.ordering import NameRanks
from tfprof.views.roots import ROOT_NAME


@dataclass(frozen=True, slots=True)
class OpTree:
    """A tree whose positions are ops, or scopes that are no ops.

    Attributes:
        tree: The tree; position 0 is the root.
        names: Full name of each position.
        op_rows: Op row of each position, ``NO_OP`` for the root and for plain scopes.
        ranks: Ranks of the names.
    """

    tree: Tree
    names: list[str]
    op_rows: Int64Array
    ranks: NameRanks


def build_scope_tree(profile: Profile) -> OpTree:
    """Every op, and a parent for every prefix that ends before a ``/`` and is no op itself.

    Names are taken literally: ``/x`` has the parent with the empty name, ``p//q`` the parents
    ``p/`` and ``p``. Siblings are in byte order.
    """
    ops = profile.ops
    names = tree_walks.taken(ops.names.values, ops.name_ids.array)
    tree_names, parent, op_rows = tree_walks.scopes(names, ROOT_NAME)
    return OpTree(Tree.from_parents(parent), tree_names, op_rows, NameRanks(tree_names))
