"""A day of a training job in some minutes: does tfprof tell what happened, without a person?

``python -m tests.truth.day FOLDER``: each "hour" is a job of four processes, started with
``TFPROF_RUN`` alone; beside all of them runs one ``tfprof record``. Planted are slow steps, a
process that is killed and comes back, one that waits for a lock, and steps that take 3 % longer
from some hour on. A table at the end compares what was planted with what was found; the exit code
is the number of things that were missed or invented.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

RANKS = 4
STEP_SECONDS = 0.03
SLOW_SECONDS = 0.4
HANG_SECONDS = 14.0
HANG_TIMEOUT = 4.0

PROGRAM = """
import sys, threading, time
import jax, jax.numpy as jnp

plan, until = eval(sys.argv[1]), time.monotonic() + float(sys.argv[2])
step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((64, 64))
lock = threading.Lock()


def update_statistics(seconds):
    lock.acquire()
    threading.Timer(seconds, lock.release).start()
    with lock:
        pass


number = 0
while time.monotonic() < until:
    number += 1
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        start = time.perf_counter()
        x = step(x).block_until_ready()
        time.sleep(max(0, plan["seconds"] - (time.perf_counter() - start)))
        if number in plan["slow"]:
            time.sleep(plan["slow"][number])
        if number == plan["hang"]:
            update_statistics(plan["hang_seconds"])
"""


@dataclass(frozen=True)
class Hour:
    """What is planted in an hour."""

    slow: tuple[tuple[int, int], ...] = ()  # rank and number of the step
    restarted: int | None = None
    hung: int | None = None
    is_longer: bool = False

    def plan(self, rank: int) -> str:
        longer = 1.03 if self.is_longer else 1.0
        return repr({
            "seconds": STEP_SECONDS * longer,
            "slow": {number: SLOW_SECONDS for of, number in self.slow if of == rank},
            "hang": 150 if self.hung == rank else 0, "hang_seconds": HANG_SECONDS,
        })  # fmt: skip


def hours(n_before: int, n_after: int) -> list[Hour]:
    planted = {
        2: Hour(slow=((2, 200),)), 4: Hour(slow=((0, 150), (3, 260))),
        6: Hour(restarted=1), 8: Hour(hung=3),
    }  # fmt: skip
    usual = [planted.get(number, Hour()) for number in range(n_before)]
    return [*usual, *([Hour(is_longer=True)] * n_after)]


class Job:
    """The four processes of an hour."""

    def __init__(self, folder: Path, hour: Hour, seconds: float) -> None:
        self._folder, self._hour, self._seconds = folder, hour, seconds
        self.ranks = [self._start(rank, seconds) for rank in range(RANKS)]

    def _start(self, rank: int, seconds: float) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ, "RANK": str(rank), "TFPROF_RUN": f"{self._folder};key;server=yes",
            "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
        }  # fmt: skip
        with (self._folder / "programs.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(self._folder / "train.py"), self._hour.plan(rank),
                 str(seconds)], env=environment, stdout=log, stderr=log,
            )  # fmt: skip

    def restart(self, rank: int) -> None:
        self.ranks[rank].kill()
        self.ranks[rank].wait()
        time.sleep(1)
        self.ranks[rank] = self._start(rank, self._seconds * 0.6)

    def wait(self) -> None:
        for each in self.ranks:
            each.wait(self._seconds + 90)


class Agent:
    """One ``tfprof record`` for the whole day."""

    def __init__(self, jobs: Path, folder: Path) -> None:
        self._log = folder / "agent.jsonl"
        with self._log.open("wb") as out, (folder / "agent.err").open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tfprof", "record", "--workers-from", str(jobs),
                 "--logdir", str(folder / "recorded"), "--when",
                 "step_time > 3 * median and step_time > 200ms", "--keep", "20s", "--cooldown",
                 "2s", "--hang-timeout", f"{HANG_TIMEOUT}s", "--metrics", "0", "--overhead-check",
                 "0s", "--restart-wait", "1h", "--budget", "500 runs a day", "--format", "jsonl"],
                stdout=out, stderr=errors,
            )  # fmt: skip
        self._errors = folder / "agent.err"

    def save(self) -> None:
        self.process.send_signal(signal.SIGUSR1)

    def scrape(self) -> str:
        found = re.search(r"metrics: (http\S+)", self._errors.read_text("utf-8", "replace"))
        if found is None:
            return ""
        with contextlib.suppress(OSError), urllib.request.urlopen(found[1], timeout=10) as answer:
            return str(answer.read().decode())
        return ""

    def stop(self) -> list[dict[str, object]]:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(120)
        lines = self._log.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]


def tfprof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tfprof", *arguments], capture_output=True, text=True, check=False
    )


def live(folder: Path, day: list[Hour], seconds: float) -> tuple[list[dict[str, object]], str]:
    """Run all jobs beside the agent; its events and the last metrics."""
    jobs = folder / "jobs"
    jobs.mkdir(parents=True)
    (jobs / "train.py").write_text(PROGRAM)
    agent, metrics = None, ""
    try:
        for number, hour in enumerate(day):
            job = Job(jobs, hour, seconds)
            if agent is None:
                until = time.monotonic() + 60
                while not list(jobs.glob(".tfprof/*.json")) and time.monotonic() < until:
                    time.sleep(0.2)
                agent = Agent(jobs, folder)
            if hour.restarted is not None:
                time.sleep(seconds / 2)
                job.restart(hour.restarted)
                time.sleep(seconds * 0.3)
            else:
                time.sleep(seconds * 0.8)
            metrics = agent.scrape() or metrics
            if hour == Hour() or hour.is_longer:
                agent.save()
            job.wait()
            print(f"hour {number} is over: {hour}", flush=True)
    finally:
        events = agent.stop() if agent is not None else []
    return events, metrics


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=22.0, help="how long an hour takes")
    parser.add_argument("--before", type=int, default=20, help="hours before the steps get longer")
    parser.add_argument("--after", type=int, default=6, help="hours after that")
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    day = hours(given.before, given.after)
    events, metrics = live(folder, day, given.seconds)
    return judged(folder, day, events, metrics)


def judged(folder: Path, day: list[Hour], events: list[dict], metrics: str) -> int:
    """Compare what was planted with what was found."""
    rows: list[tuple[str, str, bool]] = []
    known = [step for event in events for step in event["steps"] if not step["is_open"]]
    slow = sorted({step["first"] for step in known if step["seconds"] < HANG_SECONDS / 2})
    planted = sorted(number for hour in day for _, number in hour.slow)
    rows.append(("slow steps", f"planted {planted}, found {slow}", slow == planted))
    reasons = [str(event["reason"]) for event in events]
    hangs = [reason for reason in reasons if "Hang" in reason or "hang" in reason]
    is_hung = len(hangs) == 1 and "rank 3" in hangs[0] and "update_statistics" in hangs[0]
    rows.append(("hang of rank 3 in update_statistics", "; ".join(hangs) or "none", is_hung))
    overviews = [
        tfprof("overview", str(event["folder"])).stdout
        for event in events
        if "Hang" in str(event["reason"]) and event["folder"]
    ]
    first = " ".join(overviews[0].splitlines()[1:4]) if overviews else "none"
    rows.append(("its overview", first, first.startswith("Hang of rank 3")))
    ends = [reason for reason in reasons if "ended" in reason]
    rows.append(("the end of a killed process", "; ".join(ends)[:300] or "none", bool(ends)))
    counted = re.findall(r"^tfprof_step_seconds_count\{.*\} (\d+)", metrics, re.MULTILINE)
    n_steps = sum(map(int, counted))
    rows.append(("metrics count steps", f"{n_steps} steps of {len(counted)} workers", n_steps > 0))
    regular = [event for event in events if "SIGUSR1" in str(event["reason"]) and event["folder"]]
    database = folder / "day.duckdb"
    for event in regular:
        tfprof(
            "history",
            str(database),
            "--add",
            str(event["folder"]),
            "--program",
            "train",
            "--no-compare",
        )
    answer = tfprof("history", str(database), "--metric", "step_time", "--no-compare").stdout
    n_usual = sum(hour == Hour() for hour in day)
    changes = re.findall(r"step_time of train (rose|fell) by ([\d.]+)", answer)
    is_found = len(changes) == 1 and changes[0][0] == "rose" and 2 < float(changes[0][1]) < 4
    rows.append((f"+3 % after {n_usual} of {len(regular)} runs", answer[:600], is_found))
    for name, event, code in (
        ("a run before", regular[n_usual - 1], 0),
        ("the last run", regular[-1], 1),
    ):
        early = folder / f"gate-{event['folder'].rpartition('/')[2]}.duckdb"
        for each in regular[:n_usual]:
            if each is not event:
                tfprof(
                    "history",
                    str(early),
                    "--add",
                    str(each["folder"]),
                    "--program",
                    "train",
                    "--no-compare",
                )
        checked = tfprof(
            "check", str(event["folder"]), "--history", str(early), "--program", "train"
        )
        rows.append(
            (
                f"gate of {name}",
                f"exit code {checked.returncode}\n{checked.stdout}",
                checked.returncode == code,
            )
        )
    for what, found, is_right in rows:
        print(f"{'yes' if is_right else 'NO ':4}{what}: {found}")
    return sum(not is_right for *_, is_right in rows)


if __name__ == "__main__":
    sys.exit(main())
