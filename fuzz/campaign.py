"""The campaign: every format, damaged and odd, put to every question that takes it.

    python -m fuzz.campaign --hours 2                  # executions, growth, coverage
    python -m fuzz.campaign --count 2000               # so many executions, and nothing else
    python -m fuzz.campaign --hours 1 --ways growth --only xspace
    python -m fuzz.campaign --again FILE ...           # reproducers, again

``README.md`` beside this file says more.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fuzz.budget import Finding
from fuzz.case import Format, Question
from fuzz.catalogue import formats, questions_of
from fuzz.growth import HEAD, curves
from fuzz.guided import is_guided, is_possible, runs
from fuzz.inputs import CORPUS, Batch, Series
from fuzz.ledger import ROOT, add_run
from fuzz.reproducers import again, keep, known
from fuzz.workers import Done, Workers

_PRINTED_S = 60
"""Between two lines about the progress."""
_SHARES = {"random": 2, "guided": 1, "growth": 1}
"""Shares of the hours."""


def main() -> int:
    """Run what the command line says; 1 if something was found."""
    options = _parser().parse_args()
    if options.list:
        for form in formats().values():
            print(form.name, *(f"    {one.name}" for one in questions_of(form)), sep="\n")
        return 0
    if options.again is not None:
        found = list(again(options.again))
        for one in found:
            print(f"{one.format}: {one.question}: {one.kind}\n{one.detail}\n")
        return 1 if found else 0
    campaign = _Campaign(options)
    try:
        campaign.run()
    except KeyboardInterrupt:
        print("interrupted; what was executed counts", file=sys.stderr)
    except Exception:  # of the campaign itself
        campaign.end()
        raise
    return campaign.end()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float, help="how long it runs")
    length.add_argument("--count", type=int, default=2000, help="random executions, and no more")
    length.add_argument("--again", type=Path, nargs="*", help="reproducers, by path")
    length.add_argument("--list", action="store_true", help="formats and their questions")
    ways = parser.add_argument("--ways", nargs="+", default=list(_SHARES), choices=list(_SHARES))
    ways.help = "with --hours: random executions, guided by coverage, growth"
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same inputs")
    parser.add_argument("--only", default="", help="FORMAT, QUESTION or FORMAT/QUESTION")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ledger", action="store_true", help="add this run to the ledger")
    parser.add_argument("--findings", type=Path, default=CORPUS, help="folder for reproducers")
    return parser


_AT_ONCE = 2
"""Questions to what grows in each round."""


class _Campaign:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._series = Series(options.seed, options.only)
        self._counts: Counter[tuple[str, str]] = Counter()
        self._known = known()
        self._found: dict[tuple[str, str], Finding] = {}
        self._began = time.monotonic()

    def run(self) -> None:
        """Execute until the count or the time is reached."""
        hours, ways = self._options.hours, self._options.ways
        if hours is None:
            self._execute(self._series.batches(self._options.count))
            return
        if "guided" in ways and not is_possible():
            print("atheris is not installed: nothing is guided by coverage", file=sys.stderr)
            ways = [way for way in ways if way != "guided"]
        shares = {way: _SHARES[way] / sum(_SHARES[one] for one in ways) for way in ways}
        if "growth" in shares:
            self._grow(time.monotonic() + hours * 3600 * shares["growth"])
        if "guided" in shares:
            self._guide(hours * 3600 * shares["guided"])
        if "random" in shares:
            self._execute(_until(self._series.batches(), self._began + hours * 3600))

    def _execute(self, batches: Iterator[Batch]) -> None:
        workers = Workers(self._series, self._options.workers)
        printed = self._began
        try:
            for result in workers.results(batches):
                if isinstance(result, Done):
                    batch = result.batch
                    self._counts[batch.part, batch.format] += result.n_executions
                else:
                    self._keep(result)
                if time.monotonic() - printed > _PRINTED_S:
                    printed = time.monotonic()
                    self._print()
        finally:
            workers.close()

    def _guide(self, seconds: float) -> None:
        asked = [
            (one, form)
            for form in formats().values()
            for one in questions_of(form, self._options.only)
            if is_guided(one)
        ]
        options = self._options
        for one, form, n_executions, found in runs(asked, seconds, options.seed, options.workers):
            print(f"guided: {form.name}: {one.name}: {n_executions:,} executions", flush=True)
            self._counts[f"{one.part}, guided", form.name] += n_executions
            for each in found:
                self._keep(each)

    def _grow(self, end: float) -> None:
        """Measure growth in an order of this seed, until a moment of the monotonic clock."""
        print(HEAD)
        for form, what, asked in _in_rounds(self._options.seed, self._options.only):
            for curve in curves(form, what, asked):
                print(curve, flush=True)
                self._counts["growth", form.name] += len(curve.measures)
                if curve.finding is not None:
                    self._keep(curve.finding, is_small=False)
                if time.monotonic() > end:
                    return

    def _keep(self, found: Finding, *, is_small: bool = True) -> None:
        key = found.format, found.name
        if key in self._found:
            return
        self._found[key] = found
        if key in self._known:
            print(f"again: {found.format}: {found.question}: {found.kind}", flush=True)
            return
        text = f"{found.format}: {found.question}: {found.kind}\n{found.detail}"
        # What grows is made again by its name, and is not small.
        kept = f"\nkept in {keep(found, self._options.findings)}\n" if is_small else ""
        print(text, kept, flush=True)

    def end(self) -> int:
        """Print what came of it, and add it to the ledger; the exit code."""
        self._print()
        if self._options.ledger:
            hours = (time.monotonic() - self._began) / 3600
            names = (f"{form}/{name}" for form, name in self._found)
            add_run(_commit(), self._options.seed, hours, self._counts, names)
        return 1 if self._found else 0

    def _print(self) -> None:
        seconds = time.monotonic() - self._began
        by_part: Counter[str] = Counter()
        for (part, _), n in self._counts.items():
            by_part[part] += n
        parts = ", ".join(f"{part} {n:,}" for part, n in by_part.most_common())
        print(
            f"{self._counts.total():,} executions in {seconds:.0f} s from seed "
            f"{self._options.seed}: {len(self._found)} distinct findings ({parts})",
            flush=True,
        )


def _in_rounds(seed: int, only: str) -> Iterator[tuple[Format, str, list[Question]]]:
    """What grows, in an order of this seed, each with a few of its questions, then with others.

    A campaign that ends before its last round has thus seen everything grow.
    """
    pairs = [(form, what) for form in formats().values() for what in form.growing]
    random.Random(seed).shuffle(pairs)
    asked = [questions_of(form, only) for form, _ in pairs]
    for (form, what), own in zip(pairs, asked, strict=True):
        random.Random(f"{seed}/{form.name}/{what}").shuffle(own)
    for first in range(0, max(map(len, asked), default=0), _AT_ONCE):
        for (form, what), own in zip(pairs, asked, strict=True):
            if chosen := own[first : first + _AT_ONCE]:
                yield form, what, chosen


def _until(batches: Iterator[Batch], end: float) -> Iterator[Batch]:
    return itertools.takewhile(lambda _: time.monotonic() < end, batches)


def _commit() -> str:
    command = ("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD")
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
