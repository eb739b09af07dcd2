"""The shapes that flow into each op."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.model.columns import Int64Array
from tfprof.model.ops import OpTable
from tfprof.model.shapes import UNKNOWN_SHAPE, display_dims

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


def input_shapes(ops: OpTable, *, classic: bool) -> InputShapes:
    """Producer's output shape for each input.

    Args:
        ops: The op table.
        classic: Always take output 0 of the producer, for control edges too: the original's
            release builds leave out the parsing of the output index.
    """
    producers = ops.input_rows()
    ports = np.zeros_like(ops.input_ports) if classic else ops.input_ports

    lists = ops.shapes.lists.values
    lengths = np.array([len(shape_ids) for shape_ids in lists] + [0], np.int64)
    starts = np.zeros(len(lists) + 1, np.int64)
    starts[1:] = np.cumsum(lengths[:-1])
    flat = np.array([s for shape_ids in lists for s in shape_ids] + [UNKNOWN_SHAPE], np.int64)

    # Ids of -1 (no producer, no list) pick the last entry, whose length is 0.
    list_ids = np.append(ops.output_shapes_ids.array, -1)[producers]
    known = (ports >= 0) & (ports < lengths[list_ids])
    place = np.where(known, starts[list_ids] + ports, len(flat) - 1)
    shape_ids = flat[place]
    shape_ids[ports < 0] = CONTROL_INPUT
    dims = [display_dims(shape) for shape in ops.shapes.shapes.values]
    return InputShapes(ops.input_offsets(), shape_ids, dims)
