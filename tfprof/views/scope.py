"""Scope view: ops by the scopes in their names (``a/b/c`` lies in ``a/b``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.model.columns import Int64Array
from tfprof.model.profile import Profile
from tfprof.model.tree import Tree
from tfprof.views.result import NO_OP, ROOT_NAME


@dataclass(frozen=True, slots=True)
class OpTree:
    """A tree whose positions are ops, or scopes that are no ops.

    Attributes:
        tree: The tree; position 0 is the root.
        names: Full name of each position.
        op_rows: Op row of each position, ``NO_OP`` for the root and for plain scopes.
    """

    tree: Tree
    names: list[str]
    op_rows: Int64Array


def build_scope_tree(profile: Profile) -> OpTree:
    """Every op, and a parent for every prefix that ends before a ``/`` and is no op itself.

    Names are taken literally: ``/x`` has the parent with the empty name, ``p//q`` the parents
    ``p/`` and ``p``. Siblings are in byte order.
    """
    ops = profile.ops
    names = [ops.names[name_id] for name_id in ops.name_ids.array.tolist()]
    tree_names = [ROOT_NAME]
    parent = [-1]
    op_rows = [NO_OP]
    # The scopes that the last name lies in, each with the slash behind it, and their positions.
    open_scopes = [""]
    open_positions = [0]
    for row in _rows_in_preorder(names):
        name = names[row]
        while not name.startswith(open_scopes[-1]):
            open_scopes.pop()
            open_positions.pop()
        slash = name.find("/", len(open_scopes[-1]))
        while slash >= 0:
            parent.append(open_positions[-1])
            open_positions.append(len(tree_names))
            open_scopes.append(name[: slash + 1])
            tree_names.append(name[:slash])
            op_rows.append(NO_OP)
            slash = name.find("/", slash + 1)
        parent.append(open_positions[-1])
        open_positions.append(len(tree_names))
        open_scopes.append(name + "/")
        tree_names.append(name)
        op_rows.append(row)
    return OpTree(Tree.from_parents(parent), tree_names, np.array(op_rows, np.int64))


def _rows_in_preorder(names: list[str]) -> list[int]:
    """Rows so that each op stands before what lies in it, and siblings are in byte order.

    That is the order of the names when ``/`` comes before every other character.
    """
    keys: Sequence[str | list[str]] = [name.replace("/", "\0") for name in names]
    if any("\0" in name for name in names):
        keys = [name.split("/") for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)
