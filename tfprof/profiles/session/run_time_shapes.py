"""Output shapes of ops, from the graph and from runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.shapes import OutputShapes, is_fully_defined, merge_outputs
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.runs import RunColumns
from tfprof.profiles.read.run_shapes import SeenShapes


class RunTimeShapes:
    """Fills in shapes that the graph does not know.

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
