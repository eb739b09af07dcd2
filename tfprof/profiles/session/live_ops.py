"""The ops of a live graph, read as they are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfprof.graphs.live.live_graph import call_stacks, trainable_variables
from tfprof.graphs.live.registered_statistics import mark_functions, user_registered_flops
from tfprof.graphs.read.graphdef import read_graph
from tfprof.profiles.model.profile import Profile

_UNREAD = -1


class LiveOps:
    """Adds the ops of a live graph to a profile, each only once.

    Call stacks, which take longer, are read separately.

    Args:
        graph: A ``tf.Graph`` or something like it.
        profile: The profile.
        trainable: Mark the ops that hold trainable variables.
    """

    def __init__(self, graph: Any, profile: Profile, *, trainable: bool) -> None:
        self._graph = graph
        self._profile = profile
        self._trainable = trainable
        self._version_read = _UNREAD
        self._stacks_read = 0

    @property
    def is_behind(self) -> bool:
        """Whether the graph has ops that were not read."""
        return bool(self._graph.version != self._version_read)

    def read_ops(self) -> Mapping[str, int]:
        """Read what is new.

        Returns:
            Float operations that formulas of the program give the new ops, by name.
        """
        graph, profile = self._graph, self._profile
        version, n_known = graph.version, len(profile.ops)
        since = None if self._version_read == _UNREAD else self._version_read
        graph_def = graph.as_graph_def(from_version=since, add_shapes=True)
        if not profile.classic:
            mark_functions(graph_def.library.function)
        profile.add_graph(read_graph(graph_def))
        self._version_read = version
        operations = graph.get_operations()
        rows = profile.ops.rows([op.name for op in operations]).tolist()
        new = [op for op, row in zip(operations, rows, strict=True) if row >= n_known]
        if self._trainable:
            names = {op.name for op in new}.intersection(trainable_variables(graph))
            profile.add_trainable_variables(sorted(names))
        return user_registered_flops(graph, new) if new else {}

    def read_call_stacks(self) -> None:
        """Record where the ops were made."""
        operations: Sequence[Any] = self._graph.get_operations()
        new = operations[self._stacks_read :]
        if new:
            self._profile.add_op_log(call_stacks(new))
            self._stacks_read = len(operations)
