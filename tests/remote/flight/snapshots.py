"""Snapshots of a session."""

from tfprof.testing.xspace_builders import xspace

MS, S = 1_000_000, 1_000_000_000


def snapshot(*planes, start_ns=0, stop_ns=S):
    """A serialized XSpace that says when it was recorded; its lines begin with it."""
    space = xspace(*planes)
    for plane in space.planes:
        for each in plane.lines:
            each.timestamp_ns = 0
    task = space.planes.add(name="Task Environment")
    for key, (name, value) in enumerate(
        [("profile_start_time", start_ns), ("profile_stop_time", stop_ns)], 1
    ):
        task.stat_metadata[key].name = name
        task.stat_metadata[key].id = key
        task.stats.add(metadata_id=key, uint64_value=value)
    return space.SerializeToString()
