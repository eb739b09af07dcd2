"""The client of captures and the agent, among workers that are hostile, or come and go."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fuzz.load.curve import Curve
from fuzz.load.programs import TFPROF, Outcome

_CHURN_SECONDS: Final = 3.0
_WAKE_SECONDS: Final = 0.5
_END_SECONDS: Final = 60.0
_MOST_MIB: Final = 2048.0


@contextmanager
def hostile_workers(n_workers: int) -> Iterator[list[tuple[str, str]]]:
    """Workers: the habit and the address of each."""
    command = [sys.executable, "-m", "fuzz.load.hostile_workers", str(n_workers)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        workers = []
        while line := process.stdout.readline().strip():
            habit, _, address = line.partition(" ")
            workers.append((habit, address))
        yield workers
    finally:
        process.kill()
        process.wait()


def capture(n_workers: int) -> Outcome:
    """One capture of all of them at once."""
    with hostile_workers(n_workers) as workers, tempfile.TemporaryDirectory() as folder:
        honest = [address for habit, address in workers if habit == "honest"]
        logs = Path(folder, "logs")
        command = [
            *TFPROF, "capture", *(address for _, address in workers), "--logdir", str(logs),
            "--duration", "100ms", "--retries", "1", "--timeout", "20s", "--run", "run",
        ]  # fmt: skip
        curve, output = _run(command, Path(folder, "out"))
        files = sorted(path.relative_to(logs).as_posix() for path in logs.rglob("*.pb"))
        findings = [
            f"the honest worker {address} was not captured"
            for address in honest
            if not any(address.replace(":", "_") in name for name in files)
        ]
        findings += [name for name in files if not name.startswith("plugins/profile/run/")]
        others = [path.name for path in Path(folder).iterdir() if path.name not in ("logs", "out")]
        findings += [f"written outside: {name}" for name in others]
    return _outcome(f"capture of {n_workers} workers, {len(honest)} of them honest: "
                    f"{len(files)} files", curve, output, findings)  # fmt: skip


def agent(n_workers: int, seconds: float, seed: int) -> Outcome:
    """The agent follows workers that come and go."""
    with hostile_workers(n_workers) as workers, tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "workers")
        random.Random(seed).shuffle(workers)

        def churn() -> None:
            """The list is a window on a ring, so that the load is the same in each round."""
            n_leaving = max(len(workers) // 10, 1)
            workers[:] = [*workers[n_leaving:], *workers[:n_leaving]]
            chosen = workers[: len(workers) // 2]
            listed.write_text("".join(f"{address}\n" for _, address in chosen))

        churn()
        command = [
            *TFPROF, "record", "--workers-from", str(listed), "--logdir", str(Path(folder, "logs")),
            "--for", f"{seconds:g}s", "--interval", "1s", "--keep", "5s", "--metrics", "0",
            "--when", "step_time > 1s",
        ]  # fmt: skip
        curve, output = _run(command, Path(folder, "out"), seconds, churn)
    return _outcome(f"record of {n_workers} workers for {seconds:g} s, half of them at a time",
                    curve, output, curve.growing())  # fmt: skip


def _run(
    command: Sequence[str], out: Path, seconds: float = 0.0, churn=lambda: None
) -> tuple[Curve, str]:
    """Run a command to its end, and sample it meanwhile; its curve and what it printed."""
    with out.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, stdin=subprocess.DEVNULL)
    curve, next_churn = Curve(process.pid), time.monotonic() + _CHURN_SECONDS
    until = time.monotonic() + seconds + _END_SECONDS * 2
    try:
        while process.poll() is None and time.monotonic() < until:
            try:
                curve.take(0)
            except (OSError, IndexError):  # it has just ended
                break
            if time.monotonic() > next_churn:
                churn()
                next_churn = time.monotonic() + _CHURN_SECONDS
            time.sleep(_WAKE_SECONDS)
        process.wait(max(until - time.monotonic(), 1.0))
    finally:
        process.kill()
        process.wait()
    return curve, out.read_text("utf-8", "replace")


def _outcome(what: str, curve: Curve, output: str, findings: list[str]) -> Outcome:
    if "Traceback" in output:
        findings.append(output[output.index("Traceback") :][:2000])
    if max(one.memory_mib for one in curve.samples) > _MOST_MIB:
        findings.append(f"more than {_MOST_MIB:g} MiB")
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in output):
        findings.append("control characters were printed")
    return Outcome([f"{what}; {len(output):,} letters printed", *list(curve.lines())[:3]], findings)
