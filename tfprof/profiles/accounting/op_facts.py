"""Facts about each op besides numbers: types, device, input shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.options.regex import NameMatcher
from tfprof.profiles.accounting.input_shapes import InputShapes, OpInputs
from tfprof.profiles.model.profile import Profile


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
