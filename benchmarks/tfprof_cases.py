"""The same cases with tfprof, from bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from measure import VIEWS, Input, Result, options, peak_mb, resident_mb, timed

import tfprof
from tfprof.core.wire import messages as pb

LATER_STEPS = 5
"""For each first one; they are short."""

AGAIN = 3
"""Views for each repetition, of those that have been shown before."""

METHODS = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "op": "profile_operations",
    "code": "profile_python",
}


def fresh(data: Input) -> Any:
    """A new profiler that has seen the step."""
    profiler = tfprof.Profiler(data.graph, data.op_log)
    profiler.add_step(0, data.run_meta)
    return profiler


def add_step(folder: Path, repeat: int) -> Result:
    """A first step on a new profiler, and steps 1, 2, … on the same one.

    Beside each later step, protobuf parses the same bytes, and the sums that views need are made.
    """
    data = Input.load(folder)
    found: Result = {"new_profiler": [], "first": [], "later": [], "sums": [], "parse": []}
    fresh(data)  # imports and caches of regular expressions, as TensorFlow's are loaded too
    profiler: Any = None
    for _ in range(repeat):
        del profiler
        seconds, profiler = timed(tfprof.Profiler, data.graph, data.op_log)
        found["new_profiler"].append(seconds)
        seconds, _coverage = timed(profiler.add_step, 0, data.run_meta)
        found["first"].append(seconds)
    for step in range(1, LATER_STEPS * repeat + 1):
        seconds, _coverage = timed(profiler.add_step, step, data.run_meta)
        found["later"].append(seconds)
        seconds, _message = timed(pb.RunMetadata.FromString, data.run_meta)
        found["parse"].append(seconds)
        del _message
        seconds, _sums = timed(profiler._session.profile.steps.records.get, step)
        found["sums"].append(seconds)
    return found


def add_step_memory(folder: Path, _repeat: int) -> Result:
    """Memory that a first step needs beyond its bytes and the profiler, at its peak and after it.

    Only Linux can start to look for the peak anew.
    """
    data = Input.load(folder)
    profiler = tfprof.Profiler(data.graph)
    profiler._session._source.update()
    before = resident_mb()
    Path("/proc/self/clear_refs").write_text("5")
    profiler.add_step(0, data.run_meta)
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    file_mb = len(data.run_meta) / 1e6
    return {"file_mb": [file_mb], "peak_mb": [peak - before], "held_mb": [resident_mb() - before]}


def views(folder: Path, repeat: int) -> Result:
    """Each view on a profiler of its own, protos returned."""
    data = Input.load(folder)
    found: Result = {}
    for view in VIEWS:
        for _ in range(repeat):
            method = getattr(fresh(data), METHODS[view])
            seconds, _proto = timed(method, options())
            found.setdefault(view, []).append(seconds)
            del method, _proto
    return found


def views_again(folder: Path, repeat: int) -> Result:
    """Each view on a profiler that has shown it before, protos returned."""
    profiler = fresh(Input.load(folder))
    found: Result = {}
    for view in VIEWS:
        method = getattr(profiler, METHODS[view])
        method(options())
        for _ in range(AGAIN * repeat):
            seconds, _proto = timed(method, options())
            found.setdefault(view, []).append(seconds)
            del _proto
    return found


def light_views(folder: Path, repeat: int) -> Result:
    """Each view on a profiler of its own, the light object returned."""
    data = Input.load(folder)
    found: Result = {}
    for view in VIEWS:
        for _ in range(repeat):
            profiler = fresh(data)
            seconds, _tree = timed(profiler.view, view, options())
            found.setdefault(view, []).append(seconds)
            del profiler, _tree
    return found


def scope_file(folder: Path, repeat: int) -> Result:
    """The scope view written to a file, on a profiler that has not computed it yet."""
    data = Input.load(folder)
    found: Result = {"file": []}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "scope.txt"
        for _ in range(repeat):
            profiler = fresh(data)
            wanted = options(f"file:outfile={path}")
            seconds, _proto = timed(profiler.profile_name_scope, wanted)
            found["file"].append(seconds)
            del profiler, _proto
        found["lines"] = [float(path.read_bytes().count(b"\n"))]
    return found


def memory(folder: Path, _repeat: int) -> Result:
    """Resident after one step and the four views as protos, the profiler still alive."""
    before = resident_mb()
    profiler = fresh(Input.load(folder))
    for view in VIEWS:
        getattr(profiler, METHODS[view])(options())
    return {"before_mb": [before], "after_mb": [resident_mb()], "peak_mb": [peak_mb()]}


def all_light_views(profiler: Any) -> list[Any]:
    return [profiler.view(view, options()) for view in VIEWS]


def growth(folder: Path, repeat: int) -> Result:
    """Ingest and four light views once: time, and memory beyond what was there before."""
    before = resident_mb()
    found: Result = {"ingest": [], "views": []}
    for _ in range(repeat):
        data = Input.load(folder)
        seconds, profiler = timed(fresh, data)
        del data
        found["ingest"].append(seconds)
        seconds, _trees = timed(all_light_views, profiler)
        found["views"].append(seconds)
        found["held_mb"] = [resident_mb() - before]
        del profiler, _trees
    return {**found, "peak_mb": [peak_mb()]}
