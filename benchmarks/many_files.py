"""The cost of the number of files alone: listing a run, finding copies, and their remarks.

    python benchmarks/many_files.py --files 10000

The files are tiny; a tenth of them is broken. Prints seconds of each step, the shortest of several,
and how many notes and characters a run of so many broken files has.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tfprof.captures.run.run import open_run
from tfprof.files.run_folder import capture_files
from tfprof.files.same_content import same_content
from tfprof.testing.xspace_builders import event, host, line, xspace

REPEAT = 3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    n_files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for number in range(n_files):
            mark = event("train", number, 500, step_num=1, _r=1)
            data = xspace(host(line(mark)), hostname=f"w{number:06}").SerializeToString()
            name = folder / f"w{number:06}.xplane.pb"
            name.write_bytes(b"<html>Denied</html>" if number % 10 == 1 else data)
        files = capture_files(folder)
        print(f"{n_files:,} files")
        print(f"  list         {shortest(lambda: capture_files(folder)):7.2f} s")
        print(f"  find copies  {shortest(lambda: same_content(files)):7.2f} s")
        print(f"  open         {shortest(lambda: open_run(folder)):7.2f} s")
        notes = open_run(folder).notes
        print(f"  {len(notes)} notes, {sum(len(note.message) for note in notes):,} characters")


def shortest(function: Callable[[], Any]) -> float:
    """Seconds of the shortest of several calls."""
    taken = []
    for _ in range(REPEAT):
        began = time.perf_counter()
        function()
        taken.append(time.perf_counter() - began)
    return min(taken)


if __name__ == "__main__":
    main()
