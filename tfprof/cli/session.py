"""What commands share when they are typed into the shell: a profiler, and options to start from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tfprof.cli.captures import CapturedRuns
    from tfprof.profiler import Profiler


class Session:
    """A session of the shell.

    Args:
        open_profiler: Makes the profiler; called when it is first needed.
        defaults: Values of options to start from, by name, as click takes them.
        captures: What the TensorFlow 2 profiler has captured, if the session was opened with that.

    Attributes:
        defaults: Values of options that the user has set.
        captures: The same.
        told: Remarks on the data that have been made.
    """

    def __init__(
        self,
        open_profiler: Callable[[], Profiler],
        defaults: Mapping[str, Any],
        captures: CapturedRuns | None = None,
    ) -> None:
        self._open = open_profiler
        self.defaults = dict(defaults)
        self.captures = captures
        self.told: set[str] = set()

    @cached_property
    def profiler(self) -> Profiler:
        """What commands look at when they name no files."""
        return self._open()


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
