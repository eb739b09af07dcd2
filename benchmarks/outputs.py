"""Timelines and pprof files: time against TensorFlow's, and memory for millions of events.

    python benchmarks/outputs.py [--scales 1,10] [--repeat 3] [--events 5000000]

Both programs answer the same query, view and answer included: ``first`` on a profiler that has not
made the view before, ``again`` on one that has. ``Timeline`` is the class of TensorFlow's client,
given TensorFlow's own message. TensorFlow needs 2 GB of memory for × 10.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generate import generate
from measure import ROOT, Input, Result, options, peak_mb, resident_mb, run_case, timed

SHOWN = ("graph timeline", "scope timeline", "code timeline", "code pprof")
OPS = 100_000


def wanted(output: str) -> dict[str, Any]:
    chosen = {**options(output), "step": 0}
    return {**chosen, "select": ["micros"]} if output.startswith("pprof") else chosen


def ask(found: Result, repeat: int, start: Callable[[], Callable[[str, str], Any]]) -> Result:
    """Time each view's files, for the first time and again.

    Args:
        found: Where times go.
        repeat: Repetitions.
        start: Makes a new profiler; returns a function of a view and an output.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(repeat):
            for what in SHOWN:
                view, kind = what.split()
                profile = start()
                output = f"{kind}:outfile={scratch}/{view}-{kind}"
                for when in ("first", "again"):
                    seconds, _answer = timed(profile, view, output)
                    found.setdefault(f"{what} {when}", []).append(seconds)
        for path in Path(scratch).iterdir():
            name = path.name.partition("_")[0].replace("-", " ")
            found[f"{name} file_mb"] = [path.stat().st_size / 1e6]
    return found


def tfprof_time(folder: Path, repeat: int, classic: bool = False) -> Result:
    import tfprof

    methods = {"graph": "profile_graph", "scope": "profile_name_scope", "code": "profile_python"}
    data = Input.load(folder)

    def start() -> Callable[[str, str], Any]:
        profiler = tfprof.Profiler(data.graph, data.op_log, classic=classic)
        profiler.add_step(0, data.run_meta)

        def profile(view: str, output: str) -> Any:
            with contextlib.redirect_stdout(io.StringIO()):
                return getattr(profiler, methods[view])(wanted(output))

        return profile

    return ask({}, repeat, start)


def tfprof_classic_time(folder: Path, repeat: int) -> Result:
    return tfprof_time(folder, repeat, classic=True)


def tensorflow_time(folder: Path, repeat: int) -> Result:
    """The engine itself, without TensorFlow's Python around it."""
    from tensorflow.python.profiler import model_analyzer
    from tensorflow.python.util import _pywrap_tfprof as core

    data = Input.load(folder)

    def start() -> Callable[[str, str], Any]:
        core.DeleteProfiler()
        core.NewProfiler(data.graph, data.op_log)
        core.AddStep(0, b"", data.run_meta, b"")

        def profile(view: str, output: str) -> Any:
            query = model_analyzer._build_options(wanted(output)).SerializeToString()
            return core.Profile(view.encode(), query)

        return profile

    return ask({}, repeat, start)


def client_timeline(folder: Path, repeat: int, timeline: Any) -> Result:
    """The trace of the step's own message, parsed anew each time, as TensorFlow changes it."""
    from tensorflow.core.protobuf.config_pb2 import RunMetadata

    found: Result = {}
    data = Input.load(folder).run_meta
    for memory in (False, True):
        name = "Timeline with memory" if memory else "Timeline"
        for _ in range(repeat):
            step_stats = RunMetadata.FromString(data).step_stats

            def write(step_stats: Any = step_stats, memory: bool = memory) -> str:
                made = timeline(step_stats)
                return str(made.generate_chrome_trace_format(show_memory=memory))

            seconds, _text = timed(write)
            found.setdefault(name, []).append(seconds)
    return found


def tfprof_client_timeline(folder: Path, repeat: int) -> Result:
    import tfprof

    return client_timeline(folder, repeat, tfprof.Timeline)


def tensorflow_client_timeline(folder: Path, repeat: int) -> Result:
    from tensorflow.python.client.timeline import Timeline

    return client_timeline(folder, repeat, Timeline)


def synthetic(events: int, classic: bool) -> Any:
    """The graph view of a step of so many executions, each ten on their way at once."""
    import numpy as np

    import tfprof
    from tfprof.profiles.model.executions import HOST, Executions, StepDetail
    from tfprof.profiles.model.steps import StepRecords
    from tfprof.testing.builders import graph, op

    nodes = graph(*(op(f"layer/op_{n}", "MatMul", f"layer/op_{n // 2}") for n in range(OPS)))
    profiler = tfprof.Profiler(nodes, classic=classic)
    profile = profiler._session.profile
    device = "/device:cpu:0"
    profile.ops.device_ids.array[:] = profile.ops.strings.intern(device)
    places = np.arange(events, dtype=np.int64)
    starts = 1_700_000_000_000_000 + places * 3
    durations = 1 + places * 7919 % 60
    executions = Executions(
        places % OPS,
        np.full(events, -1),
        np.full(events, profile.steps.strings.intern(device)),
        np.full(events, HOST),
        starts,
        durations,
        starts * 1000 + places % 1000,
        durations * 1000 + 7,
    )
    ones = np.ones((7, OPS), np.int64)
    profile.steps.add(0, StepRecords(np.arange(OPS), ones, ones[:2]), StepDetail(executions))
    profile.version += 1
    return profiler.view("graph", wanted("none"))


def many_events(_folder: Path, events: int, classic: bool = False) -> Result:
    """A timeline written into nothing: memory before, while it is written, and at most."""
    from tfprof.views.write.view_timeline.outputs import view_to_timelines

    tree = synthetic(events, classic)
    before = resident_mb()
    begun = time.perf_counter()
    size, held = 0, before
    for file in view_to_timelines(tree, lambda _step: tree):
        for number, chunk in enumerate(file.chunks):
            size += len(chunk)
            if number % 50 == 0:
                held = max(held, resident_mb())
    return {
        "seconds": [time.perf_counter() - begun],
        "file_mb": [size / 1e6],
        "before_mb": [before],
        "while_writing_mb": [held],
        "peak_mb": [peak_mb()],
    }


def many_events_classic(folder: Path, events: int) -> Result:
    return many_events(folder, events, classic=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scales", default="1,10", help="default 1,10")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--events", type=int, default=5_000_000, help="0 leaves this out")
    parser.add_argument("--cache", type=Path, help="where generated steps are kept")
    args = parser.parse_args()
    cache = args.cache or Path(tempfile.gettempdir()) / "tfprof-benchmarks"
    for scale in map(int, args.scales.split(",")):
        folder = generate(scale, cache).graph.parent
        for theirs, *cases in (
            ("tensorflow_time", "tfprof_time", "tfprof_classic_time"),
            ("tensorflow_client_timeline", "tfprof_client_timeline"),
        ):
            peer = measured(theirs, folder, args.repeat)
            for case in cases:
                for name, ours in measured(case, folder, args.repeat).items():
                    print(f"× {scale} {case}, {name}:", compared(name, peer.get(name), ours))
    if args.events:
        for case in ("many_events", "many_events_classic"):
            for name, value in measured(case, ROOT, args.events).items():
                print(f"{args.events:,} events, {case}: {name}  {value:,.1f}")
    return 0


def compared(name: str, peer: float | None, ours: float) -> str:
    if name.endswith("_mb"):
        return f"{ours:,.1f} MB" + ("" if peer is None else f", TensorFlow's {peer:,.1f} MB")
    ratio = "" if peer is None else f", TensorFlow {peer * 1e3:,.0f} ms: {peer / ours:.1f} ×"
    return f"{ours * 1e3:,.0f} ms{ratio}"


def measured(case: str, folder: Path, repeat: int) -> dict[str, float]:
    result, reason = run_case(f"outputs:{case}", folder, repeat)
    if reason:
        print(f"n/a: {case} ({reason})", file=sys.stderr)
    return {name: statistics.median(values) for name, values in result.items()}


if __name__ == "__main__":
    sys.exit(main())
