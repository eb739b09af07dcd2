"""What commands share when they are typed into the shell: a profiler, and options to start from."""

from __future__ import annotations

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
    """

    profiler: Profiler
    defaults: dict[str, Any] = field(default_factory=dict)


def current_session() -> Session | None:
    """The session in which the running command was typed, or None."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_object(Session)
