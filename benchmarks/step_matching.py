"""Steps of hosts that are matched by time: seconds by the number of their steps.

    python benchmarks/step_matching.py [--hosts 1000] [--steps 720 3600 36000]

Steps of 10 ms on each host, clocks within three steps of each other. Goal: linear in the steps.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from tfprof.captures.events.steps.step_alignment import align_by_time


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--steps", type=int, nargs="+", default=[720, 3600, 36000])
    chosen = parser.parse_args()
    random = np.random.default_rng(1)
    for n_steps in chosen.steps:
        starts = np.cumsum(random.integers(9, 11, n_steps)) * 10**9
        clocks = random.integers(0, 30, chosen.hosts) * 10**9
        hosts = [starts + clock for clock in clocks.tolist()]
        begin = time.process_time()
        align_by_time(hosts, [own + 9 * 10**9 for own in hosts])
        took = time.process_time() - begin
        print(f"{n_steps:,} steps: {took / chosen.hosts * 1e3:.2f} ms of the CPU for each host")


if __name__ == "__main__":
    main()
