"""Files of stacks, as other programs write them."""

import json

from tfprof.core.wire import messages as pb


def go_profile():
    """As Go writes it: an inlined call, a place without a function, a bare address."""
    profile = pb.Profile(
        string_table=["", "samples", "count", "cpu", "nanoseconds", "main", "m.go", "inner", "key"]
    )
    profile.sample_type.add(type=1, unit=2)
    profile.sample_type.add(type=3, unit=4)
    profile.function.add(id=1, name=5, filename=6)
    profile.function.add(id=2, name=7, filename=6)
    profile.location.add(id=1).line.add(function_id=1, line=10)
    inlined = profile.location.add(id=2)
    inlined.line.add(function_id=2, line=30)  # innermost first
    inlined.line.add(function_id=1, line=20)
    profile.location.add(id=3, address=0xABC)
    sample = profile.sample.add(location_id=[2, 1], value=[1, 10_000])
    sample.label.add(key=8, num=9)
    profile.sample.add(location_id=[3, 1], value=[2, 20_000])
    profile.sample.add(value=[3, 30_000])
    return profile


def speedscope(**profile):
    told = {"name": "thread 1", "unit": "seconds", "startValue": 1, "endValue": 4, **profile}
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "main"}, {"name": "run", "file": "a.py", "line": 12}]},
        "profiles": [told],
    }


def opened(frame, at):
    return {"type": "O", "frame": frame, "at": at}


def closed(frame, at):
    return {"type": "C", "frame": frame, "at": at}


PPROF = go_profile().SerializeToString()
SPEEDSCOPE = json.dumps(
    speedscope(type="evented", events=[opened(0, 1), opened(1, 2), closed(1, 3), closed(0, 4)])
).encode()
