"""Float operations of ops, from op logs, saved profiles, the program's formulas, or ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.shapes import OutputShapes, is_fully_defined, merge_outputs
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.float_ops.registered_flops import count_registered_flops
from tfprof.profiles.model.ops import FloatOps, in_64_bits
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import RunColumns
from tfprof.profiles.read.run_metadata import SeenShapes

if TYPE_CHECKING:
    from tfprof.graphs.model.program import Program


class RunTimeShapes:
    """Fills in shapes that the graph lacks.

    Args:
        profile: The profile.
        wanted: Whether shapes of runs count at all.
        shown: Write them into the table of ops, for views.

    Attributes:
        ids: Id of each op's output shapes in the op table, shape (n ops,).
        version: Grows when a run completes a shape.
        seen: Shapes that earlier runs have shown.
    """

    def __init__(self, profile: Profile, *, wanted: bool, shown: bool) -> None:
        self.ids: Int64Array = np.zeros(0, np.int64)
        self.version = 0
        self.seen = SeenShapes()
        self._profile = profile
        self._wanted = wanted
        self._shown = shown
        self._kept: tuple[tuple[int, ...], BoolArray] = ((), np.zeros(0, np.bool_))

    def extend(self) -> None:
        """Add the graph's shapes of new ops."""
        new = self._profile.ops.output_shapes_ids.array[len(self.ids) :]
        if len(new):
            self.ids = np.concatenate([self.ids, new])

    def wanted_names(self) -> BoolArray:
        """Whether runs may complete the shapes of an op, by name id; the last element is False."""
        ops = self._profile.ops
        state = (len(ops), len(ops.names), self.version)
        if self._kept[0] != state:
            wanted = np.zeros(len(ops.names) + 1, np.bool_)
            if self._wanted:
                self.extend()
                defined = [is_fully_defined(shape) for shape in ops.shapes.shapes.values]
                lists = ops.shapes.lists.values
                partial = [not all(defined[shape_id] for shape_id in shapes) for shapes in lists]
                wanted[ops.name_ids.array] = np.array([*partial, True])[self.ids]
            self._kept = state, wanted
        return self._kept[1]

    def complete(self, run: RunColumns) -> bool:
        """Fill in the shapes that a run has shown or was fed; True if any was new."""
        is_new = self._merge(run.output_shapes)
        if not self._profile.classic:
            is_new |= self._merge(self._fed(run))
        return is_new

    def _merge(self, seen: Iterable[tuple[int, OutputShapes]]) -> bool:
        """Merge shapes by name id into those that are known."""
        ops = self._profile.ops
        changed = False
        contradicting: set[int] = set()
        for name_id, shown in seen:
            row = int(ops.row_of_name.array[name_id])
            known = ops.shapes.list_of(int(self.ids[row]))
            merged, contradicts = merge_outputs(known, shown, classic=self._profile.classic)
            if contradicts:
                contradicting.add(row)
            if merged != known:
                self.ids[row] = ops.shapes.intern_list(merged)
                changed = True
        self._profile.notices.add(
            "contradicting-shape",
            "ops ran with output shapes that contradict those of the graph; the graph's are kept",
            len(contradicting),
        )
        if changed:
            if self._shown:
                ops.output_shapes_ids.array[: len(self.ids)] = self.ids
            self.version += 1
        return changed

    def _fed(self, run: RunColumns) -> Iterator[tuple[int, OutputShapes]]:
        """Shapes that a session was fed, by name id."""
        ops = self._profile.ops
        for (name, output), shape in run.fed_shapes.items():
            row = ops.row(name)
            if row >= 0:
                yield int(ops.name_ids.array[row]), ((output, shape),)


_INCOMPLETE = (
    "ops have no float operations in this report, because a shape they depend on is not fully "
    "known; add a step with run metadata, or give the graph static shapes"
)


def _is_of_jax(type_: str) -> bool:
    """Whether an op is a primitive of JAX, ``dot_general``; types of TensorFlow are ``MatMul``."""
    return type_[:1].islower()


class _CountedState(NamedTuple):
    """The state that counts depend on; ``n_runs`` is 0 if runs do not matter."""

    graph_version: int
    shapes_version: int
    n_ops: int
    n_runs: int


class _Counted(NamedTuple):
    state: _CountedState
    has_control_flow: bool
    float_ops: FloatOps


class FloatOpCounts:
    """Float operations of the ops of a profile.

    They are counted when needed, for the current state of the profile. In classic mode they are
    counted when ops are added, as in the original, by TensorFlow's formulas for live graphs.

    Args:
        profile: The profile. The ops that it already has keep their float operations.
        log: An op log, whose float operations are kept.
        shapes: Shapes of the outputs.
        is_live: Whether the graph is a live one.

    Attributes:
        n_runs: Number of runs that were added, which show how often loops ran.
    """

    def __init__(
        self, profile: Profile, log: OpLogColumns, shapes: RunTimeShapes, *, is_live: bool
    ) -> None:
        self.n_runs = 0
        self._profile = profile
        self._shapes = shapes
        self._has_formulas = profile.classic and is_live
        self._n_saved = self._n_classic = len(profile.ops)
        pairs = zip(log.names, log.float_ops, strict=True)
        # In the order of the log, mostly that of the graph: lookups are faster than of a set.
        self._logged = {name: flops for name, flops in pairs if flops}
        self._logged_rows: tuple[tuple[int, int], Int64Array] = (-1, -1), np.zeros(0, np.int64)
        self._registered: dict[str, int] = {}
        self._compiled: Callable[[], Mapping[str, int]] | None = None
        self._incomplete: set[int] = set()
        self._counted: _Counted | None = None

    def register(self, counts: Mapping[str, int]) -> None:
        """Take float operations from the program's own formulas, by name."""
        self._registered |= counts
        if self._registered and self._profile.classic:
            self._write(self._registered_rows())

    def take_compiled(self, counts: Callable[[], Mapping[str, int]]) -> None:
        """Take float operations of ops that the compiler's costs are of, by name, when needed."""
        self._compiled = counts

    def count_new_ops(self) -> None:
        """In classic mode, count the ops that are new since the last call."""
        self._count_classic(range(self._n_classic, len(self._profile.ops)))
        self._n_classic = len(self._profile.ops)

    def count_again(self) -> None:
        """In classic mode, count all ops again with the shapes known now."""
        self._count_classic(range(self._n_saved, len(self._profile.ops)))

    def now(self) -> FloatOps:
        """Float operations of all ops; counted again only if they may have changed."""
        profile = self._profile
        if profile.classic or len(profile.ops) == self._n_saved:
            return profile.ops.static_float_ops()
        known = self._counted
        versions = profile.graph_version, self._shapes.version
        state = _CountedState(*versions, len(profile.ops), self.n_runs)
        if known is None or known.state != (
            state if known.has_control_flow else state._replace(n_runs=0)
        ):
            self._counted = known = self._count(state)
        return known.float_ops

    def write(self) -> None:
        """Put the float operations of all ops into the table of ops."""
        if self._profile.classic:
            return  # they are there
        ops = self._profile.ops
        flops, runs = self.now()
        ops.float_ops.array[:] = flops
        ops.static_runs.array[:] = runs

    def program(self) -> Program:
        """The graph with its functions, and the shapes that runs have shown.

        Float operations of a saved profile, which have no multiply-adds, count only for ops
        without a formula.
        """
        from tfprof.graphs.flops.registry import all_formulas
        from tfprof.profiles.float_ops.profile_flops import program_of_ops

        ops = self._profile.ops
        formulas, free = all_formulas()
        types = [ops.strings[op_id] for op_id in ops.op_ids.array.tolist()]
        saved = ops.float_ops.array[: self._n_saved]
        needed = {
            row: int(saved[row])
            for row in np.flatnonzero(saved).tolist()
            if not (types[row] in formulas or types[row] in free)
        }
        return program_of_ops(ops, needed | self._given())

    def _count(self, state: _CountedState) -> _Counted:
        # All formulas take 80 ms to import; many views show no float operations.
        from tfprof.profiles.float_ops.profile_flops import count_profile_flops, program_of_ops

        profile, ops = self._profile, self._profile.ops
        result = count_profile_flops(program_of_ops(ops, self._given(), keep_names=False), profile)
        if self._compiled is not None and any(map(_is_of_jax, result.without_formula)):
            self._registered = {**self._compiled(), **self._registered}
            self._compiled = None
            program = program_of_ops(ops, self._given(), keep_names=False)
            result = count_profile_flops(program, profile)
        flops, runs = ops.static_float_ops()
        is_ours = np.arange(len(ops)) >= self._n_saved
        is_ours[self._rows_of_log()] = False
        np.copyto(flops, result.flops, where=is_ours)
        np.copyto(runs, result.runs, where=is_ours)
        self._overwrite(flops, self._registered_rows())
        profile.notices.set("incomplete-shape", _INCOMPLETE, result.n_incomplete)
        by_type = result.without_formula
        compiled = {each: n for each, n in by_type.items() if _is_of_jax(each)}
        compiled |= self._without_runs(flops)
        others = {each: n for each, n in by_type.items() if each not in compiled}
        profile.notices.set(
            "no-formula",
            "ops have no float operations in this report, because tfprof has no formula for them "
            f"({', '.join(sorted(others)[:5])}); see tfprof.register_flops",
            sum(others.values()),
        )
        profile.notices.set(
            "compiled",
            "ops of JAX have no float operations in this report "
            f"({', '.join(sorted(compiled)[:5])}): HLO stats has those of the instructions that "
            "they were compiled to",
            sum(compiled.values()),
        )
        if not result.has_control_flow:
            state = state._replace(n_runs=0)
        return _Counted(state, result.has_control_flow, FloatOps(flops, runs))

    def _without_runs(self, flops: Int64Array) -> dict[str, int]:
        """Ops of JAX by type of which only kernels were recorded, and not how often they ran.

        Args:
            flops: Float operations of one run of each op, shape (n,).
        """
        profile, ops = self._profile, self._profile.ops
        if not profile.steps.steps:
            return {}
        measures = profile.steps.measures(-1, len(ops))
        rows = np.flatnonzero((flops > 0) & (measures.exec_micros > 0) & (measures.values[0] == 0))
        types = (ops.strings[type_id] for type_id in ops.op_ids.array[rows].tolist())
        return Counter(each for each in types if _is_of_jax(each))

    def _given(self) -> dict[int, int]:
        """Float operations from an op log or the program's formulas, by row."""
        ops = self._profile.ops
        rows = self._rows_of_log()
        logged = dict(zip(rows.tolist(), ops.float_ops.array[rows].tolist(), strict=True))
        return self._registered_rows() | logged

    def _rows_of_log(self) -> Int64Array:
        """Rows of the ops whose counts the user put into the op log.

        TensorFlow's writer of op logs puts the counts of its registered formulas in. Those are not
        kept, as they would be another count of the same run; in classic mode all are.
        """
        ops = self._profile.ops
        state = len(ops), 0 if self._profile.classic else self._shapes.version
        if self._logged_rows[0] != state:
            rows = ops.rows(list(self._logged))
            known = rows[rows >= 0]
            if not self._profile.classic:
                self._shapes.extend()
                written, _ = count_registered_flops(ops, self._shapes.ids, known.tolist())
                counts = np.array([*self._logged.values()], object)[rows >= 0].tolist()
                kept = [
                    row for row, count in zip(known.tolist(), counts, strict=True)
                    if count != written.get(row)
                ]  # fmt: skip
                known = np.array(kept, np.int64)
            self._logged_rows = state, known
        return self._logged_rows[1]

    def _registered_rows(self) -> dict[int, int]:
        rows = ((self._profile.ops.row(name), count) for name, count in self._registered.items())
        return {row: count for row, count in rows if row >= 0}

    def _count_classic(self, rows: Sequence[int]) -> None:
        """Count by TensorFlow's registered formulas, which cover live graphs only."""
        if not self._has_formulas or not rows:
            return
        ops = self._profile.ops
        counts, incomplete = count_registered_flops(ops, self._shapes.ids, list(rows))
        self._write(counts)
        self._incomplete.difference_update(rows)
        self._incomplete.update(incomplete)
        self._profile.notices.set("incomplete-shape", _INCOMPLETE, len(self._incomplete))

    def _write(self, counts: Mapping[int, int]) -> None:
        """Write counts by row into the table of ops; those of the op log stay."""
        self._overwrite(self._profile.ops.float_ops.array, counts)
        self._profile.version += 1

    def _overwrite(self, flops: Int64Array, counts: Mapping[int, int]) -> None:
        logged = set(self._rows_of_log().tolist()) if counts else ()
        for row, count in counts.items():
            if row not in logged:
                flops[row] = in_64_bits(count)
