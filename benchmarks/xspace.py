"""Reading an XSpace into columns: speed by number of threads, memory, look-ups.

    python benchmarks/xspace.py --megabytes 200
    python benchmarks/xspace.py --capture worker0.xplane.pb --repeat 5
    python benchmarks/xspace.py --lines 100000

The file is a capture whose lines are repeated until it is large enough; without ``--capture``, one
that is built here: threads with ops, their stats and a share of plain Python calls. Every number is
taken in a process of its own, in turn with the others: with one thread, with two, and as yardsticks
copying the file in memory and protobuf's parser, which makes messages and no columns. On a machine
that is busy with other things CPU seconds say more than seconds. Memory is what the process holds
of its own, the copy of the file included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from measure import child_environment

_PLANE, _LINE = 1 << 3 | 2, 3 << 3 | 2
_OP_STATS = ("id", "_p", "_pt", "step_id", "iter_num", "tf_op", "shape", "bytes", "occupancy")


def built_capture(n_lines: int = 64, n_events: int = 400) -> Any:
    """A host and a device with ordinary events, and with every kind of stat."""
    from tfprof.core.wire import messages as pb

    chance = random.Random(7)
    space = pb.XSpace(hostnames=["worker0"])
    for number, name in enumerate(("/host:CPU", "/device:GPU:0")):
        plane = space.planes.add(id=number, name=name)
        for key, stat in enumerate(
            (*_OP_STATS, *(f"block{n}/dense:MatMul" for n in range(200))), 1
        ):
            plane.stat_metadata[key].id = key
            plane.stat_metadata[key].name = stat
        for key in range(1, 1500):
            plane.event_metadata[key].id = key
            plane.event_metadata[key].name = f"block{key % 97}/layer{key % 13}/dense:MatMul"
        for place in range(n_lines // 2):
            line = plane.lines.add(id=place, name=f"tf_Compute/{place}", timestamp_ns=1000 + place)
            moment = 0
            for _ in range(n_events):
                moment += chance.randrange(10**4, 10**8)
                event = line.events.add(
                    metadata_id=chance.randrange(1, 1500),
                    offset_ps=moment,
                    duration_ps=chance.randrange(10**3, 10**8),
                )
                _add_stats(event, chance)
    return space


def _add_stats(event: Any, chance: random.Random) -> None:
    if chance.random() < 0.5:  # a plain call
        return
    event.stats.add(metadata_id=1, uint64_value=chance.getrandbits(64))
    event.stats.add(metadata_id=4, int64_value=chance.randrange(10**6))
    event.stats.add(metadata_id=6, ref_value=chance.randrange(10, 210))
    if chance.random() < 0.2:
        event.stats.add(metadata_id=7, str_value="(f32[64,128];f32[128,256])")
        event.stats.add(metadata_id=9, double_value=chance.random())


def write_repeated(space: Any, path: Path, n_bytes: int, n_lines: int) -> None:
    """The capture with its lines repeated, to a size or to a number of lines."""
    shortest = [type(plane).FromString(plane.SerializeToString()) for plane in space.planes]
    lines = [[_field(_LINE, line.SerializeToString()) for line in p.lines] for p in shortest]
    if n_lines:
        lines = [[_field(_LINE, _cut(line)) for line in p.lines] for p in shortest]
    size = sum(len(line) for found in lines for line in found)
    times = max(1, n_lines // sum(map(len, lines)) if n_lines else n_bytes // size)
    for plane in shortest:
        del plane.lines[:]
    with path.open("wb") as stream:
        for plane, found in zip(shortest, lines, strict=True):
            content = plane.SerializeToString()
            block = b"".join(found)
            stream.write(_tag_and_size(_PLANE, len(content) + times * len(block)) + content)
            for _ in range(times):
                stream.write(block)


def _cut(line: Any) -> bytes:
    del line.events[20:]
    return bytes(line.SerializeToString())


def _field(tag: int, content: bytes) -> bytes:
    return _tag_and_size(tag, len(content)) + content


def _tag_and_size(tag: int, size: int) -> bytes:
    octets = bytearray([tag])
    while size >= 0x80:
        octets.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*octets, size])


class Memory:
    """Watches what the process holds of its own; nothing where the system does not tell."""

    def __init__(self) -> None:
        self.peak = self._start = self._now()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def grown(self) -> int:
        """The most that was held since, in bytes."""
        self._stop.set()
        self._thread.join()
        return self.peak - self._start

    def _watch(self) -> None:
        while not self._stop.wait(0.002):
            self.peak = max(self.peak, self._now())

    @staticmethod
    def _now() -> int:
        status = Path("/proc/self/status")
        lines = status.read_text().splitlines() if status.exists() else []
        found = [line.split()[1] for line in lines if line.startswith("RssAnon")]
        return int(found[0]) * 1024 if found else 0


def measure_once(path: str, threads: int, watch: bool) -> dict[str, float]:
    """One read in this process."""
    from tfprof.captures.read.xspace import read_xspace

    read_xspace(b"", threads=1)  # imports and plans
    memory = Memory() if watch else None
    start, start_cpu = time.perf_counter(), time.process_time()
    space = read_xspace(path, threads=threads)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    grown = memory.grown() if memory else 0
    n_stats = sum(len(plane.events.stats) for plane in space.planes)
    held = sum(plane.events.nbytes for plane in space.planes)
    return {
        "seconds": seconds,
        "cpu": cpu,
        "grown": grown,
        "held": held,
        "events": space.n_events,
        "stats": n_stats,
    }


def copy_once(path: str) -> dict[str, float]:
    """The file's content is copied, after it was mapped."""
    import numpy as np

    mapped = np.memmap(path, np.uint8, "r")
    start, start_cpu = time.perf_counter(), time.process_time()
    np.array(mapped)
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - start_cpu}


def parse_once(path: str) -> dict[str, float]:
    """Protobuf makes messages of it."""
    from tfprof.core.wire import messages as pb

    data = Path(path).read_bytes()
    start, start_cpu = time.perf_counter(), time.process_time()
    pb.XSpace.FromString(data)
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - start_cpu}


def look_up_once(path: str) -> dict[str, float]:
    """The most frequent stats of the largest plane, by name: seconds of the slowest look-up."""
    import numpy as np

    from tfprof.captures.read.xspace import read_xspace

    space = read_xspace(path)
    plane = max(space.planes, key=lambda plane: len(plane.events))
    found = {"events": len(plane.events), "find": 0.0, "numbers": 0.0, "texts": 0.0}
    start = time.perf_counter()
    _ = plane.metadata_rows, plane.events.stats.owners
    found["first"] = time.perf_counter() - start
    ids, counts = np.unique(plane.events.stats.metadata_ids, return_counts=True)
    for key in ids[np.argsort(-counts)[:5]].tolist():
        name = plane.stat_metadata.name_of[key]
        moments = [time.perf_counter()]
        column = plane.stat(name)
        moments.append(time.perf_counter())
        _ = column.signed
        moments.append(time.perf_counter())
        _ = column.texts
        moments.append(time.perf_counter())
        for part, seconds in zip(("find", "numbers", "texts"), np.diff(moments), strict=True):
            found[part] = max(found[part], float(seconds))
    return found


CHILDREN = {
    "1 thread": lambda path: measure_once(path, 1, watch=False),
    "2 threads": lambda path: measure_once(path, 2, watch=False),
    "copying": copy_once,
    "protobuf": parse_once,
    "memory": lambda path: measure_once(path, 1, watch=True),
    "look-ups": look_up_once,
}


def in_child(what: str, path: Path) -> dict[str, float]:
    """One of these in a new process."""
    command = [sys.executable, __file__, "--child", what, str(path)]
    done = subprocess.run(
        command, env=child_environment(), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def report(path: Path, repeat: int) -> None:
    """Print the numbers of one file."""
    size = path.stat().st_size
    kinds = ("1 thread", "2 threads", "copying", "protobuf")
    runs = {kind: [] for kind in kinds}
    for _ in range(repeat):
        for kind in kinds:
            if kind != "protobuf" or size < 1 << 31:  # it reads no more
                runs[kind].append(in_child(kind, path))
    memory, found = in_child("memory", path), in_child("look-ups", path)
    print(
        f"{size / 1e6:.0f} MB, {memory['events']:.0f} events, {memory['stats']:.0f} stats, "
        f"{os.cpu_count()} cores"
    )
    copying = statistics.median(run["seconds"] for run in runs["copying"])
    seconds = {}
    for kind in filter(runs.get, kinds):
        seconds[kind] = statistics.median(run["seconds"] for run in runs[kind])
        least = min(run["seconds"] for run in runs[kind])
        cpu = statistics.median(run["cpu"] for run in runs[kind])
        print(
            f"{kind}: {seconds[kind]:.3f} s (least {least:.3f}), {size / 1e6 / seconds[kind]:.0f} "
            f"MB/s, {cpu:.3f} CPU seconds, {seconds[kind] / copying:.1f} x copying"
        )
    print(f"2 threads are {seconds['1 thread'] / seconds['2 threads']:.2f} times as fast as one")
    print(f"memory: peak {memory['grown'] / size:.2f}, columns {memory['held'] / size:.2f} x file")
    shown = {part: f"{1e3 * found[part]:.0f} ms" for part in ("first", "find", "numbers", "texts")}
    print(
        f"look-ups among {found['events']:.0f} events: once {shown['first']}, then at most: find a "
        f"stat {shown['find']}, its numbers {shown['numbers']}, its texts {shown['texts']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--capture", type=Path, help="a capture to repeat")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--lines", type=int, default=0, help="short lines instead of megabytes")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    from tfprof.core.wire import messages as pb

    capture = options.capture
    space = pb.XSpace.FromString(capture.read_bytes()) if capture else built_capture()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "repeated.xplane.pb")
        write_repeated(space, path, options.megabytes * 10**6, options.lines)
        report(path, options.repeat)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](sys.argv[3])))
    else:
        main()
