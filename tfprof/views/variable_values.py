"""Values of variables that a view is asked for and cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.options.parse import ProfileOptions
from tfprof.profiles.model.profile import Profile

SELECT = "tensor_value"


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
