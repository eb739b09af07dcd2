"""The plane of a host."""

from tfprof.core.wire import messages as pb


def plane(name, *lines, stats=(), names=()):
    """A plane; lines are (name, number of events)."""
    made = pb.XPlane(name=name)
    for line, n_events in lines:
        added = made.lines.add(name=line)
        for _ in range(n_events):
            added.events.add(metadata_id=1, duration_ps=5)
    for key, (stat, value) in enumerate(stats, start=1):
        made.stat_metadata[key].name = stat
        if value is not None:
            made.stats.add(metadata_id=key, uint64_value=value)
    for key, text in enumerate(names, start=1):
        made.event_metadata[key].name = text
    return made


STEPS = ("step_num", None)
HOST = plane("/host:CPU", ("python", 3), stats=[STEPS])
