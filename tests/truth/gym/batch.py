"""Records many terms in a few child processes, as imports of a framework take seconds."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from tests.truth.gym.grammar import Term
from tests.truth.gym.run import ADDRESSES, ENVIRONMENT, RANK
from tests.truth.own_clock import CAPTURE, FAILURE, TRUTH

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 600
TOGETHER = 2
"""So many processes train together."""

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
    if not kind.endswith("_together"):
        return _child(kind, folder, listed)
    where = " ".join(f"127.0.0.1:{port}" for port in _free_ports(TOGETHER))
    with ThreadPoolExecutor(TOGETHER) as pool:
        problems = pool.map(
            lambda rank: _child(kind, folder, listed, {RANK: str(rank), ADDRESSES: where}),
            range(TOGETHER),
        )
        problem = "".join(problems)
    for name in chosen:
        _join(folder, name)
    return problem


def _child(kind: str, folder: Path, listed: Path, more: Mapping[str, str] | None = None) -> str:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TFPROF_", "XLA_"))}
    own = {**_QUIET, "PYTHONPATH": str(ROOT), **ENVIRONMENT[kind], **(more or {})}
    done = subprocess.run(
        [sys.executable, "-m", "tests.truth.gym.run", folder, listed],
        cwd=ROOT, env={**inherited, **own},
        capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else f"{kind}: {done.returncode}\n{done.stderr[-4000:]}\n"


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


def _join(folder: Path, name: str) -> None:
    """Put the captures of processes that trained together into one run, a host for each."""
    for rank in range(1, TOGETHER):
        own = folder / f"{name}.{rank}"
        first = [*(folder / name / CAPTURE).rglob("*.xplane.pb")]
        for path in (own / CAPTURE).rglob("*.xplane.pb") if first else ():
            shutil.move(path, first[0].parent / f"worker-{rank}.xplane.pb")
        if (own / TRUTH).is_file():
            shutil.move(own / TRUTH, folder / name / f"{rank}.{TRUTH}")
        if (own / FAILURE).is_file():
            shutil.move(own / FAILURE, folder / name / FAILURE)
        shutil.rmtree(own, ignore_errors=True)
