"""How long ``tfprof slice`` takes, and how much memory, on a capture of many megabytes.

Each slice is a process of its own.

    python benchmarks/slices.py CAPTURE.xplane.pb --time 0s:1s --steps 10:20
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sliced(source: Path, *words: str) -> None:
    """Prints seconds, peak memory over the size of the capture, and the size of the slice."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "part.xplane.pb"
        before = time.perf_counter()
        peak = subprocess.run(
            [sys.executable, __file__, "--child", source, "-o", target, *words],
            check=True, capture_output=True, text=True, cwd=ROOT,
        ).stdout.splitlines()[-1]  # fmt: skip
        seconds = time.perf_counter() - before
        size = source.stat().st_size
        times = int(peak) * 1024 / size
        print(
            f"{' '.join(words) or 'all'}: {seconds:.1f} s, peak {times:.2f} times the "
            f"{size / 1e6:.0f} MB, slice {target.stat().st_size / 1e6:.1f} MB"
        )


def child(words: list[str]) -> None:
    sys.path.insert(0, str(ROOT))
    from tfprof.cli.program import cli

    cli(["slice", *words], standalone_mode=False)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("capture", type=Path)
    parser.add_argument("--time", default="0s:1s")
    parser.add_argument("--steps", default="")
    parser.add_argument("--device", default="")
    args = parser.parse_args()
    source = args.capture.absolute()
    sliced(source)
    for option in ("time", "steps", "device"):
        if value := getattr(args, option):
            sliced(source, f"--{option}", value)


if __name__ == "__main__":
    main()
