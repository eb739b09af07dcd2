"""What commands share when they are typed into the shell: a profiler, and options to start from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tfprof.api import Profiler


@dataclass(slots=True)
class Session:
    """A session of the shell.

    Attributes:
        profiler: What commands look at when they name no files.
        defaults: Values of options that the user has set, by name, as click takes them.
        told: Remarks on the data that have been made.
    """

    profiler: Profiler
    defaults: dict[str, Any] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)


def current_session() -> Session | None:
    """The session in which the running command was typed, or None."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_object(Session)


def untold(remarks: Iterable[str]) -> list[str]:
    """Those of the remarks that the running session, if there is one, has not made before."""
    session = current_session()
    if session is None:
        return list(remarks)
    fresh = [remark for remark in remarks if remark not in session.told]
    session.told.update(fresh)
    return fresh
