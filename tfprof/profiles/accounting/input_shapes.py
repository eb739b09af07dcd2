"""The shapes that flow into each op."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import UNKNOWN_SHAPE, ShapeTable, display_dims
from tfprof.profiles.model.ops import OpTable

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
    """What determines the shapes of inputs, at one moment.

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
