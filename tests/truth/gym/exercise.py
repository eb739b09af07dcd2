"""A round in the gym: record terms, judge them, follow advice, record again what failed."""

from __future__ import annotations

import shutil
import traceback
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.truth.gym.apply import followed, gain, keeps
from tests.truth.gym.batch import record_all
from tests.truth.gym.claims import Claim
from tests.truth.gym.grammar import Term, draw, smaller
from tests.truth.gym.judge import Verdict, judge
from tests.truth.gym.truth import Truth

AT_ONCE = 2
"""Processes that record, or judge, side by side."""

_FOLLOWED, _AGAIN = "followed", "again"

_TRIES = 2
"""So often what is false is recorded again: a machine that others use has slow seconds in a row."""


@dataclass(frozen=True)
class Result:
    """What came of one program.

    Attributes:
        name: Of the program: its seed.
        term: The program.
        folder: Its capture and truth.
        verdicts: On each claim.
        failure: Why it could not be recorded or judged.
    """

    name: str
    term: Term
    folder: Path
    verdicts: tuple[Verdict, ...] = ()
    failure: str = ""

    @property
    def false(self) -> list[Verdict]:
        """Its claims that are not so."""
        return [one for one in self.verdicts if one.kind == "false"]


def exercise(
    terms: Mapping[str, Term], folder: Path, *, follow: bool = True, again: bool = True
) -> list[Result]:
    """Record and judge programs.

    Args:
        terms: Programs by name.
        folder: Where each gets a folder of its name.
        follow: Record programs as advised, and judge the gains that were promised.
        again: Record those with false claims, or that could not be recorded, again: false is what
            is false each time, as a busy machine may disturb a recording. Then one program runs at
            a time.
    """
    results = _judged(terms, folder, AT_ONCE)
    if follow:
        results = _with_gains(results, folder, AT_ONCE)
    if not again:
        return results
    for number in range(_TRIES):
        failed = {one.name: one.term for one in results if one.false or one.failure}
        if failed:
            names = folder / f"{_AGAIN}{number}"
            found = _judged(failed, names, 1)
            second = {one.name: one for one in (_with_gains(found, names, 1) if follow else found)}
            results = [_confirmed(one, second.get(one.name)) for one in results]
    return results


def _confirmed(first: Result, second: Result | None) -> Result:
    """The first result, without claims that were false once only; the second if that was none."""
    if second is None:
        return first
    if first.failure:
        return second
    kept = {_topic(one.claim) for one in second.false}
    verdicts = tuple(
        one if one.kind != "false" or _topic(one.claim) in kept else Verdict("ok", one.claim)
        for one in first.verdicts
    )
    return Result(first.name, first.term, first.folder, verdicts, first.failure)


def _topic(claim: Claim) -> tuple[str, str]:
    return claim.source, claim.metric


def _judged(terms: Mapping[str, Term], folder: Path, at_once: int) -> list[Result]:
    for name in terms:
        shutil.rmtree(folder / name, ignore_errors=True)
    problem = record_all(terms, folder, at_once=at_once)
    jobs = [(name, term, folder / name, problem) for name, term in terms.items()]
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as pool:
        return [*pool.map(_judge_one, jobs)]


def _judge_one(job: tuple[str, Term, Path, str]) -> Result:
    name, term, folder, problem = job
    truth = Truth(folder)
    if truth.failure:
        return Result(name, term, folder, failure=truth.failure + problem)
    try:
        return Result(name, term, folder, tuple(judge(truth)))
    except Exception:  # an answer that fails is a finding, too, and no end of the round
        return Result(name, term, folder, failure=traceback.format_exc())


def _with_gains(results: list[Result], folder: Path, at_once: int) -> list[Result]:
    wanted: dict[str, Term] = {}
    promises: dict[str, list[tuple[str, Claim]]] = {}
    for one in results:
        wrong = {verdict.claim.text for verdict in one.false}
        for verdict in one.verdicts:
            changed = followed(one.term, verdict.claim)
            if changed is not None and verdict.claim.text not in wrong:
                rule = verdict.claim.metric.rpartition("/")[2]
                wanted[f"{one.name}-{rule}"] = changed
                promises.setdefault(one.name, []).append((f"{one.name}-{rule}", verdict.claim))
    if not wanted:
        return results
    place = folder / _FOLLOWED
    for name in wanted:
        shutil.rmtree(place / name, ignore_errors=True)
    record_all(wanted, place, at_once=at_once)
    return [_with_promises(one, promises.get(one.name, []), place) for one in results]


def _with_promises(one: Result, promises: list[tuple[str, Claim]], place: Path) -> Result:
    more = []
    for name, claim in promises:
        after = Truth(place / name)
        if after.failure:
            continue
        got = gain(Truth(one.folder), after, claim.metric.removeprefix("advice "))
        hoped = claim.more["gain"]
        fits = keeps(hoped, got)
        promised = Claim(claim.source, f"gain {claim.metric[7:]}", hoped, claim.text)
        truth = f"followed, it saves {got:.0%} of the promised {hoped:.0%}"
        more.append(Verdict("ok" if fits else "false", promised, truth))
    return Result(one.name, one.term, one.folder, (*one.verdicts, *more), one.failure)


def shrunk(result: Result, folder: Path, metric: str = "", *, tries: int = 40) -> Result:
    """The smallest term that still has a false claim, of the same metric if one is named."""
    metric = metric or result.false[0].claim.metric
    is_gain = metric.startswith("gain ")
    best, tried = result, 0
    while tried < tries:
        for number, term in enumerate(smaller(best.term)):
            tried += 1
            name = f"{result.name}-smaller{tried}"
            [found] = exercise({name: term}, folder, follow=is_gain, again=False)
            if any(one.claim.metric == metric for one in found.false):
                best = found
                break
            if tried >= tries or number > tries:
                return best
        else:
            return best
    return best


def drawn(seeds: range) -> dict[str, Term]:
    """The programs of some seeds, by their names."""
    return {str(seed): draw(seed) for seed in seeds}


def table(results: list[Result]) -> list[str]:
    """A line for each kind of statement: how many are true, false, and unknown."""
    counts: dict[str, Counter[str]] = {}
    for one in results:
        for verdict in one.verdicts:
            counts.setdefault(verdict.claim.metric, Counter())[verdict.kind] += 1
    lines = [f"{'statement':36} {'ok':>6} {'false':>6} {'unknown':>8}"]
    for metric in sorted(counts, key=lambda name: (-counts[name]["false"], name)):
        of = counts[metric]
        lines.append(f"{metric:36} {of['ok']:6} {of['false']:6} {of['unknown']:8}")
    total = sum(counts.values(), Counter())
    lines.append(f"{'all':36} {total['ok']:6} {total['false']:6} {total['unknown']:8}")
    return lines
