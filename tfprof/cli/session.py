"""The state that commands in a shell share: a profiler, and options that the user has set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from tfprof.cli.fleet_options import Reading, read_hosts

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.inputs.profiler import Profiler


class CapturedRuns:
    """The runs in some paths; each is read once, when it is first needed.

    Args:
        paths: A log folder, a run folder, or the files of a run.
        reading: How hosts are read.
    """

    def __init__(self, paths: Sequence[str], reading: Reading = (None, None)) -> None:
        self.paths, self._reading = tuple(paths), reading
        self._read: dict[str | None, Run] = {}

    def run(self, name: str | None = None) -> Run:
        """A run by its name; None is the latest. Errors are those of ``read_for``."""
        if name not in self._read:
            self._read[name] = read_hosts(self.paths, name, self._reading)
        return self._read[name]


class Session:
    """A session of the shell.

    Args:
        open_profiler: Makes the profiler; called when it is first needed.
        defaults: Values of options at the start, by name, as click takes them; ``set`` and
            ``reset`` change them.
        captures: The captures with which the session was opened; None if there are none.

    Attributes:
        shown_remarks: Remarks on the data that were shown already.
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
        self.shown_remarks: set[str] = set()

    @cached_property
    def profiler(self) -> Profiler:
        """The profiler for commands that name no files."""
        return self._open()


def current_session() -> Session | None:
    """The session in which the running command was typed, or None."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_object(Session)


def new_remarks(remarks: Iterable[str]) -> list[str]:
    """The remarks that the running session has not shown yet; all of them without a session."""
    session = current_session()
    if session is None:
        return list(remarks)
    fresh = [remark for remark in remarks if remark not in session.shown_remarks]
    session.shown_remarks.update(fresh)
    return fresh
