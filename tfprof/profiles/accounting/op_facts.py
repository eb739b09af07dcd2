"""Facts about each op besides numbers: types, device, input shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns.columns import BoolArray, Int64Array
from tfprof.options.regex import NameMatcher
from tfprof.profiles.accounting.input_shapes import InputShapes, OpInputs
from tfprof.profiles.model.profile import Profile


@dataclass(frozen=True, slots=True)
class OpFacts:
    """Facts of every op as they were at one moment; later steps do not change them.

    Attributes:
        type_ids: Op type as an id in ``strings``, shape (n,).
        device_ids: Canonical device (the first seen) as an id in ``strings``, -1 without one.
        added_types: Ids of the types that op logs added, by op row.
        strings: Types and devices.
    """

    type_ids: Int64Array
    device_ids: Int64Array
    added_types: dict[int, tuple[int, ...]]
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
        return cls(
            type_ids=ops.type_ids(classic=classic),
            device_ids=ops.device_ids.array.copy(),
            added_types={row: tuple(types) for row, types in ops.added_types.items()},
            strings=ops.strings.values,
            _inputs=OpInputs.of(ops, classic=classic),
        )

    @property
    def input_shapes(self) -> InputShapes:
        """Shapes of the inputs, computed when first read."""
        return self._inputs.shapes

    def types(self, row: int) -> set[str]:
        """All types of an op: its op type, its device, and those that op logs added."""
        ids = [int(self.type_ids[row]), *self.added_types.get(row, ())]
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
            for row, added in self.added_types.items():
                if not matched[row]:
                    matched[row] = any(mask[type_id] for type_id in added)
            counts += matched
        return counts
