"""Opened runs: captures and profiles, each read on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfprof.core.columns.once import Once
from tfprof.errors import EmptyProfileError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.captures.run.result import ToolResult
    from tfprof.captures.run.run import Run
    from tfprof.captures.trace.model import TraceModel
    from tfprof.core.columns.stacks import Stacks
    from tfprof.inputs.profiler import Profiler


@dataclass(frozen=True, eq=False)
class Opened:
    """One run: a capture of the TensorFlow 2 profiler, a profile, or one that serves as both.

    Attributes:
        name: Its name in addresses, unique among open runs: a folder of a log folder, or the name
            of a file.
        source: The paths for users, as given.
        run: The captured run; None for others.
        profiler: The profile with its views; None if there can be none.
        precomputed: Results of an older profiler, by tool and host.
        files: Current state of its files; None if they are not watched.
        trace: A trace of another program, which is shown unchanged; None for others.
        stacks: Sampled call stacks of another program; None for others.
        profiler_of_host: The views of one host of a captured run.
        source_roots: Folders whose Python files pages may show lines of, without links.
    """

    name: str
    source: str
    run: Once[Run] | None = None
    profiler: Once[Profiler] | None = None
    precomputed: Mapping[str, Mapping[str, Once[ToolResult]]] = field(default_factory=dict)
    files: Watched | None = None
    trace: Once[TraceModel] | None = None
    stacks: Once[Stacks] | None = None
    profiler_of_host: Callable[[str], Profiler] | None = None
    source_roots: tuple[Path, ...] = ()

    def views(self) -> Profiler:
        """The profile with its views.

        Raises:
            EmptyProfileError: There can be none.
            InputError: It cannot be read.
        """
        if self.profiler is None:
            holds = "sampled call stacks" if self.stacks else "a trace of another program"
            if self.precomputed:
                holds = "results of an older profiler"
            raise EmptyProfileError(
                f"{self.source}: holds {holds}, which tfprof ui shows, and no ops. Give a capture, "
                "a profile or a graph"
            )
        return self.profiler()

    @property
    def has_events(self) -> bool:
        """Whether ``events`` has an answer."""
        return self.run is not None or self.trace is not None

    def events(self) -> TraceModel:
        """The trace of a captured run or of another program.

        Raises:
            UsageError: There is none.
            InputError: It cannot be read.
        """
        from tfprof.captures.trace.from_run import model_of_run

        if self.run is not None:
            return model_of_run(self.run())
        if self.trace is None:
            raise UsageError(f"{self.name} has no trace")
        return self.trace()

    def refresh(self) -> int:
        """Check the files, and drop the data read from them if they have changed.

        Returns:
            How often they have changed since they were opened.

        Raises:
            InputError: One has vanished.
        """
        if self.files is None:
            return 0
        if self.files.have_changed():
            self.forget()
        return self.files.n_changes

    def forget(self) -> None:
        """Drop all data that were read; the next use reads them again."""
        results = [once for hosts in self.precomputed.values() for once in hosts.values()]
        for once in (self.run, self.profiler, self.trace, self.stacks, *results):
            if once is not None:
                once.forget()


class Watched:
    """Files, and their state at the last check.

    Args:
        look: The files as they are now: names, sizes and times. Raises InputError if one has
            vanished.

    Attributes:
        n_changes: Number of changes so far.
    """

    def __init__(self, look: Callable[[], tuple[tuple[str, Hashable], ...]]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._seen: tuple[tuple[str, Hashable], ...] | None = None
        self.n_changes = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files at the last look."""
        return tuple(name for name, _ in self._seen or ())

    def have_changed(self) -> bool:
        """Whether they have changed since the last call; never at the first one."""
        with self._lock:
            before, self._seen = self._seen, self._look()
            is_changed = before is not None and before != self._seen
            self.n_changes += is_changed
            return is_changed


def opened_run(run: Run, source: str = "") -> Opened:
    """A captured run that has been read; its views are made on first use."""
    from tfprof.inputs.profiler import Profiler

    return Opened(
        run.name or "run",
        source or run.name or ", ".join(host.name for host in run.hosts),
        Once(lambda: run),
        Once(lambda: Profiler.from_xspace(run)),
        profiler_of_host=lambda host: Profiler.from_xspace(run, host=host),
    )


def opened_profiler(profiler: Profiler, source: str = "") -> Opened:
    """A profile that has been read."""
    return Opened("profile", source, None, Once(lambda: profiler))
