"""Compare tfprof with TensorFlow's own profiler, both measured now, on this machine.

    python benchmarks/run.py [--scales 1,10,100] [--repeat 5] [--json FILE] [--cache FOLDER]

Needs TensorFlow 2.21 beside tfprof; what cannot be measured is printed as ``n/a`` with the
reason. See ``benchmarks/README.md`` for what each row means.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import startup
from generate import Step, generate
from measure import VIEWS, Result, child_environment, run_case

CASE = "tfprof_cases:add_step"
UNKNOWN = "unknown"
"""In place of a scale: the recorded step of a graph that does not know its batch."""

Scale = int | str
LIMIT_OF_GROWTH = 1.1  # times as much per replica, from × 1 to the largest scale


@dataclass
class Row:
    """One line of the table; the goal is met where ``figure`` is on the right side of it."""

    job: str
    peer: str
    ours: str
    figure: str
    goal: str = ""
    met: bool | None = None

    def verdict(self) -> str:
        return "" if self.met is None else "met" if self.met else "NOT met"


@dataclass
class Bench:
    """Runs cases, each once, and collects rows."""

    cache: Path
    repeat: int
    rows: list[Row] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def case(self, name: str, scale: Scale, repeat: int = 0) -> Result:
        key = f"{name} x{scale}"
        if key not in self.results and key not in self.reasons:
            print(f"  {key} …", file=sys.stderr, flush=True)
            repeat = repeat or (self.repeat if scale in (1, UNKNOWN) else min(3, self.repeat))
            result, reason = self._run(name, scale, repeat)
            if reason:
                self.reasons[key] = reason
            else:
                self.results[key] = result
        return self.results.get(key, {})

    def _run(self, name: str, scale: Scale, repeat: int) -> tuple[Result, str]:
        if isinstance(scale, int):
            return run_case(name, generate(scale, self.cache).graph.parent, repeat)
        folder, reason = recorded(self.cache)
        return ({}, reason) if reason else run_case(name, folder, repeat)

    def median(self, name: str, scale: Scale, value: str, repeat: int = 0) -> float | None:
        found = self.case(name, scale, repeat).get(value)
        return statistics.median(found) if found else None

    def least(self, name: str, scale: Scale, value: str) -> float | None:
        """The shortest of all: of what takes milliseconds, other programs lengthen the rest."""
        return min(self.case(name, scale).get(value, []), default=None)

    def seconds(self, job: str, peer: float | None, ours: float | None, goal: float = 0.0) -> None:
        """A row of times; the goal is how many times faster than the peer."""
        ratio = peer / ours if peer is not None and ours else None
        self.rows.append(
            Row(
                job,
                milliseconds(peer),
                milliseconds(ours),
                "n/a" if ratio is None else f"{ratio:.1f} ×",
                f"≥ {goal:g} ×" if goal else "",
                None if ratio is None or not goal else ratio >= goal,
            )
        )

    def times(self, job: str, floor: float | None, ours: float | None, goal: float = 0.0) -> None:
        """A row of times; the goal is how many times as long as the floor it may take."""
        ratio = ours / floor if floor and ours is not None else None
        shown = "n/a" if ratio is None else f"{ratio:.2f} ×"
        met = None if ratio is None or not goal else ratio <= goal
        limit = f"≤ {goal:g} ×" if goal else ""
        self.rows.append(Row(job, milliseconds(floor), milliseconds(ours), shown, limit, met))

    def at_most(self, job: str, peer: str, ours: float | None, goal: float, unit: str) -> None:
        """A row of one figure with an upper limit."""
        shown = "n/a" if ours is None else f"{ours:,.0f} {unit}"
        met = None if ours is None else ours <= goal
        self.rows.append(Row(job, peer, shown, shown, f"≤ {goal:g} {unit}", met))


def recorded(cache: Path) -> tuple[Path, str]:
    """The folder of the step of an unknown batch, recorded if missing; or why there is none."""
    script = Path(__file__).parent / "record_unknown_batch.py"
    text = script.read_bytes() + (script.parent / "record_resnet50.py").read_bytes()
    folder = cache / f"unknown-batch-{hashlib.sha256(text).hexdigest()[:12]}"
    if folder.is_dir():
        return folder, ""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        made = Path(scratch) / "step"
        command = [sys.executable, str(script), str(made)]
        done = subprocess.run(
            command, env=child_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            return folder, lines[-1][:100]
        made.replace(folder)
    return folder, ""


def milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "n/a"
    return f"{seconds * 1e3:,.1f} ms" if seconds < 0.1 else f"{seconds * 1e3:,.0f} ms"


def total(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def parser_rows(bench: Bench, scale: int) -> None:
    """``add_step`` beside protobuf's parser, in one process."""
    repeat = 1 if scale >= 100 else 0
    first, later, sums, parse = (
        bench.median(CASE, scale, value, repeat) for value in ("first", "later", "sums", "parse")
    )
    name = f"× {scale} add_step / protobuf's parser"
    bench.times(f"{name}, later steps", parse, later, 1.0)
    bench.times(f"{name}, later steps and their sums", parse, total(later, sums))
    bench.times(f"{name}, first", parse, first, 3.0)


def unknown_batch_rows(bench: Bench) -> None:
    """A graph that does not know its batch: its names have been seen, its views shown before."""
    later, parse = (bench.least(CASE, UNKNOWN, value) for value in ("later", "parse"))
    name = "unknown batch, add_step, later steps"
    bench.times(f"{name} / protobuf's parser", parse, later, 1.2)
    peer = bench.least("tensorflow_cases:add_step_python", UNKNOWN, "later")
    bench.seconds(name, peer, later, 300.0)
    for view in VIEWS:
        peer = bench.least("tensorflow_cases:views_again", UNKNOWN, view)
        ours = bench.least("tfprof_cases:views_again", UNKNOWN, view)
        bench.seconds(f"unknown batch, {view} view again, proto", peer, ours, 10.0)


def large_step_rows(bench: Bench, scale: int) -> None:
    first = bench.median(CASE, scale, "first", 1)
    milli = None if first is None else first * 1e3
    bench.at_most(f"× {scale} add_step, first", "", milli, 500, "ms")
    case = "tfprof_cases:add_step_memory"
    file_mb, peak_mb = (bench.median(case, scale, value, 1) for value in ("file_mb", "peak_mb"))
    shown = "" if file_mb is None else f"{file_mb:,.0f} MB of bytes"
    job = f"× {scale} add_step, memory at its peak beyond the bytes"
    bench.at_most(job, shown, peak_mb, round(2 * (file_mb or 0)), "MB")


def add_step_rows(bench: Bench, scale: int) -> None:
    goal = {1: 40.0, 10: 60.0}.get(scale, 0.0)
    ours = bench.median(CASE, scale, "first")
    later = bench.median(CASE, scale, "later")
    ready = bench.median(CASE, scale, "new_profiler")
    python, core = "tensorflow_cases:add_step_python", "tensorflow_cases:add_step_core"
    name = f"× {scale} add_step"
    peer = bench.median(python, scale, "first")
    bench.seconds(f"{name}, first, imported graph", peer, ours, goal)
    bench.seconds(f"{name}, later steps", bench.median(python, scale, "later"), later, 300.0)
    built = bench.median("tensorflow_cases:add_step_built", scale, "first")
    bench.seconds(f"{name}, first, graph as built", built, ours, goal)
    bench.seconds(f"{name}, TF's C++ core", bench.median(core, scale, "add_step"), ours)
    alone = bench.median(core, scale, "run_meta_only")
    bench.seconds(f"{name}, TF's C++ core, no graph or op log", alone, ours)
    both = total(bench.median(python, scale, "new_profiler"), peer)
    bench.seconds(f"× {scale} Profiler() + add_step", both, total(ready, ours))


def view_rows(bench: Bench, scale: int) -> None:
    proto_goal, light_goal, file_goal = (10.0, 25.0, 4.0) if scale == 10 else (2.0, 5.0, 0.0)
    for view in VIEWS:
        peer = bench.median("tensorflow_cases:views", scale, view)
        parsed = bench.median("tensorflow_cases:views", scale, f"{view}_parsed")
        note = " (TF's proto does not parse)" if parsed == 0 else ""
        ours = bench.median("tfprof_cases:views", scale, view)
        bench.seconds(f"× {scale} {view} view, proto{note}", peer, ours, proto_goal)
        light = bench.median("tfprof_cases:light_views", scale, view)
        bench.seconds(f"× {scale} {view} view, light object", peer, light, light_goal)
    peer = bench.median("tensorflow_cases:scope_file", scale, "file")
    ours = bench.median("tfprof_cases:scope_file", scale, "file")
    bench.seconds(f"× {scale} scope view to a file", peer, ours, file_goal)


def memory_rows(bench: Bench, scale: int) -> None:
    peer = bench.median("tensorflow_cases:memory", scale, "after_mb")
    before = bench.median("tensorflow_cases:memory", scale, "before_mb")
    shown = "n/a" if peer is None or before is None else f"{peer:,.0f} MB ({before:,.0f} before)"
    ours = bench.median("tfprof_cases:memory", scale, "after_mb")
    bench.at_most(f"× {scale} resident after 4 views", shown, ours, 500, "MB")
    peak = bench.median("tfprof_cases:memory", scale, "peak_mb")
    shown = "n/a" if peak is None else f"{peak:,.0f} MB"
    highest = bench.median("tensorflow_cases:memory", scale, "peak_mb")
    theirs = "n/a" if highest is None else f"{highest:,.0f} MB"
    bench.rows.append(Row(f"× {scale} peak, the input's bytes included", theirs, shown, ""))


def growth_rows(bench: Bench, scales: Sequence[int]) -> None:
    smallest = scales[0]
    for scale in scales[1:]:
        for value, what in (("ingest", "ingest"), ("views", "4 views"), ("held_mb", "memory")):
            low = bench.median("tfprof_cases:growth", smallest, value)
            repeat = 1 if scale >= 100 else 0
            high = bench.median("tfprof_cases:growth", scale, value, repeat)
            shown = [
                "n/a" if v is None else f"{v:,.0f} MB" if value == "held_mb" else milliseconds(v)
                for v in (low, high)
            ]
            ratio = high / low if low and high is not None else None
            limit = LIMIT_OF_GROWTH * scale / smallest
            bench.rows.append(
                Row(
                    f"growth × {smallest} → × {scale}: {what}",
                    shown[0],
                    shown[1],
                    "n/a" if ratio is None else f"{ratio:.1f} ×",
                    f"≤ {limit:.0f} ×",
                    None if ratio is None else ratio <= limit,
                )
            )


def startup_rows(bench: Bench, step: Step) -> None:
    for job, seconds, reason, goal in startup.measure(step, max(5, bench.repeat)):
        if reason:
            bench.reasons[job] = reason
        bench.at_most(job, "", None if seconds is None else seconds * 1e3, goal, "ms")


def machine() -> list[str]:
    """What was measured, and on what."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        named = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = named[0].partition(":")[2].strip() if named else cpu
    lines = [
        f"machine: {cpu}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}",
    ]
    if hasattr(os, "getloadavg"):
        lines.append(f"load {os.getloadavg()[0]:.1f} at the start")
    for package in ("tfprof", "tensorflow", "protobuf", "numpy"):
        try:
            lines.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            lines.append(f"{package}: {'this checkout' if package == 'tfprof' else 'none'}")
    return lines


def print_table(rows: Sequence[Row]) -> None:
    header = ("job", "TensorFlow", "tfprof", "figure", "goal", "")
    lines = [header]
    lines += [(r.job, r.peer, r.ours, r.figure, r.goal, r.verdict()) for r in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())


def measure_all(bench: Bench, scales: Sequence[int]) -> None:
    startup_rows(bench, generate(1, bench.cache))
    for scale in (scale for scale in scales if scale <= 10):
        parser_rows(bench, scale)
        add_step_rows(bench, scale)
        view_rows(bench, scale)
    if 1 in scales:
        unknown_batch_rows(bench)
    if 10 in scales:
        memory_rows(bench, 10)
    for scale in (scale for scale in scales if scale > 10):
        parser_rows(bench, scale)
        large_step_rows(bench, scale)
    growth_rows(bench, scales)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scales", default="1,10,100", help="default 1,10,100")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions (at most 3 above × 1)")
    parser.add_argument("--json", type=Path, help="write every single measurement here too")
    parser.add_argument("--cache", type=Path, help="where generated steps are kept")
    args = parser.parse_args()
    scales = sorted({int(scale) for scale in args.scales.split(",")})
    bench = Bench(args.cache or Path(tempfile.gettempdir()) / "tfprof-benchmarks", args.repeat)
    about = machine()
    print(", ".join(about), end="\n\n")
    try:
        measure_all(bench, scales)
    except KeyboardInterrupt:
        print("interrupted; what was measured until then:", file=sys.stderr)
    print_table(bench.rows)
    for key, reason in bench.reasons.items():
        print(f"n/a: {key} ({reason})")
    if args.json:
        rows = [asdict(row) for row in bench.rows]
        found = {"about": about, "rows": rows, "results": bench.results, "n/a": bench.reasons}
        args.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
