"""Single executions of a profile's steps, in fields that tfprof adds to ``ProfileProto``.

The format holds times per op in whole microseconds. It has no place for nanoseconds, single
streams, copies, the order of ops and allocators of CPUs; TensorFlow ignores the added fields.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire import messages as pb
from tfprof.profiles.model.executions import Allocations, AllocatorLevels, Executions
from tfprof.profiles.model.profile import Profile


def encode_details(profile: Profile) -> bytes:
    """The fields to add to a ProfileProto; nothing for a profile without executions."""
    own = pb.ProfileProtoOwn()
    strings = profile.steps.strings
    used: dict[int, int] = {}  # new ids in order of use, so that equal profiles give equal bytes

    def renamed(ids: Int64Array) -> Int64Array:
        distinct, first, places = np.unique(ids, return_index=True, return_inverse=True)
        for old in distinct[np.argsort(first)].tolist():
            if old >= 0:
                used.setdefault(old, len(used))
        return np.array([used.get(old, -1) for old in distinct.tolist()], np.int64)[places]

    for step in profile.steps.steps:
        detail = profile.steps.details[step]
        if not len(detail.executions):
            continue
        saved = own.step_details.add(step=step)
        runs, allocations, levels = detail.executions, detail.allocations, detail.levels
        device_ids, name_ids = renamed(runs.device_ids), renamed(runs.name_ids)
        _fill(saved.executions, replace(runs, device_ids=device_ids, name_ids=name_ids))
        allocator_ids = renamed(allocations.allocator_ids)
        _fill(saved.allocations, replace(allocations, allocator_ids=allocator_ids))
        device_ids, allocator_ids = renamed(levels.device_ids), renamed(levels.allocator_ids)
        named = replace(levels, device_ids=device_ids, allocator_ids=allocator_ids)
        _fill(saved.allocator_levels, named)
    own.detail_strings.extend(strings[old] for old in used)
    encoded: bytes = own.SerializeToString(deterministic=True)
    return encoded


def _fill(columns: pb.IntColumns, table: Executions | Allocations | AllocatorLevels) -> None:
    for column in fields(table):
        columns.columns.add(values=getattr(table, column.name).tolist())
