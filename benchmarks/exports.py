"""A capture in every format: how long it takes to write, and how much memory.

    python benchmarks/exports.py CAPTURE [--repeat 3]

Each format is written by a process of its own, which has read the capture before the clock starts:
the shortest of several times, and the largest memory before and after. Goal: 10 s for Perfetto,
Chrome, CSV and Parquet of 5 million events, and memory that does not grow with what is written.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tfprof.export.formats import BY_NAME, export_chunks
from tfprof.inputs.open_paths import open_paths
from tfprof.sql.catalog import Catalog


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def one(capture: str, name: str, repeat: int) -> dict[str, float]:
    """Read, and write in one format."""
    opened = open_paths([capture])
    form = BY_NAME[name]
    if form.needs == "table":
        table = Catalog(opened).table("events")
        n_events = sum(len(chunk[0]) for chunk in table.chunks)
        del table
    else:
        model = opened[0].events()
        n_events = sum(map(len, model.tracks))
        _ = model.flows
    before, times = peak_megabytes(), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeat):
            begin = time.perf_counter()
            with Path(folder, "out").open("wb") as stream:
                stream.writelines(export_chunks(opened, form))
                n_bytes = stream.tell()
            times.append(time.perf_counter() - begin)
    return {
        "seconds": min(times), "events": n_events, "megabytes": n_bytes / 1e6,
        "before": before, "after": peak_megabytes(),
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--formats", nargs="*", default=list(BY_NAME))
    parser.add_argument("--only")
    chosen = parser.parse_args()
    if chosen.only:
        print(json.dumps(one(chosen.capture, chosen.only, chosen.repeat)))
        return
    for name in chosen.formats:
        words = [chosen.capture, "--repeat", str(chosen.repeat), "--only", name]
        done = subprocess.run(
            [sys.executable, __file__, *words], check=True, capture_output=True, text=True
        )
        found = json.loads(done.stdout)
        print(
            f"{name:13} {found['seconds']:6.2f} s  {found['events']:>10,} rows or slices  "
            f"{found['seconds'] / found['events'] * 5e6:6.2f} s for 5 million  "
            f"{found['megabytes']:8.1f} MB  memory {found['before']:7.0f} → {found['after']:.0f} MB"
        )


if __name__ == "__main__":
    main()
