"""Seconds and memory of whole commands on one host or many, and of xprof on the same files.

    python benchmarks/many_hosts.py /tmp/hosts16 --hosts 16 --from CAPTURE
    python benchmarks/many_hosts_against_xprof.py /tmp/hosts16 --peer XPROF_ENVIRONMENT/bin/python
    python benchmarks/longer_capture.py CAPTURE.xplane.pb /tmp/long/host.xplane.pb --megabytes 200
    python benchmarks/many_hosts_against_xprof.py /tmp/long --peer XPROF_ENVIRONMENT/bin/python \
        --tools overview op-stats kernel-stats memory input-pipeline

Each is a process of its own, from its start to its end, and they take turns, so that other work on
the machine meets all of them; the shortest of several counts. The peer is a Python that has
``xprof``; it converts in a new folder of links each time, so that no answer that it kept is used
again. In "all" one process of it answers all, the others out of what it kept of the first, and
is compared with the sum of the commands. Memory is the most that a process held.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from measure import child_environment

TOOLS = {
    "overview": "overview_page",
    "op-stats": "framework_op_stats",
    "kernel-stats": "kernel_stats",
    "memory": "memory_profile",
    "input-pipeline": "input_pipeline_analyzer",
}
ALL = "all"

THEIRS = """
import sys
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
for name in sys.argv[1].split(","):
    xspace_to_tool_data(sys.argv[2:], name, {})
"""


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def cost(command: list[str], environment: dict[str, str]) -> Cost:
    """Run a process to its end."""
    began = time.perf_counter()
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command[:4])} …: ended with {child.returncode}")
    seconds = time.perf_counter() - began
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="log folders")
    parser.add_argument("--peer", help="a Python that has xprof")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=["overview", "op-stats"])
    parser.add_argument("--words", default="", help="more words for tfprof: '--memory 4G'")
    args = parser.parse_args()
    commands = {name: TOOLS[name] for name in args.tools}
    ours = [sys.executable, "-m", "tfprof"]
    for folder in args.folders:
        files = sorted(map(str, folder.rglob("*.xplane.pb")))
        size = sum(Path(file).stat().st_size for file in files) / 1e6
        cases = {
            name: ([*ours, name, str(folder), *args.words.split()], child_environment())
            for name in commands
        }
        best: dict[str, Cost] = {}
        peers: dict[str, Cost] = {}
        for _ in range(args.repeat):
            for name, (command, environment) in cases.items():
                keep_best(best, name, cost(command, environment))
            if args.peer:
                for name, tools in {**commands, ALL: ",".join(commands.values())}.items():
                    keep_best(peers, name, cost_of_peer(args.peer, tools, files))
        best[ALL] = Cost(
            sum(best[name].seconds for name in commands),
            sum(best[name].cpu_seconds for name in commands),
            max(best[name].megabytes for name in commands),
        )
        print(f"{folder}: {len(files)} hosts, {size:,.0f} MB")
        for name, ours_took in best.items():
            print(f"  tfprof {name:15}{said(ours_took, size)}")
            if name in peers:
                times = [theirs / own for theirs, own in zip(peers[name], ours_took, strict=True)]
                print(
                    f"  xprof  {name:15}{said(peers[name], size)}\n"
                    "    xprof / tfprof: {:.1f} x the seconds, {:.1f} x the CPU seconds, "
                    "{:.1f} x the memory".format(*times), flush=True
                )  # fmt: skip


def said(taken: Cost, size: float) -> str:
    """A line of the table."""
    return (
        f"{taken.seconds:7.2f} s {taken.cpu_seconds:7.2f} CPU s {taken.megabytes:7,.0f} MB"
        f"  {size / taken.cpu_seconds:6.1f} MB per CPU s"
    )


def keep_best(best: dict[str, Cost], name: str, taken: Cost) -> None:
    """Keep the least of each number."""
    best[name] = Cost(*map(min, taken, best.get(name, taken)))


def cost_of_peer(python: str, tools: str, files: list[str]) -> Cost:
    """Of xprof, in a folder of links to the files: it keeps its answers beside them."""
    with tempfile.TemporaryDirectory() as scratch:
        links = [str(Path(scratch) / Path(file).name) for file in files]
        for link, file in zip(links, files, strict=True):
            Path(link).symlink_to(Path(file).absolute())
        quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        return cost([python, "-c", THEIRS, tools, *links], quiet)


if __name__ == "__main__":
    main()
