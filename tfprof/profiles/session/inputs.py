"""Keeps a profile up to date with its graph: new ops, call stacks, shapes, float operations.

It replaces ``tensorflow/python/profiler/tfprof_logger.py``, which rebuilds all of this for every
step; here only new ops cost time. The user's graph and op log do not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.core.columns.frames import NO_STACK
from tfprof.graphs.live.live_graph import call_stacks, live_graph, trainable_variables
from tfprof.graphs.live.registered_statistics import mark_functions, user_registered_flops
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.graphs.read.graphdef import read_graph
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import KnownNames
from tfprof.profiles.read.oplog import read_op_log
from tfprof.profiles.read.run_metadata import read_run_metadata
from tfprof.profiles.session.float_op_counts import FloatOpCounts, RunTimeShapes

if TYPE_CHECKING:
    from tfprof.files.open import Source
    from tfprof.graphs.model.program import Program


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


class OpLogEntries:
    """Adds entries of an op log to a profile as soon as it has their ops.

    Args:
        profile: The profile.
        log: The entries.
        wait: Keep the entries of unknown ops for later; else they are dropped.

    Attributes:
        waiting: Entries whose ops are not known yet.
    """

    def __init__(self, profile: Profile, log: OpLogColumns, *, wait: bool) -> None:
        self.waiting = log
        self._profile = profile
        self._wait = wait
        self._n_ops_seen = 0
        self._marked: set[tuple[str, str]] = set()

    def apply(self) -> None:
        """Add the entries whose ops are known now."""
        log, ops = self.waiting, self._profile.ops
        if not log.names or len(ops) == self._n_ops_seen:
            return
        self._n_ops_seen = len(ops)
        is_known = (ops.rows(log.names) >= 0).tolist()
        if any(is_known):
            self._profile.add_op_log(log.select(is_known))
        self.waiting = log.select([self._wait and not known for known in is_known])

    def mark(self, names: Sequence[str], type_name: str) -> None:
        """Give the ops of these names a type, also those that are added later."""
        new = [name for name in names if (name, type_name) not in self._marked]
        self._marked.update((name, type_name) for name in new)
        self.waiting.names.extend(new)
        self.waiting.types.extend([(type_name,)] * len(new))
        self.waiting.float_ops.extend([0] * len(new))
        self.waiting.stack_ids.extend([NO_STACK] * len(new))
        self._n_ops_seen = -1  # look again, even without new ops
        self.apply()


class GraphSource:
    """The graph, the op log and the runs of a profile.

    Args:
        profile: The profile, to which the graph and the op log are added at once.
        graph: A live graph or an argument for ``read_graph``, or None.
        op_log: An argument for ``read_op_log``, or None.
        one_shot: At most one run will follow, before any view. The original then has the run's
            shapes when it reads the graph, and classic mode shows them.
        trainable: Mark the ops that hold trainable variables.

    Attributes:
        log: The op log.
        flops: Float operations of the ops.
    """

    def __init__(
        self,
        profile: Profile,
        graph: Any,
        op_log: Source | None,
        *,
        one_shot: bool = False,
        trainable: bool = True,
    ) -> None:
        live = None if graph is None else live_graph(graph)
        columns = None if graph is None or live is not None else read_graph(graph)
        is_loaded = len(profile.ops) > 0
        # An op log wins over counted float operations and over call stacks of a live graph.
        log = OpLogColumns() if op_log is None else read_op_log(op_log)
        # The original has neither formulas nor run-time shapes for a graph that is not live, and
        # matches the entries of an op log only once.
        is_complete = one_shot or not profile.classic
        wants_shapes = live is not None or not profile.classic
        self._profile = profile
        self._waits_for_ops = is_complete
        self._can_mark = not (profile.classic and is_loaded)
        self._live = None if live is None else LiveOps(live, profile, trainable=trainable)
        self.log = OpLogEntries(profile, log, wait=is_complete)
        self._shapes = RunTimeShapes(profile, wanted=wants_shapes, shown=is_complete)
        self.flops = FloatOpCounts(profile, log, self._shapes, is_live=live is not None)
        self._version_read = _UNREAD

        if columns is not None:
            profile.add_graph(columns)
            if trainable and columns.trainable_variables:
                profile.add_trainable_variables(columns.trainable_variables)
        self.update()
        self.log.apply()

    @property
    def is_live(self) -> bool:
        """Whether the graph belongs to a running program."""
        return self._live is not None

    @property
    def is_behind(self) -> bool:
        """Whether a live graph has changed since its ops were read."""
        return self._live is not None and self._live.is_behind

    def update(self) -> None:
        """Read the ops that a live graph gained since the last call."""
        registered = None
        if self._live is not None and self._live.is_behind:
            registered = self._live.read_ops()
        if self._waits_for_ops:
            self.log.apply()
        if self._version_read != self._profile.graph_version:
            # Ops that only a run has named have no formula: their type is their own name.
            self._version_read = self._profile.graph_version
            self._shapes.extend()
            self.flops.count_new_ops()
        if registered is not None:
            self.flops.register(registered)

    def add_traces(self) -> None:
        """Record where the ops of a live graph were made; done only when a view needs it."""
        if self._live is not None:
            self._live.read_call_stacks()

    def add_run(self, step: int, run_meta: Source) -> bool:
        """Add the run metadata of a step; False if they hold no step stats.

        Raises:
            InputError: They cannot be read, are something else or are broken.
        """
        self.update()
        run = read_run_metadata(run_meta, self._known_names())
        if run is None:
            return False
        self.flops.n_runs += 1
        if self._shapes.complete(run):
            self.flops.count_again()
        self._profile.add_run(step, run)
        self.update()
        return True

    def mark(self, names: Sequence[str], type_name: str) -> None:
        """Give the ops of these names a type, also those that are added later.

        The original does this for a graph, but not for a loaded profile.
        """
        if self._can_mark:
            self.log.mark(names, type_name)

    def program(self) -> Program:
        """The graph with its functions, and the shapes that runs have shown."""
        self.update()
        return self.flops.program()

    def _known_names(self) -> KnownNames:
        is_op = np.append(self._profile.ops.row_of_name.array >= 0, np.False_)
        find = self._profile.ops.names.find_texts
        return KnownNames(find, is_op, self._shapes.wanted_names(), self._shapes.seen.take_new)
