"""Texts of events' stats, each kept once, so that the bytes of the events can be released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.captures.model.xspace_stats import StatKind, text_bounds
from tfprof.core.columns.columns import blocks
from tfprof.core.wire.scan import Texts
from tfprof.core.wire.text_index import TextIndex

if TYPE_CHECKING:
    from tfprof.captures.model.xspace_stats import ByteArray
    from tfprof.core.columns.columns import BoolArray, Int64Array


class EventTexts:
    """Texts of the stats of a plane's events. Threads may share them.

    Args:
        data: The buffer in which the places of texts lie.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._index = TextIndex()

    def take(self, kinds: ByteArray, values: Int64Array) -> None:
        """Keep the texts of some stats.

        Args:
            kinds: ``StatKind`` of each, shape (n,).
            values: Values of stats, shape (n,); places of texts are replaced by their numbers.
        """
        for block in blocks(0, len(kinds)):
            rows = np.flatnonzero(_is_text(kinds[block])) + block.start
            if len(rows):
                values[rows] = self._index.intern(
                    Texts(self._data, *text_bounds(self._data, values[rows]))
                )

    def placed(self, kinds: ByteArray, values: Int64Array) -> memoryview:
        """Give stats the places of their texts; call it once, after all ``take`` calls.

        Args:
            kinds: ``StatKind`` of each, shape (n,).
            values: Values of stats, shape (n,); numbers of texts are replaced by their places.

        Returns:
            The buffer of these places.
        """
        data, places = self._index.with_lengths()
        self._index = TextIndex()
        for block in blocks(0, len(kinds)):
            rows = np.flatnonzero(_is_text(kinds[block])) + block.start
            values[rows] = places[values[rows]]
        return data


def _is_text(kinds: ByteArray) -> BoolArray:
    is_text: BoolArray = (kinds == StatKind.STR) | (kinds == StatKind.BYTES)
    return is_text
