"""Keeps a profile in step with the graph it belongs to: new ops, call stacks, shapes, FLOPs.

It stands in for ``tensorflow/python/profiler/tfprof_logger.py``, which rebuilds all of this for
every step; here each step costs only what is new. The user's graph and op log stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.columns import BoolArray, Int64Array
from tfprof.columns.frames import NO_STACK
from tfprof.columns.shapes import OutputShapes, is_fully_defined, merge_outputs
from tfprof.graphs.live.live_graph import call_stacks, live_graph, trainable_variables
from tfprof.graphs.live.registered_statistics import mark_functions, user_registered_flops
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.graphs.read.graphdef import read_graph
from tfprof.profiles.float_ops.registered_flops import count_registered_flops
from tfprof.profiles.model.ops import in_64_bits
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import KnownNames, RunColumns
from tfprof.profiles.read.oplog import read_op_log
from tfprof.profiles.read.run_metadata import read_run_metadata
from tfprof.profiles.read.run_shapes import SeenShapes
from tfprof.wire.text_index import TextIndex

if TYPE_CHECKING:
    from tfprof.files.open import Source
    from tfprof.graphs.model.program import Program
    from tfprof.profiles.float_ops.profile_flops import OpFlops

_INCOMPLETE = (
    "ops have no float operations in this report, because a shape they depend on is not fully "
    "known; add a step with run metadata, or give the graph static shapes"
)


class GraphSource:
    """The graph and op log of a profile.

    Args:
        profile: The profile to fill; the graph and the op log go in at once.
        graph: A live graph or anything that ``read_graph`` takes, or None.
        op_log: Anything that ``read_op_log`` takes, or None.
        one_shot: One run at most will follow, before any view: then the original knows its
            shapes when it reads the graph, and classic mode shows them.
        trainable: Mark the ops that hold trainable variables.

    Attributes:
        pending: Entries of the op log whose ops are not known yet.
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
        self._profile = profile
        self._live = None if graph is None else live_graph(graph)
        self._names = TextIndex()
        self._live_version = -1
        self._n_traced = 0
        self._marks_trainable = trainable
        # The original has neither formulas nor run-time shapes for a graph that is not live.
        self._wants_shapes = self._live is not None or not profile.classic
        self._shapes_into_table = one_shot or not profile.classic
        self._shape_ids: Int64Array = np.zeros(0, np.int64)
        # Ops that are there already, of a loaded profile, keep the float operations they have.
        self._n_given = self._n_counted = len(profile.ops)
        self._counted_version = -1
        self._counted_state: tuple[int, ...] = ()
        self._shapes_version = 0
        self._wanted: BoolArray = np.zeros(0, np.bool_)
        self._wanted_state: tuple[int, ...] = ()
        self._seen_shapes = SeenShapes()
        self._n_runs = 0
        self._has_control_flow = True  # until it is known
        self._incomplete: set[int] = set()
        self._given: Int64Array = np.zeros(0, np.int64)
        self._given_state = -1
        self._registered: dict[str, int] = {}

        if self._live is None and graph is not None:
            columns = read_graph(graph)
            profile.add_graph(columns)
            if trainable and columns.trainable_variables:
                profile.add_trainable_variables(columns.trainable_variables)
        # A given op log comes first: its call stacks and float operations win.
        self.pending = OpLogColumns() if op_log is None else read_op_log(op_log)
        # The original looks only once whether it knows the ops of an op log.
        self._waits_for_ops = one_shot or not profile.classic
        self._n_looked_up = 0
        self._marked: set[tuple[str, str]] = set()
        pairs = zip(self.pending.names, self.pending.float_ops, strict=True)
        # In the order of the log, which is mostly that of the graph: looked up sooner than a set.
        self._given_flops = list(dict.fromkeys(name for name, flops in pairs if flops))
        self.update()
        self._add_op_log()
        if graph is not None:
            self._index_names()  # with the graph, not in the first step

    @property
    def is_behind(self) -> bool:
        """Whether a live graph has changed since its ops were taken up."""
        return self._live is not None and self._live.version != self._live_version

    def update(self) -> None:
        """Take up the ops that a live graph gained since the last call."""
        operations: Sequence[Any] = ()
        if self.is_behind:
            operations = self._add_live_ops()
        if self._waits_for_ops:
            self._add_op_log()
        if self._counted_version != self._profile.graph_version:
            # Ops that only a run has named have no formula: their type is their own name.
            self._counted_version = self._profile.graph_version
            self._extend_shape_ids()
            self._count_classic(range(self._n_counted, len(self._profile.ops)))
            self._n_counted = len(self._profile.ops)
        if operations:
            self._registered |= user_registered_flops(self._live, operations)
            if self._profile.classic:
                self._set_flops(self._rows_of(self._registered))

    def count_flops(self) -> None:
        """Count the float operations of all ops, if something has changed that they depend on.

        In classic mode they are counted as soon as ops come, as in the original.
        """
        profile = self._profile
        if profile.classic or len(profile.ops) == self._n_given:
            return
        state: tuple[int, ...] = (profile.graph_version, self._shapes_version, len(profile.ops))
        if self._has_control_flow:
            state += (self._n_runs,)  # runs tell how often loops ran
        if state != self._counted_state:
            # All formulas take 80 ms to import; many views show no float operations.
            from tfprof.profiles.float_ops.profile_flops import count_profile_flops
            from tfprof.profiles.read.profile_program import program_of_ops

            given = self._given_flops_by_row()
            program = program_of_ops(profile.ops, given, keep_names=False)
            found = count_profile_flops(program, profile)
            self._has_control_flow = found.has_control_flow
            self._counted_state = state if found.has_control_flow else state[:3]
            self._take_over(found)

    def _take_over(self, found: OpFlops) -> None:
        """Write counts into the profile; those of a loaded profile and of an op log stay."""
        ops, notices = self._profile.ops, self._profile.notices
        own = np.arange(len(ops)) >= self._n_given
        own[self._given_rows()] = False
        np.copyto(ops.float_ops.array, found.flops, where=own)
        np.copyto(ops.static_runs.array, found.runs, where=own)
        self._set_flops(self._rows_of(self._registered))
        notices.set("incomplete-shape", _INCOMPLETE, found.n_incomplete)
        notices.set(
            "no-formula",
            "ops have no float operations in this report, because nobody knows what they compute "
            f"({', '.join(sorted(found.without_formula)[:5])}); see tfprof.register_flops",
            sum(found.without_formula.values()),
        )

    def program(self) -> Program:
        """The graph with its functions, and the shapes that runs have shown.

        What an op log or a saved profile tells of float operations, but not of multiply-adds,
        counts only for ops that nobody else can count: a saved profile has no functions.
        """
        from tfprof.graphs.flops.registry import all_formulas
        from tfprof.profiles.read.profile_program import program_of_ops

        self.update()
        ops, registered = self._profile.ops, self._rows_of(self._registered)
        formulas, free = all_formulas()
        types = [ops.strings[op_id] for op_id in ops.op_ids.array.tolist()]
        saved = ops.float_ops.array[: self._n_given]
        given = {row: int(saved[row]) for row in np.flatnonzero(saved).tolist()}
        told = {
            row: count
            for row, count in (given | self._given_flops_by_row()).items()
            if row in registered or not (types[row] in formulas or types[row] in free)
        }
        return program_of_ops(ops, told)

    def _given_flops_by_row(self) -> dict[int, int]:
        """Float operations that an op log or a formula of the program has told."""
        ops = self._profile.ops
        rows = self._given_rows()
        given = dict(zip(rows.tolist(), ops.float_ops.array[rows].tolist(), strict=True))
        registered = self._rows_of(self._registered)
        return {row: count for row, count in registered.items() if row >= 0} | given

    def _given_rows(self) -> Int64Array:
        """Rows of the ops whose float operations an op log has told."""
        ops = self._profile.ops
        if self._given_state != len(ops):
            ids = [ops.names.ids.get(name, -1) for name in self._given_flops]
            rows = np.append(ops.row_of_name.array, -1)[np.array(ids, np.int64)]
            self._given, self._given_state = rows[rows >= 0], len(ops)
        return self._given

    def _rows_of(self, counts: Mapping[str, int]) -> dict[int, int]:
        return {self._profile.ops.row(name): count for name, count in counts.items()}

    def add_traces(self) -> None:
        """Record where the ops of a live graph were made; done only when a view needs it."""
        if self._live is None:
            return
        operations = self._live.get_operations()
        fresh = operations[self._n_traced :]
        if fresh:
            self._profile.add_op_log(call_stacks(fresh))
            self._n_traced = len(operations)

    def add_run(self, step: int, run_meta: Source) -> bool:
        """Add the run metadata of a step; False if they hold no step stats.

        Raises:
            InputError: They can not be read, are something else or are broken.
        """
        self.update()
        run = read_run_metadata(run_meta, self.known_names())
        if run is None:
            return False
        self._n_runs += 1
        self.complete_shapes(run.output_shapes)
        if not self._profile.classic:
            self.complete_shapes(self._fed(run))
        self._profile.add_run(step, run)
        self.update()
        return True

    def known_names(self) -> KnownNames:
        """What a reader of run metadata should know of the ops."""
        ops = self._profile.ops
        is_op = np.append(ops.row_of_name.array >= 0, np.False_)
        self._index_names()
        wanted = self._names_without_shapes()
        return KnownNames(self._names.find, is_op, wanted, self._seen_shapes.take_new)

    def _index_names(self) -> None:
        """Make the names that are new known to the index that runs are looked up in."""
        self._names.extend(self._profile.ops.names.values[len(self._names) :])

    def _names_without_shapes(self) -> BoolArray:
        """Which names belong to ops whose output shapes a run could tell, by name id."""
        ops = self._profile.ops
        state = (len(ops), len(ops.names), self._shapes_version)
        if state == self._wanted_state:
            return self._wanted
        wanted = np.zeros(len(ops.names) + 1, np.bool_)  # the last one is for unknown names
        self._wanted, self._wanted_state = wanted, state
        if self._wants_shapes:
            self._extend_shape_ids()
            defined = [is_fully_defined(shape) for shape in ops.shapes.shapes.values]
            lists = ops.shapes.lists.values
            partial = [not all(defined[shape_id] for shape_id in shapes) for shapes in lists]
            wanted[ops.name_ids.array] = np.array([*partial, True])[self._shape_ids]
        return wanted

    def complete_shapes(self, seen: Iterable[tuple[int, OutputShapes]]) -> None:
        """Fill in shapes that a run has shown, by name id, and count what becomes countable."""
        ops = self._profile.ops
        changed = False
        contradicting: set[int] = set()
        for name_id, shown in seen:
            row = int(ops.row_of_name.array[name_id])
            static = ops.shapes.list_of(int(self._shape_ids[row]))
            merged, contradicts = merge_outputs(static, shown, classic=self._profile.classic)
            if contradicts:
                contradicting.add(row)
            if merged != static:
                self._shape_ids[row] = ops.shapes.intern_list(merged)
                changed = True
        self._profile.notices.add(
            "contradicting-shape",
            "ops ran with output shapes that contradict those of the graph; the graph's are kept",
            len(contradicting),
        )
        if changed:
            if self._shapes_into_table:
                ops.output_shapes_ids.array[: len(self._shape_ids)] = self._shape_ids
            self._shapes_version += 1
            self._count_classic(range(self._n_given, len(ops)))

    def _fed(self, run: RunColumns) -> Iterator[tuple[int, OutputShapes]]:
        """Shapes that a session was fed, by name id."""
        ops = self._profile.ops
        for (name, output), shape in run.fed_shapes.items():
            row = ops.row(name)
            if row >= 0:
                yield int(ops.name_ids.array[row]), ((output, shape),)

    def _add_op_log(self) -> None:
        """Apply the entries of the op log whose ops are known by now."""
        log = self.pending
        ops = self._profile.ops
        if not log.names or len(ops) == self._n_looked_up:
            return
        self._n_looked_up = len(ops)
        known = [ops.row(name) >= 0 for name in log.names]
        if any(known):
            self._profile.add_op_log(log.select(known))
        waiting = [not k for k in known] if self._waits_for_ops else [False] * len(known)
        self.pending = log.select(waiting)

    def mark(self, names: Sequence[str], type_name: str) -> None:
        """Give the ops of these names a type: those that are there, and those that will come.

        The original does this for a graph, and not for a profile that was loaded.
        """
        if self._profile.classic and self._n_given:
            return
        fresh = [name for name in names if (name, type_name) not in self._marked]
        self._marked.update((name, type_name) for name in fresh)
        self.pending.names.extend(fresh)
        self.pending.types.extend([(type_name,)] * len(fresh))
        self.pending.float_ops.extend([0] * len(fresh))
        self.pending.stack_ids.extend([NO_STACK] * len(fresh))
        self._n_looked_up = -1
        self._add_op_log()

    def _add_live_ops(self) -> Sequence[Any]:
        """Read what is new in the live graph; returns those operations."""
        graph: Any = self._live
        version = graph.version
        known = len(self._profile.ops)
        since = self._live_version if self._live_version >= 0 else None
        graph_def = graph.as_graph_def(from_version=since, add_shapes=True)
        if not self._profile.classic:
            mark_functions(graph_def.library.function)
        self._profile.add_graph(read_graph(graph_def))
        self._live_version = version
        fresh = [op for op in graph.get_operations() if self._profile.ops.row(op.name) >= known]
        if self._marks_trainable:
            trainable = {op.name for op in fresh}.intersection(trainable_variables(graph))
            self._profile.add_trainable_variables(sorted(trainable))
        return fresh

    def _extend_shape_ids(self) -> None:
        known = len(self._shape_ids)
        if known < len(self._profile.ops):
            new = self._profile.ops.output_shapes_ids.array[known:]
            self._shape_ids = np.concatenate([self._shape_ids, new])

    def _count_classic(self, rows: range) -> None:
        """Count by TensorFlow's registered formulas, which know live graphs only."""
        if not self._profile.classic or self._live is None or not rows:
            return
        counts, incomplete = count_registered_flops(self._profile.ops, self._shape_ids, list(rows))
        self._set_flops(counts)
        self._incomplete.difference_update(rows)
        self._incomplete.update(incomplete)
        self._profile.notices.set("incomplete-shape", _INCOMPLETE, len(self._incomplete))

    def _set_flops(self, counts: Mapping[int, int]) -> None:
        """Write counts by row; those of an op log stay."""
        float_ops = self._profile.ops.float_ops.array
        given = set(self._given_rows().tolist()) if counts else ()
        for row, count in counts.items():
            if row >= 0 and row not in given:
                float_ops[row] = in_64_bits(count)
        self._profile.version += 1
