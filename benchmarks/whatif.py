"""A captured run gone through again: seconds by event, after reading it and finding its steps.

    python benchmarks/whatif.py CAPTURE

Seconds of the wall clock: reading and steps, which all tools need; the first question, which finds
out what waits for what; and a further one with other costs. ``longer_capture.py`` makes a capture
of more than a million events.
"""

from __future__ import annotations

import argparse
import time

import tfprof


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    run = tfprof.open_run(chosen.capture)
    tfprof.tools.overview(run)
    n_events = sum(len(host.timeline) for host in run.hosts)
    read = time.perf_counter()
    tfprof.whatif(run)
    first = time.perf_counter()
    tfprof.whatif(run, free="input")
    again = time.perf_counter()
    print(f"{n_events:,} events; read, with an overview: {read - begin:.2f} s")
    for name, seconds in (("first question", first - read), ("again", again - first)):
        print(f"{name}: {seconds:.2f} s, {1e6 * seconds / n_events:.2f} s for a million events")


if __name__ == "__main__":
    main()
