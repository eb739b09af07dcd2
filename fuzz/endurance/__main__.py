"""Long runs in processes of their own: memory, descriptors, threads and files must stay flat.

    python -m fuzz.endurance                      # all, in about an hour
    python -m fuzz.endurance pages --share 0.1    # a tenth of the pages
    python -m fuzz.endurance --out FOLDER         # also writes samples, the table and the curves

Exits with 1 if something grows. ``verdict_on`` has the rule.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz.endurance.curve import drawn
from fuzz.endurance.watched import Sample, Verdict, sample_of, verdict_on
from fuzz.endurance.workloads import WORKLOADS, Workload

N_SAMPLES = 90


def measure(name: str, count: int) -> None:
    """Run in this process; a line of JSON for each sample."""
    due = {max(1, round(count * (at + 1) / N_SAMPLES)) for at in range(N_SAMPLES)}

    def look(done: int, process: int | None = None) -> None:
        if done in due:
            print(json.dumps(sample_of(process or os.getpid(), done)), flush=True)

    WORKLOADS[name].run(count, look)
    print(json.dumps(time.process_time()), flush=True)


def measured(name: str, count: int) -> tuple[list[Sample], float]:
    """Run in a new process; its samples, and its CPU time in seconds."""
    with tempfile.TemporaryDirectory(prefix="endurance-") as folder:
        command = [sys.executable, "-m", "fuzz.endurance", "--child", name, "--count", str(count)]
        environment = {
            **os.environ, "TMPDIR": folder, "TFPROF_CACHE": "", "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1",
        }  # fmt: skip
        ran = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    *samples, seconds = map(json.loads, ran.stdout.splitlines())
    return [Sample(*one) for one in samples], seconds


def row(one: Workload, samples: Sequence[Sample], verdict: Verdict) -> str:
    """A row of the table, in Markdown."""
    first, last = samples[round(len(samples) / 3)], samples[-1]
    what = f"{verdict.growth_bytes / 1e6:+.2f} MB, noise {verdict.allowed_bytes / 1e6:.2f} MB"
    if one.keeps:
        what = f"{verdict.per_unit_bytes:,.0f} bytes each {one.unit}"
    state = "flat" if verdict.is_flat else f"grows {' '.join(verdict.grown)}".rstrip()
    if one.keeps and verdict.is_flat:
        state = "even"
    pairs = (
        f"{getattr(first, name)} → {getattr(last, name)}"
        for name in ("descriptors", "threads", "files")
    )
    memory = f"{first.resident_bytes / 1e6:.1f} → {last.resident_bytes / 1e6:.1f} MB"
    return f"| {one.title} | {last.done:,} | {memory} | {what} | {' | '.join(pairs)} | {state} |"


HEAD = """\
| run | units | memory after a third → at the end | growth | descriptors | threads | files | |
| --- | ---: | ---: | --- | ---: | ---: | ---: | --- |"""


def main() -> int:
    """Run what the command line says; 1 if something grows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(WORKLOADS))
    parser.add_argument("--share", type=float, default=1.0, help="part of the units")
    parser.add_argument("--out", type=Path, help="a folder for samples, table and curves")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measure(given.child, given.count)
        return 0
    if unknown := set(given.names) - set(WORKLOADS):
        parser.error(f"no run {', '.join(unknown)}; there are: {', '.join(WORKLOADS)}")
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    runs, rows, is_flat = {}, [HEAD], True
    for name in given.names or WORKLOADS:
        one = WORKLOADS[name]
        samples, seconds = measured(name, max(N_SAMPLES, round(one.count * given.share)))
        verdict = verdict_on(samples, keeps=one.keeps)
        runs[one.title], is_flat = samples, is_flat and verdict.is_flat
        rows.append(row(one, samples, verdict))
        print(f"{rows[-1]}  {seconds:.0f} s of CPU", flush=True)
        if given.out:
            Path(given.out, f"{name}.json").write_text(json.dumps(samples) + "\n")
    if given.out:
        Path(given.out, "endurance.svg").write_text(drawn(runs))
        Path(given.out, "endurance.md").write_text("\n".join(rows) + "\n")
    return int(not is_flat)


if __name__ == "__main__":
    sys.exit(main())
