"""Records many terms in a few child processes, as imports of a framework take seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from tests.truth.gym.grammar import Term
from tests.truth.gym.run import ENVIRONMENT

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 600
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONIOENCODING": "utf-8"}


def record_all(terms: Mapping[str, Term], folder: Path, *, at_once: int = 1) -> str:
    """Records terms below a folder, by name; what went wrong, if a process did not end well.

    Args:
        terms: Programs by name.
        folder: Where each gets a folder of its name.
        at_once: How many processes record side by side.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kinds = sorted({term.process for term in terms.values()})
    with ThreadPoolExecutor(at_once) as pool:
        return "".join(pool.map(lambda kind: _record(kind, terms, folder), kinds))


def _record(kind: str, terms: Mapping[str, Term], folder: Path) -> str:
    chosen = {name: asdict(term) for name, term in terms.items() if term.process == kind}
    listed = folder / f"{kind}-{next(iter(chosen))}.json"
    listed.write_text(json.dumps(chosen), "utf-8")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TFPROF_", "XLA_"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.truth.gym.run", folder, listed],
        cwd=ROOT, env={**inherited, **_QUIET, "PYTHONPATH": str(ROOT), **ENVIRONMENT[kind]},
        capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else f"{kind}: {done.returncode}\n{done.stderr[-4000:]}\n"
