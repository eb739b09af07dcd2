"""Check all laws about captures on all captures of a folder, and print each that does not hold.

    python -m tests.laws FOLDER [--capture NAME ...] [--law NAME ...] [--seed N]

A capture is a folder with ``.xplane.pb`` files, packed or not.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from tests.laws.files import answers_on_captures, spaces_in
from tests.laws.of_captures import LAWS as OF_CAPTURES
from tests.laws.of_reading import LAWS as OF_READING

LAWS = (*OF_CAPTURES, *OF_READING)


def main() -> int:
    """Run what the command line says; 1 if a law does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--capture", action="append", help="only captures of this name")
    parser.add_argument("--law", action="append", help="only laws of this name")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    n_checked = n_broken = n_answers = 0
    for folder in sorted(path for path in given.folder.iterdir() if path.is_dir()):
        if given.capture and folder.name not in given.capture:
            continue
        if not (spaces := spaces_in(folder)):
            continue
        first = answers_on_captures(spaces)
        for law in LAWS:
            if given.law and law.name not in given.law:
                continue
            began = time.process_time()
            chance = random.Random(f"{given.seed} {folder.name} {law.name}")
            ask = law.answers or answers_on_captures
            second = ask(law.change(chance, spaces_in(folder)))
            broken = list(law.broken(first, second))
            n_checked, n_answers = n_checked + 1, n_answers + sum(map(law.holds_for, first))
            n_broken += bool(broken)
            state = f"{len(broken)} differences" if broken else "holds"
            took = time.process_time() - began
            print(f"{folder.name:26} {law.name:22} {state} ({took:.1f} s)", flush=True)
            for line in broken:
                print(f"    {line}", flush=True)
    print(f"{n_checked} checks of laws on {n_answers} answers; {n_broken} do not hold")
    return int(n_broken > 0)


if __name__ == "__main__":
    sys.exit(main())
