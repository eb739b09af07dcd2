"""Times of whole processes: importing tfprof, ``tfprof --help``, a one-shot view."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from generate import Step
from measure import child_environment

IMPORT_MS, HELP_MS, ONE_SHOT_MS = 60.0, 150.0, 400.0


def program() -> list[str]:
    """The installed ``tfprof`` beside this Python, else the module."""
    found = shutil.which("tfprof", path=str(Path(sys.executable).parent))
    return [found] if found else [sys.executable, "-m", "tfprof"]


def wall(command: Sequence[str], repeat: int) -> tuple[float | None, str]:
    """Median seconds of a command after one run to warm the file cache, or why it failed."""
    seconds = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        done = subprocess.run(
            command, env=child_environment(), capture_output=True, text=True, check=False
        )
        seconds.append(time.perf_counter() - start)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return None, last[:100]
    return statistics.median(seconds[1:]), ""


def measure(step: Step, repeat: int) -> Iterator[tuple[str, float | None, str, float]]:
    """What was run, its median seconds or the reason for having none, and the goal in ms."""
    bare, _ = wall([sys.executable, "-c", "pass"], repeat)
    seconds, reason = wall([sys.executable, "-c", "import tfprof; tfprof.__version__"], repeat)
    over = None if seconds is None or bare is None else max(0.0, seconds - bare)
    yield "import tfprof, over bare Python", over, reason, IMPORT_MS
    yield "tfprof --help", *wall([*program(), "--help"], repeat), HELP_MS
    files = [f"--graph_path={step.graph}", f"--run_meta_path={step.run_meta}"]
    one_shot = [*program(), "op", *files, f"--op_log_path={step.op_log}"]
    yield "tfprof op, × 1 files", *wall(one_shot, repeat), ONE_SHOT_MS
