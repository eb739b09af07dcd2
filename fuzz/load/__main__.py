"""Puts servers under load and prints what they showed: ``python -m fuzz.load [NAME …]``.

Exits with 1 if there was a finding.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fuzz.load import assistants, board, pages, scrapes, workers
from fuzz.load.programs import Outcome

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT.parent / "shared" / "data" / "xplane"
_CHOSEN = ("cpu-keras-fit", "gpu-synthetic", "cpu-jax-steps")
_MOST_FINDINGS = 20

PAGES_OF_A_DAY = 25 * 100
"""Assumption: 25 people share a server, and each opens 100 pages a day."""

REQUESTS_OF_A_PAGE = 8
"""Mean of the visits of ``people.visits``: the list of pages, the page, and data of a timeline."""

CALLS_OF_A_DAY = 25 * 4 * 10
"""Assumption: each of 25 people has four conversations a day, with ten calls of an assistant."""


def loads(args: argparse.Namespace) -> Mapping[str, Callable[[], Outcome]]:
    """All loads by name."""
    captures, share = args.captures, args.share
    return {
        "ui-crowd": lambda: pages.crowd(captures, args.clients, 60 * share, args.seed),
        "ui-day": lambda: pages.day(
            captures, round(PAGES_OF_A_DAY * REQUESTS_OF_A_PAGE * share), args.seed
        ),
        "mcp-crowd": lambda: assistants.crowd(captures, round(60 * share)),
        "mcp-day": lambda: assistants.day(captures, round(CALLS_OF_A_DAY * share), args.seed),
        "tensorboard": lambda: board.visitors(captures, round(5000 * share), args.seed),
        "metrics": lambda: scrapes.scrapes(args.clients, 60 * share),
        "capture": lambda: workers.capture(round(150 * share)),
        "record": lambda: workers.agent(round(150 * share), 600 * share, args.seed),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen loads; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.load", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="loads; by default all of them")
    parser.add_argument("--clients", type=int, default=200, help="clients of a crowd")
    parser.add_argument("--share", type=float, default=1.0, help="share of a day, such as 0.1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--captures", nargs="+", default=[str(CAPTURES / one) for one in _CHOSEN])
    args = parser.parse_args(arguments)
    known = loads(args)
    if unknown := set(args.names) - set(known):
        parser.error(f"no load {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    n_findings = 0
    for name in args.names or known:
        began = time.monotonic()
        outcome = known[name]()
        print(f"{name}, {time.monotonic() - began:,.0f} s", *outcome.lines, sep="\n  ")
        for finding in outcome.findings[:_MOST_FINDINGS]:
            print(f"  FINDING {finding}")
        print(f"  {len(outcome.findings)} findings", flush=True)
        n_findings += len(outcome.findings)
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
