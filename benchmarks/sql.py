"""Questions in SQL over the events of a capture: the first one, and those that follow.

    python benchmarks/sql.py CAPTURE

Seconds of the wall clock, the shortest of several but for the first question, which sorts the
events into a timeline. Goal: an aggregate over 5 million events in 0.5 s after that.
"""

from __future__ import annotations

import argparse
import time

from tfprof.sql import Database

QUESTIONS = {
    "sums by name": "select name, count(*), sum(self_ps) from events group by name",
    "by step and type": "select step, op_type, sum(duration_ps) from events group by all",
    "quantiles": "select plane, quantile_cont(duration_ps, [0.5, 0.99]) from events group by plane",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture")
    parser.add_argument("--repeat", type=int, default=5)
    chosen = parser.parse_args()
    with Database(chosen.capture) as database:
        begin = time.perf_counter()
        [(n_events,)] = database.query("select count(*) from events").table().rows
        print(f"first question: {time.perf_counter() - begin:.2f} s, {n_events:,} events")
        for name, question in QUESTIONS.items():
            times = []
            for _ in range(chosen.repeat):
                begin = time.perf_counter()
                database.query(question)
                times.append(time.perf_counter() - begin)
            print(f"{name}: {min(times):.3f} s")


if __name__ == "__main__":
    main()
