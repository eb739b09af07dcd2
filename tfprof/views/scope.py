"""Scope view: ops by the scopes in their names (``a/b/c`` lies in ``a/b``)."""

from __future__ import annotations

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
    row_of = {ops.names[name_id]: row for row, name_id in enumerate(ops.name_ids.array.tolist())}
    names = set(row_of)
    orphans = names
    while orphans:
        orphans = {name[: name.rfind("/")] for name in orphans if "/" in name} - names
        names |= orphans
    ordered = sorted(names, key=_scope_key(names))
    position_of = {name: position for position, name in enumerate(ordered, start=1)}
    parent = [-1]
    parent += [position_of[name[: name.rfind("/")]] if "/" in name else 0 for name in ordered]
    op_rows = [NO_OP] + [row_of.get(name, NO_OP) for name in ordered]
    return OpTree(Tree.from_parents(parent), [ROOT_NAME, *ordered], np.array(op_rows, np.int64))


def _scope_key(names: set[str]):  # type: ignore[no-untyped-def]
    """Sort key that gives preorder: ``/`` comes before every other character."""
    if any("\0" in name for name in names):
        return lambda name: tuple(name.split("/"))
    return lambda name: name.replace("/", "\0")
