"""The profilers of a recording: one for each graph, so that call stacks never mix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfprof.inputs.profiler import Profiler

_MOST_WAITING_BYTES = 32 << 20


class GraphProfile:
    """The traced runs of one graph.

    Runs wait as bytes until the profiler is needed or they become too many: reading the graph and
    the first run takes longer than a short training step.

    Args:
        graph: The live graph.
        classic: As for ``Profiler``.
        report: Called with the step and the error of each run that cannot be read.
    """

    def __init__(
        self, graph: Any, classic: bool | None, report: Callable[[int, Exception], None]
    ) -> None:
        self.graph = graph
        self._classic = classic
        self._report = report
        self._lock = threading.RLock()
        self._profiler: Profiler | None = None
        self._waiting: list[tuple[int, bytes]] = []

    def add(self, step: int, run_metadata: bytes) -> None:
        """Add a traced run."""
        with self._lock:
            self._waiting.append((step, run_metadata))
            if sum(len(data) for _, data in self._waiting) > _MOST_WAITING_BYTES:
                self.profiler()

    def profiler(self) -> Profiler:
        """The profiler, with all runs so far."""
        with self._lock:
            if self._profiler is None:
                self._profiler = Profiler(self.graph, classic=self._classic)
            waiting, self._waiting = self._waiting, []
            for step, data in waiting:
                try:
                    self._profiler.add_step(step, data)
                except Exception as error:  # the user's program goes on without this step
                    self._report(step, error)
            return self._profiler


class GraphProfiles:
    """The profiles by graph, in the order of their first runs.

    Arguments as for ``GraphProfile``.
    """

    def __init__(self, classic: bool | None, report: Callable[[int, Exception], None]) -> None:
        self._classic = classic
        self._report = report
        self._lock = threading.Lock()
        self._by_id: dict[int, GraphProfile] = {}  # each keeps its graph, so ids stay unique

    def of(self, graph: Any) -> GraphProfile:
        """The profile of a graph, made if it is new."""
        with self._lock:
            profile = self._by_id.get(id(graph))
            if profile is None:
                profile = self._by_id[id(graph)] = GraphProfile(graph, self._classic, self._report)
            return profile

    def coverage(self, graph: Any) -> float:
        """Share of the graph's ops that were seen running, 0 to 1."""
        return self.of(graph).profiler().coverage

    def all(self) -> list[GraphProfile]:
        """All profiles, oldest first."""
        with self._lock:
            return list(self._by_id.values())
