"""How many mutants of the modules that decide do the tests kill, and which survive?

python -m tests.mutants                        all chosen modules, a sample of each
python -m tests.mutants insight/budgets        those whose names contain a text
python -m tests.mutants --all gate naming      every mutant
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from functools import partial

from tests.mutants.changes import Mutant, mutants
from tests.mutants.chosen import DECIDING
from tests.mutants.running import outcomes

MARKED = "not (slow or tensorflow or jax or browser or readers or gym or thorough or oracle)"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help="texts in the names of modules")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each module, at most")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--least", type=float, default=0.85, help="share to be killed in each")
    given = parser.parse_args()
    terminal = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)  # forks close their own
    rows = {}
    for places, every in DECIDING.items():
        files = [one for one in every if any(text in one for text in given.modules or [""])]
        if not files:
            continue
        chosen = [one for file in files for one in _sample(mutants(file), given)]
        found = outcomes(list(places), MARKED, chosen, partial(print, file=terminal))
        for file in files:
            rows[file] = [end for one, end in zip(chosen, found, strict=True) if one.file == file]
    return _table(rows, given.least)


def _sample(every: list[Mutant], given: argparse.Namespace) -> list[Mutant]:
    if given.all or len(every) <= given.sample:
        return every
    chosen = random.Random(f"{given.seed} {every[0].file}").sample(every, given.sample)
    return sorted(chosen, key=lambda one: one.number)


def _table(rows: dict[str, list[str]], least: float) -> int:
    print("\n| module | mutants | killed | by time | survivors | share |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    too_few = 0
    for name, found in [*rows.items(), ("all", [one for own in rows.values() for one in own])]:
        killed, late = found.count("failed"), found.count("time")
        share = (killed + late) / len(found) if found else 1.0
        too_few += share < least
        left = len(found) - killed - late
        print(f"| {name} | {len(found)} | {killed} | {late} | {left} | {share:.0%} |")
    return int(too_few > 0)


if __name__ == "__main__":
    sys.exit(main())
