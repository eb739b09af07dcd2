"""Partial results of hosts: how small they are, and how long merging takes.

    python benchmarks/parts.py RUN [--tool overview] [--hosts 2 16 256]

For each number of hosts of a run folder: bytes of the merged part, what of it are facts of hosts
and what are sums, and seconds to merge parts that were kept as bytes. Goal: the part of a host
is at most 1 % of its capture, and sums do not grow with the number of hosts.
"""

from __future__ import annotations

import argparse
import time

from tfprof import tools
from tfprof.captures.parts.condense import condense
from tfprof.captures.parts.part import Part, Wanted, merge
from tfprof.fleet.asked import Fleet, fleet_of


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--tool", default="overview")
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 2, 16])
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


if __name__ == "__main__":
    main()
