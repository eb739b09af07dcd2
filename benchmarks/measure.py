"""What every benchmark case uses: the input, the options, clocks, memory, and the child process.

A case is a function of a step's folder and a number of repetitions. It returns named
lists of seconds (megabytes under names that end in ``_mb``). Each runs in a process of its own:

    python benchmarks/measure.py MODULE:FUNCTION FOLDER REPEAT RESULT_FILE
"""

from __future__ import annotations

import compileall
import gc
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VIEWS = ("scope", "graph", "op", "code")
Result = dict[str, list[float]]


@dataclass(frozen=True)
class Input:
    """The bytes of one step."""

    graph: bytes
    run_meta: bytes
    op_log: bytes

    @classmethod
    def load(cls, folder: Path) -> Input:
        return cls(*(Path(folder, f"{p}.pb").read_bytes() for p in ("graph", "run_meta", "op_log")))


def options(output: str = "none") -> dict[str, Any]:
    """``time_and_memory`` with nothing filtered out, the same dict for both programs."""
    minimums = "bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros"
    minimums += " params float_ops occurrence"
    return {
        "max_depth": 10000,
        **{f"min_{name}": 0 for name in minimums.split()},
        "order_by": "micros",
        "account_type_regexes": [".*"],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "select": ["micros", "bytes"],
        "step": -1,
        "output": output,
    }


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds that a call takes, and what it returns; garbage is collected before, not within."""
    gc.collect()
    start = time.perf_counter()
    value = function(*arguments)
    return time.perf_counter() - start, value


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def resident_mb() -> float:
    """Memory held now, or the peak where the system does not tell."""
    gc.collect()
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak_mb()
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def child_environment() -> dict[str, str]:
    """The checkout is measured, not an installed copy, but compiled as that is; TensorFlow stays
    quiet and on the CPU, and no answer comes from the cache.
    """
    compileall.compile_dir(ROOT / "tfprof", quiet=2)
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "0"}
    quiet["TFPROF_CACHE"] = ""
    return {**os.environ, **quiet, "PYTHONPATH": path}


def run_case(case: str, folder: Path, repeat: int) -> tuple[Result, str]:
    """Run a case in a new process: its result, or why there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "result.json"
        command = [sys.executable, __file__, case, str(folder), str(repeat), str(result)]
        done = subprocess.run(
            command, env=child_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return json.loads(result.read_text()), ""
    last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return {}, last[:100]


def main(case: str, folder: str, repeat: str, result: str) -> None:
    module, function = case.split(":")
    found = getattr(importlib.import_module(module), function)
    Path(result).write_text(json.dumps(found(Path(folder), int(repeat))))


if __name__ == "__main__":
    main(*sys.argv[1:])
