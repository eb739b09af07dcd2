"""Large captures of one host: seconds and memory of whole commands, by size.

    python benchmarks/large_capture.py CAPTURE.xplane.pb --megabytes 500 2400 5000
    python benchmarks/large_capture.py CAPTURE.xplane.pb --megabytes 5000 --memory 4G

The recorded capture is made as large as that by ``longer_capture.py``, which needs twice its size
on the disk for a while. Each command runs in a process of its own, which is watched. CPU seconds
grow as the file does if nothing is worse than linear; what else the machine does disturbs them less
than seconds. Memory is that of the process (resident), and what of it no file stands behind
(anonymous): only this is taken from others for good.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from longer_capture import write_longer

from tfprof.core.wire import messages as pb

_TOOLS = ("op-stats", "memory", "overview")
_EVERY_S = 0.02
_FIELDS = re.compile(r"(VmHWM|RssAnon):\s+(\d+)")


class Measured(NamedTuple):
    """What a command took.

    Attributes:
        wall_s: Seconds.
        cpu_s: Seconds of all of its threads.
        resident: Bytes of memory at the peak.
        anonymous: The same without what files stand behind.
    """

    wall_s: float
    cpu_s: float
    resident: int
    anonymous: int


def measured(words: list[str], limit_bytes: int | None) -> Measured:
    """Run a command; on Linux only.

    Args:
        words: Its words.
        limit_bytes: The most private memory that the system may give it (``prlimit --data``).
    """
    limit = [] if limit_bytes is None else ["prlimit", f"--data={limit_bytes}"]
    begin = time.perf_counter()
    child = subprocess.Popen(
        [*limit, sys.executable, "-m", "tfprof", *words], stdout=subprocess.DEVNULL
    )
    ticks, most = 0, {"VmHWM": 0, "RssAnon": 0}
    while child.poll() is None:
        try:
            status = Path(f"/proc/{child.pid}/status").read_text()
            fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            break
        for name, kilobytes in _FIELDS.findall(status):
            most[name] = max(most[name], int(kilobytes) << 10)
        if len(fields) > 12:
            ticks = max(ticks, int(fields[11]) + int(fields[12]))
        time.sleep(_EVERY_S)
    if child.wait():
        raise SystemExit(f"tfprof {' '.join(words)} ended with {child.returncode}")
    wall_s = time.perf_counter() - begin
    return Measured(wall_s, ticks / 100, most["VmHWM"], most["RssAnon"])


def _rows(
    path: Path, tools: list[str], memory: str | None, limit_bytes: int | None
) -> dict[str, Measured]:
    size = path.stat().st_size
    found = {}
    for tool in tools:
        words = [tool, str(path), *(["--memory", memory] if memory else [])]
        one = found[tool] = measured(words, limit_bytes)
        print(
            f"{size / 1e6:7.0f} MB  {tool:10} {one.wall_s:7.1f} s {one.cpu_s:7.1f} CPU s "
            f"{one.resident / 1e6:7.0f} MB {one.resident / size:6.2f} x the file "
            f"{one.anonymous / 1e6:7.0f} MB anonymous",
            flush=True,
        )
    return found


def main() -> None:
    """Make the captures, measure, and tell how seconds grow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[500, 2400, 5000])
    parser.add_argument("--tools", nargs="+", default=list(_TOOLS))
    parser.add_argument("--memory", help="--memory of the commands")
    parser.add_argument("--limit", type=int, help="most bytes of private memory that they get")
    parser.add_argument("--folder", type=Path, help="keeps the captures, and takes those it has")
    chosen = parser.parse_args()
    by_size: dict[float, dict[str, Measured]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for megabytes in sorted(chosen.megabytes):
            path = (chosen.folder or Path(temporary)) / f"{megabytes:.0f}.xplane.pb"
            if not path.exists():
                space = pb.XSpace.FromString(chosen.capture.read_bytes())
                with path.open("wb") as out:
                    write_longer(space, int(megabytes * 1e6), out)
                del space
            size = path.stat().st_size
            by_size[size] = _rows(path, chosen.tools, chosen.memory, chosen.limit)
            if chosen.folder is None:
                path.unlink()
    least, most = min(by_size), max(by_size)
    for tool in chosen.tools if least < most else []:
        before, after = by_size[least][tool], by_size[most][tool]
        print(
            f"{tool:10} {most / least:.2f} x the bytes: {after.cpu_s / before.cpu_s:.2f} x the CPU "
            f"seconds, {after.wall_s / before.wall_s:.2f} x the seconds"
        )


if __name__ == "__main__":
    main()
