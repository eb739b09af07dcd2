"""Partial results of hosts: how small they are, how long merging and answering takes.

    python benchmarks/parts.py RUN [--tool overview] [--hosts 2 16 256]
    python benchmarks/parts.py RUN --hosts 16 --answers 64 256 1024

For each number of hosts of a run folder: bytes of the merged part, what of it are facts of hosts
and what are sums, and seconds to merge parts that were kept as bytes. Goal: the part of a host
is at most 1 % of its capture, and sums do not grow with the number of hosts.

``--answers`` puts the question to so many hosts, whose parts are those of the run again and again:
seconds, and memory beside the parts, kept until the answer is there and at most.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

from tfprof import tools
from tfprof.captures.hosts.asked import Fleet, fleet_of
from tfprof.captures.parts.condense import condense
from tfprof.captures.parts.condensed import Facts, condensed_run
from tfprof.captures.parts.part import Part, Wanted, merge
from tfprof.captures.run.run import Run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--tool", default="overview")
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 2, 16])
    parser.add_argument("--answers", type=int, nargs="*", default=[])
    chosen = parser.parse_args()
    files = fleet_of(chosen.run).files[: max(chosen.hosts)]
    tool = getattr(tools, chosen.tool.replace("-", "_"))
    fleet = Fleet("", files[:2])
    fleet.ask(tool)
    assert fleet.facts is not None
    (host, *_), sums_of = fleet.facts.part.hosts.values(), fleet.facts.part.sums
    wanted = Wanted(tuple(host.facts), tuple(sums_of))
    kept, begin = [], time.process_time()
    for file in files:
        kept.append(condense(file, wanted).to_bytes())
    took = time.process_time() - begin
    n_bytes = sum(file.n_bytes for file in files)
    print(f"made {len(files)} parts in {took:.1f} CPU s: {n_bytes / took / 1e6:.0f} MB/s")
    share = sum(map(len, kept)) / n_bytes
    print(f"a part has {sum(map(len, kept)) / len(kept):,.0f} bytes: {share:.3%} of its capture")
    for n in chosen.hosts:
        begin = time.process_time()
        merged = merge(map(Part.from_bytes, kept[:n]))
        took = time.process_time() - begin
        own = sum(len(fact) for host in merged.hosts.values() for fact in host.facts.values())
        sums = len(Part({}, merged.sums).to_bytes())
        print(
            f"{n} hosts: {len(merged.to_bytes()):,} bytes; facts {own:,}, sums {sums:,}; "
            f"merged in {took:.2f} CPU s"
        )
    many = [Part.from_bytes(one) for one in kept]
    for n in chosen.answers:
        begin = time.process_time()
        result = tool(repeated(many, n))
        took = time.process_time() - begin
        del result
        run = repeated(many, n)
        gc.collect()
        tracemalloc.start()
        result = tool(run)
        held, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del result, run
        print(
            f"{n} hosts: answered in {took:.2f} CPU s, {held / n / 1e3:.0f} kB kept for each host, "
            f"{most / n / 1e3:.0f} kB at most"
        )


def repeated(parts: Sequence[Part], n_hosts: int) -> Run:
    """A run of so many hosts with the facts of a few."""
    own = [host for part in parts for host in part.hosts.values()]
    hosts = {
        place: own[place % len(own)]._replace(label=f"host{place:05}") for place in range(n_hosts)
    }
    return condensed_run("", Facts(Part(hosts, merge(parts).sums), no_more, no_more))


def no_more(asked: object) -> Any:
    """Fails, as the parts hold all facts."""
    raise AssertionError(asked)


if __name__ == "__main__":
    main()
