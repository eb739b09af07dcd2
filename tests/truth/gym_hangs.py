"""Jobs of real processes that hang in planned ways: is the right rank named, and how soon?

python -m tests.truth.gym_hangs [--job FRAMEWORK-WORKERS-KIND ...] [--timeout SECONDS]
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.truth.programs_hangs import CLEAN, HANGS, addresses, started
from tfprof.captures.run.hang_record import Hang, hang_of
from tfprof.remote.flight import FlightRecorder
from tfprof.remote.hangs import HangWatch

JOBS = [f"jax-8-{kind}" for kind in (*HANGS, *CLEAN) if kind != "generator"] + [
    f"tensorflow-4-{kind}" for kind in ("lock", "generator", "evaluation")
]
TIMEOUT_S = 5.0


class Outcome(NamedTuple):
    """What was found.

    Attributes:
        hang: The hang; None if none was found.
        seconds: From the planned stop to the run; None without one.
        folder: The run.
    """

    hang: Hang | None
    seconds: float | None
    folder: str


def outcome(name: str, folder: Path, timeout_s: float = TIMEOUT_S) -> Outcome:
    """Record a job until a hang is found, or long enough without one."""
    framework, n_workers, kind = name.split("-")
    with started(framework, int(n_workers), kind, folder):
        servers = addresses(folder, int(n_workers))
        watch = HangWatch(timeout_s, folders=[folder])
        with FlightRecorder(
            servers, folder / "logs", interval_seconds=timeout_s / 4,
            answer_seconds=timeout_s / 2, watch=watch.saw, writes_silent=False,
        ) as recorder:  # fmt: skip
            watch.start(recorder)
            limit = 3 * timeout_s + 5 * (1 + (kind in HANGS))
            timer = threading.Timer(limit, recorder.stop)
            timer.start()
            try:
                for saved in recorder.events():
                    watch.wrote(saved)
                    hang = hang_of(saved.folder) if saved.folder else None
                    if hang is not None:
                        [stopped] = folder.glob("*.stops")
                        return Outcome(hang, time.time() - stopped.stat().st_mtime, saved.folder)
            finally:
                timer.cancel()
                watch.stop()
    return Outcome(None, None, "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run jobs, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", nargs="*", default=JOBS)
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S)
    given = parser.parse_args(arguments)
    for name in given.job:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            found = outcome(name, Path(folder), given.timeout)
            ranks = [] if found.hang is None else [found.hang.ranks[at].number for at in
                                                   found.hang.named]  # fmt: skip
            after = "no verdict" if found.seconds is None else f"{found.seconds:.1f} s"
            print(f"{name:28} {after:12} ranks {ranks}  ({time.monotonic() - begin:.0f} s)")
            if found.hang is not None:
                print("\n".join(f"    {claim.text}" for claim in found.hang.claims), flush=True)


if __name__ == "__main__":
    main()
