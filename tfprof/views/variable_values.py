"""Notes that a view has no row for the selected values of variables."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.options.parse import ProfileOptions
from tfprof.profiles.model.profile import Profile

SELECT = "tensor_value"


def note_strange_values(profile: Profile, options: ProfileOptions, names: Sequence[str]) -> None:
    """Add a notice if values are selected, but no row, shown or not, is a variable with values."""
    source = profile.variable_values
    if options.classic or source is None or SELECT not in options.select:
        return
    profile.notices.set(
        "values-of-others",
        "no op has the name of a variable of the checkpoint, so there are no values to show; "
        "tfprof checkpoint lists its variables",
        count=int(set(source.names()).isdisjoint(names)),
    )
