"""Comparing two runs: two ResNet-50 profiles, and two captures against reading both.

    python benchmarks/diff.py [CAPTURE CAPTURE]

Goals: the profiles in 0.3 s; the captures in 1.2 times what opening both and showing their overview
takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import tfprof
from tfprof.insight.diff.ask import diff


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="*")
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    files = tfprof.demo_files()

    def profile() -> tfprof.Profiler:
        made = tfprof.Profiler(files.graph, files.op_log)
        made.add_step(0, files.run_meta)
        return made

    profile().diff(profile())
    both = [(profile(), profile()) for _ in range(chosen.repeat)]
    seconds = min(_seconds(lambda pair=pair: pair[0].diff(pair[1])) for pair in both)
    print(f"two ResNet-50 profiles: {seconds:.2f} s")
    if not chosen.captures:
        return
    before, after = chosen.captures

    def read() -> None:
        for path in (before, after):
            tfprof.tools.overview(tfprof.open_run(path))

    reading = min(_seconds(read) for _ in range(chosen.repeat))
    whole = min(_seconds(lambda: diff(before, after)) for _ in range(chosen.repeat))
    print(f"two captures: {whole:.2f} s, read and shown {reading:.2f} s: {whole / reading:.2f} ×")


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
