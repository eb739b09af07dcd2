"""``python -m tests.truth.gym --seeds 500``: draws, records and judges programs.

What fails is kept: ``KEEP/SEED`` holds term, capture and truth, ``KEEP/false.jsonl`` each false
claim.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from tests.truth.gym.exercise import Result, drawn, exercise, shrunk, table

BATCH = 30


def main() -> int:
    """Exercises, prints a table, and returns how many programs failed, at most 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.truth.gym", description=__doc__)
    parser.add_argument("--seeds", type=int, default=30, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this one only")
    parser.add_argument("--shrink", action="store_true", help="make failing terms smaller")
    parser.add_argument("--once", action="store_true", help="record nothing a second time")
    parser.add_argument("--no-follow", action="store_true", help="do not follow advice")
    parser.add_argument("--keep", type=Path, default=Path("build/gym"), help="where to keep what")
    given = parser.parse_args()
    first, count = (given.first, given.seeds) if given.seed is None else (given.seed, 1)
    results: list[Result] = []
    for begin in range(first, first + count, BATCH):
        seeds = range(begin, min(begin + BATCH, first + count))
        some = exercise(
            drawn(seeds), given.keep, follow=not given.no_follow, again=not given.once
        )  # fmt: skip
        for one in some:
            _report(one, given.keep)
            if given.shrink and one.false:
                least = shrunk(one, given.keep / "shrunk")
                print(f"  smallest: {least.term.to_json()}", flush=True)
        results += some
    print("\n".join(table(results)))
    return int(any(one.false or one.failure for one in results))


def _report(one: Result, keep: Path) -> None:
    if one.failure:
        print(f"{one.name}: not recorded: {one.failure.strip().splitlines()[-1]}", flush=True)
        return
    if not one.false:
        shutil.rmtree(one.folder, ignore_errors=True)
        return
    print(f"{one.name}: {one.term.to_json()}", flush=True)
    with (keep / "false.jsonl").open("a", encoding="utf-8") as file:
        for verdict in one.false:
            claim = verdict.claim
            print(f"  {claim.source}, {claim.metric}: {claim.text}\n    but: {verdict.truth}")
            record = {"seed": one.name, "term": asdict(one.term), "source": claim.source,
                      "metric": claim.metric, "statement": claim.text,
                      "truth": verdict.truth}  # fmt: skip
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    sys.exit(main())
