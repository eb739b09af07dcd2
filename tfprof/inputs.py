"""Keeps a profile in step with the graph it was made from."""

from __future__ import annotations

from typing import Any

from tfprof.model.profile import Profile
from tfprof.readers.graphdef import read_graph
from tfprof.readers.oplog import read_op_log


def default_graph() -> Any:
    return None


class GraphSource:
    def __init__(self, profile: Profile, graph: Any, op_log: Any) -> None:
        self._profile = profile
        if graph is not None:
            profile.add_graph(read_graph(graph))
        if op_log is not None:
            profile.add_op_log(read_op_log(op_log))

    def update(self) -> None: ...
    def add_traces(self) -> None: ...
    def ops_without_shapes(self) -> frozenset[str]:
        return frozenset()

    def complete_shapes(self, shapes: Any) -> None: ...
