"""How many mutants of the modules that decide do the tests kill, and which survive?

    python -m tests.mutants                        all chosen modules, a sample of each
    python -m tests.mutants insight/budgets        those whose names contain a text
    python -m tests.mutants --all gate naming      every mutant
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from pathlib import Path

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
    rows = {}
    for files, places in _groups(given.modules).items():
        chosen = [one for file in files for one in _sample(mutants(file), given)]
        began = time.monotonic()
        found = list(zip(chosen, outcomes(list(places), MARKED, chosen), strict=True))
        for file in files:
            own = [(one, outcome) for one, outcome in found if one.file == file]
            rows[file] = [outcome for _, outcome in own]
            for one, outcome in own:
                if outcome in ("passed", "unreached"):
                    _show(one, outcome)
        print(f"# {' '.join(places)}: {len(chosen)} mutants, {time.monotonic() - began:.0f} s")
        sys.stdout.flush()
    return _table(rows, given.least)


def _groups(texts: list[str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Modules by the tests that they share."""
    groups = defaultdict(list)
    for pattern, places in DECIDING.items():
        for file in sorted(map(str, Path().glob(pattern))):
            if not texts or any(text in file for text in texts):
                groups[places].append(file)
    return {tuple(files): places for places, files in groups.items()}


def _sample(every: list[Mutant], given: argparse.Namespace) -> list[Mutant]:
    if given.all or len(every) <= given.sample:
        return every
    chosen = random.Random(f"{given.seed} {every[0].file}").sample(every, given.sample)
    return sorted(chosen, key=lambda one: one.number)


def _show(one: Mutant, outcome: str) -> None:
    statement = Path(one.file).read_text().splitlines()[one.first_line - 1].strip()
    where = "" if statement == one.before else f"   in: {statement}"
    print(f"{one.file}:{one.first_line}: {one.before} → {one.after}   ({outcome}){where}")


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
