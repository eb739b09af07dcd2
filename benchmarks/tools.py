"""The tools over a capture, against xprof's, each in a process of its own.

    python benchmarks/record_capture.py /tmp/capture
    python benchmarks/tools.py /tmp/capture --peer XPROF_ENVIRONMENT/bin/python --repeat 3

The peer is a Python that has ``xprof``; it cannot share an environment with TensorFlow. It gets a
fresh copy of the files for each tool, because it keeps its results beside them. Seconds are from
the first import to the answer, memory is the most that the process held.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import child_environment

TOOLS = {
    "overview": "overview_page",
    "input_pipeline": "input_pipeline_analyzer",
    "op_stats": "framework_op_stats",
    "kernel_stats": "kernel_stats",
    "memory": "memory_profile",
    "pod": "pod_viewer",
    "op_profile": "op_profile",
    "hlo_stats": "hlo_stats",
}
GOAL_OF_ONE, GOAL_OF_ALL = 3.0, 10.0

OURS = """
import json, resource, sys, time
begin = time.perf_counter()
import tfprof
from tfprof import tools
run = tfprof.open_run(sys.argv[1])
for name in sys.argv[2].split(","):
    getattr(tools, name)(run).to_dict()
"""
THEIRS = """
import glob, json, resource, sys, time
begin = time.perf_counter()
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
files = sorted(glob.glob(sys.argv[1] + "/*.xplane.pb"))
for name in sys.argv[2].split(","):
    xspace_to_tool_data(files, name, {})
"""
REPORT = """
seconds = time.perf_counter() - begin
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def measure(python: str, code: str, folder: Path, tools: str, repeat: int) -> tuple[float, float]:
    """Median seconds and megabytes."""
    found = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "run"
            copy.mkdir()
            for path in folder.glob("*.xplane.pb"):
                shutil.copy(path, copy)
            child = subprocess.run(
                [python, "-c", code + REPORT, str(copy), tools],
                capture_output=True, text=True, check=True,
                env=child_environment() if python == sys.executable else dict(os.environ),
            )  # fmt: skip
        found.append(json.loads(child.stdout.splitlines()[-1]))
    seconds, megabytes = (statistics.median(column) for column in zip(*found, strict=True))
    return seconds, megabytes


def run_folder(folder: Path) -> Path:
    """The folder of the files themselves."""
    return next(iter(sorted(folder.rglob("*.xplane.pb")))).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--peer", help="a Python with xprof")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    folder = run_folder(args.capture)
    size = sum(path.stat().st_size for path in folder.glob("*.xplane.pb")) / 1e6
    print(f"{size:.0f} MB; seconds and MB: tfprof, xprof, times as fast (goal), part of the memory")
    rows = [(name, name, theirs, GOAL_OF_ONE) for name, theirs in TOOLS.items()]
    rows.append(("all in one call", ",".join(TOOLS), ",".join(TOOLS.values()), GOAL_OF_ALL))
    for title, ours, theirs, goal in rows:
        seconds, megabytes = measure(sys.executable, OURS, folder, ours, args.repeat)
        line = f"{title:16} {seconds:7.2f} s {megabytes:6.0f} MB"
        if args.peer:
            their_seconds, their_megabytes = measure(args.peer, THEIRS, folder, theirs, args.repeat)
            ratio = their_seconds / seconds
            verdict = "met" if ratio >= goal else "NOT met"
            line += (
                f"  {their_seconds:7.2f} s {their_megabytes:6.0f} MB  {ratio:5.1f} x (>= {goal:g}) "
                f"{verdict}  {megabytes / their_megabytes:.2f}"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
