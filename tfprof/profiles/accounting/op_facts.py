"""Facts about each op besides numbers: types, device, and the shapes that flow into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.shapes import UNKNOWN_SHAPE, ShapeTable, display_dims
from tfprof.options.regex import NameMatcher
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import Profile

CONTROL_INPUT = -1
"""In place of a shape id: the input is a control edge and carries no tensor."""


@dataclass(frozen=True, slots=True)
class InputShapes:
    """Shape of every input of every op, as a CSR table.

    Attributes:
        offsets: Start of each op's inputs, shape (n + 1,).
        shape_ids: Shape of each input, ``CONTROL_INPUT`` for control edges.
        dims: Displayed dimensions by shape id; empty means unknown.
    """

    offsets: Int64Array
    shape_ids: Int64Array
    dims: list[tuple[int, ...]]

    def of(self, row: int) -> tuple[int, ...]:
        """Shape ids of one op's inputs; hashable, so that equal ones can be grouped."""
        return tuple(self.shape_ids[self.offsets[row] : self.offsets[row + 1]].tolist())


@dataclass(frozen=True)
class OpInputs:
    """The data that determine the shapes of inputs, at one moment.

    Attributes:
        offsets: Start of each op's inputs, shape (n + 1,).
        producers: Producer row of each input, -1 where there is none.
        ports: Output that each input reads, -1 for control edges.
        list_ids: List of output shapes of each op, -1 without one; shape (n,).
        tables: Shapes and lists of shapes, which only grow.
    """

    offsets: Int64Array
    producers: Int64Array
    ports: Int64Array
    list_ids: Int64Array
    tables: ShapeTable

    @classmethod
    def of(cls, ops: OpTable, *, classic: bool) -> OpInputs:
        """The inputs of an op table.

        Args:
            ops: The op table.
            classic: Always take output 0 of the producer, for control edges too: the original's
                release builds leave out the parsing of the output index.
        """
        ports = ops.input_ports
        return cls(
            ops.input_offsets(),
            ops.input_rows(),
            np.zeros_like(ports) if classic else ports,
            ops.output_shapes_ids.array.copy(),  # runs complete shapes in place
            ops.shapes,
        )

    @cached_property
    def shapes(self) -> InputShapes:
        """The producer's output shape for each input."""
        lists = self.tables.lists.values
        lengths = np.array([len(shape_ids) for shape_ids in lists] + [0], np.int64)
        starts = np.zeros(len(lists) + 1, np.int64)
        starts[1:] = np.cumsum(lengths[:-1])
        flat = np.array([s for shape_ids in lists for s in shape_ids] + [UNKNOWN_SHAPE], np.int64)

        # Ids of -1 (no producer, no list) pick the last entry, whose length is 0.
        list_ids = np.append(self.list_ids, -1)[self.producers]
        known = (self.ports >= 0) & (self.ports < lengths[list_ids])
        place = np.where(known, starts[list_ids] + self.ports, len(flat) - 1)
        shape_ids = flat[place]
        shape_ids[self.ports < 0] = CONTROL_INPUT
        dims = [display_dims(shape) for shape in self.tables.shapes.values]
        return InputShapes(self.offsets, shape_ids, dims)


@dataclass(frozen=True, slots=True)
class OpFacts:
    """Facts of every op as they were at one moment; later steps do not change them.

    Attributes:
        type_ids: Op type as an id in ``strings``, shape (n,).
        device_ids: Canonical device (the first seen) as an id in ``strings``, -1 without one.
        added_ids: Which of ``added_types`` op logs added to each op, shape (n,).
        added_types: Ids of types in ``strings``, each combination once; the first is none.
        strings: Types and devices.
    """

    type_ids: Int64Array
    device_ids: Int64Array
    added_ids: Int64Array
    added_types: tuple[tuple[int, ...], ...]
    strings: Sequence[str]
    _inputs: OpInputs

    @classmethod
    def from_profile(cls, profile: Profile, *, classic: bool) -> OpFacts:
        """Take the facts out of a profile.

        Args:
            profile: The profile.
            classic: As for ``OpTable.type_ids`` and ``OpInputs.of``.
        """
        ops = profile.ops
        added_ids, added_types = _combinations(ops.added_types, len(ops))
        return cls(
            type_ids=ops.type_ids(classic=classic),
            device_ids=ops.device_ids.array.copy(),
            added_ids=added_ids,
            added_types=added_types,
            strings=ops.strings.values,
            _inputs=OpInputs.of(ops, classic=classic),
        )

    @property
    def input_shapes(self) -> InputShapes:
        """Shapes of the inputs, computed when first read."""
        return self._inputs.shapes

    def types(self, row: int) -> set[str]:
        """All types of an op: its op type, its device, and those that op logs added."""
        ids = [int(self.type_ids[row]), *self.added_types[int(self.added_ids[row])]]
        device_id = int(self.device_ids[row])
        if device_id >= 0:
            ids.append(device_id)
        return {self.strings[type_id] for type_id in ids}

    def device(self, row: int) -> str:
        """Canonical device of an op, lower case; empty if none was seen."""
        device_id = int(self.device_ids[row])
        return "" if device_id < 0 else self.strings[device_id]

    def match_counts(self, patterns: Sequence[NameMatcher]) -> Int64Array:
        """How many of the patterns match some type of each op, shape (n,)."""
        counts = np.zeros(len(self.type_ids), np.int64)
        for pattern in patterns:
            if pattern.everything:
                counts += 1
                continue
            mask = np.append(pattern.mask(self.strings), np.False_)  # id -1: no device
            matched: BoolArray = mask[self.type_ids] | mask[self.device_ids]
            if len(self.added_types) > 1:
                by_added = np.array([mask[list(added)].any() for added in self.added_types])
                matched |= by_added[self.added_ids]
            counts += matched
        return counts


def _combinations(
    types: Mapping[int, Sequence[int]], n_ops: int
) -> tuple[Int64Array, tuple[tuple[int, ...], ...]]:
    """Number of the combination of types of each op, and the combinations.

    Args:
        types: By op row; a million rows have few different ones.
        n_ops: Number of ops.
    """
    numbers: dict[tuple[int, ...], int] = {(): 0}
    of_rows = [numbers.setdefault(tuple(ids), len(numbers)) for ids in types.values()]
    column = np.zeros(n_ops, np.int64)
    column[np.fromiter(types, np.int64, len(types))] = of_rows
    return column, tuple(numbers)
