"""Values of the variables that a view shows."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.files.checkpoint.variable_values import VariableValue
from tfprof.options.parse import ProfileOptions
from tfprof.profiles.model.profile import Profile
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


def note_strange_values(profile: Profile, options: ProfileOptions, names: Sequence[str]) -> None:
    """Remark that values are wanted, and no row that a view can have is of such a variable.

    Args:
        profile: Gets a notice.
        options: The options of the view.
        names: Names of all rows, shown or not.
    """
    source = profile.variable_values
    if options.classic or source is None or SELECT not in options.select:
        return
    profile.notices.set(
        "values-of-others",
        "no op has the name of a variable of the checkpoint, so there are no values to show; "
        "tfprof checkpoint lists its variables",
        count=int(set(source.names()).isdisjoint(names)),
    )
