"""Values of the variables that a view shows."""

from __future__ import annotations

from tfprof.model.variable_values import VariableValue
from tfprof.views.result import ViewTree

SELECT = "tensor_value"


def shows_values(tree: ViewTree) -> bool:
    """Whether a view shows values: they are selected, there are some, and rows are ops."""
    return (
        SELECT in tree.options.select
        and tree.kind in ("scope", "graph")
        and tree.profile.variable_values is not None
    )


def value_of_row(tree: ViewTree, row: int) -> VariableValue | None:
    """The variable that has the name of a row, read once for each view; None if there is none.

    Raises:
        InputError: It can not be read.
    """
    source = tree.profile.variable_values
    if source is None:
        return None
    known = tree._caches.setdefault("variable_values", {})
    assert isinstance(known, dict)
    name = tree.names[row]
    if name not in known:
        known[name] = source.value(name)
    value: VariableValue | None = known[name]
    return value
