"""Output shapes of the ops of a run.

Only new shapes are decoded: those that the op has not had in any earlier run. Ops whose shapes
never become complete, because only one of their outputs is ever used (as of a ``Switch``) or
because the graph contradicts them, cost almost nothing in later runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.numerals import whole_number
from tfprof.core.columns.shapes import OutputShapes, Shape
from tfprof.core.wire import messages as pb
from tfprof.core.wire.scan import Columns, Texts
from tfprof.core.wire.text_index import TextIndex

_SHAPE = "tensor_description.shape"

_FED = re.compile(r"_arg_(?P<name>.+)_(?P<output>\d{1,9})_\d+")
"""Name of the op that gives the value fed for an output (``graph_execution_state.cc``)."""


class SeenShapes:
    """Which shapes the outputs of ops have had, in all runs of a profile."""

    def __init__(self) -> None:
        self._shapes = TextIndex()
        self._seen = TextIndex()  # an op, an output, whether it is described and a shape, as bytes

    def take_new(
        self, name_ids: Int64Array, outputs: Columns, wanted: BoolArray
    ) -> list[tuple[int, OutputShapes]]:
        """The outputs of a run with shapes that no earlier run has shown.

        Args:
            name_ids: Name id of each stat's op, -1 for one that is not known, shape (n stats,).
            outputs: The outputs of the stats.
            wanted: Whether the shapes of an op are wanted, by name id.

        Returns:
            Name id and outputs of each stat with a new shape, in the order of the run; equal
            entries once.

        Raises:
            DecodeError: A shape is damaged. Nothing is taken.
        """
        is_wanted = wanted[name_ids]
        if not is_wanted.any():
            return []
        places = np.flatnonzero(is_wanted[outputs.parent])
        owners = outputs.parent[places]
        texts = outputs.text(_SHAPE).take(places)
        facts = (
            name_ids[owners],
            outputs.number("slot")[places],
            outputs.number("tensor_description")[places],
            self._shapes.intern(texts),
        )
        rows = _texts_of_rows(np.stack(facts, axis=1))
        is_new = self._seen.find(rows) < 0
        if not is_new.any():
            return []
        decode = _decoder()
        described = facts[2].tolist()
        slots = facts[1].tolist()
        new_shapes: dict[tuple[int, OutputShapes], None] = {}
        stats = np.unique(owners[is_new])
        bounds = zip(
            name_ids[stats].tolist(),
            np.searchsorted(owners, stats).tolist(),
            np.searchsorted(owners, stats, "right").tolist(),
            strict=True,
        )
        for name_id, start, stop in bounds:
            shown = [
                (slots[each], decode(texts[each]) if described[each] else None)
                for each in range(start, stop)
            ]
            new_shapes[name_id, tuple(shown)] = None
        self._seen.intern(rows)
        return list(new_shapes)


def fed_shapes(
    unknown: Sequence[tuple[int, str, str]], outputs: Columns
) -> dict[tuple[str, int], tuple[int, ...]]:
    """Shapes of the tensors fed to a session, which runs ``_arg_x_0_2`` in place of ``x``.

    Args:
        unknown: Place, name and label of stats.
        outputs: The outputs of all stats.

    Raises:
        DecodeError: A shape is damaged.
    """
    decode = _decoder()
    is_described, texts = outputs.number("tensor_description"), outputs.text(_SHAPE)
    shapes: dict[tuple[str, int], tuple[int, ...]] = {}
    for stat, name, _ in unknown:
        match = _FED.fullmatch(name)
        if match is None:
            continue
        first, stop = np.searchsorted(outputs.parent, [stat, stat + 1]).tolist()
        shape = decode(texts[first]) if first < stop and is_described[first] else None
        if shape is not None:
            shapes[match["name"], whole_number(match["output"])] = shape
    return shapes


def _decoder() -> Callable[[bytes], Shape]:
    """A decoder that decodes each distinct shape once: most of a run's shapes are equal."""
    known: dict[bytes, Shape] = {}

    def decode(text: bytes) -> Shape:
        if text not in known:
            shape = pb.TensorShapeProto.FromString(text)
            known[text] = None if shape.unknown_rank else tuple([dim.size for dim in shape.dim])
        return known[text]

    return decode


def _texts_of_rows(rows: Int64Array) -> Texts:
    size = rows.shape[1] * rows.itemsize
    n_rows = len(rows)
    return Texts(rows.tobytes(), np.arange(n_rows) * size, np.full(n_rows, size, np.int64))
