"""Advice, followed in the grammar: the program as it would be afterwards."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from tests.truth.gym.claims import Claim
from tests.truth.gym.grammar import MAPS, Term, allowed
from tests.truth.gym.truth import Truth

WORTH = 0.15
"""From this promise on advice is followed: less is lost in noise."""

NOISE = 0.05
"""So much of a gain may be missing: two recordings are never alike."""


def followed(term: Term, claim: Claim) -> Term | None:
    """The program as advised; None if the grammar has no such program."""
    rule = claim.metric.removeprefix("advice ")
    change = _CHANGES.get(rule)
    if change is None or claim.more["gain"] < WORTH:
        return None
    found = change(term, claim)
    return None if found is None or allowed(found) == term else allowed(found)


_ALIKE = ("callback", "checkpoint", "gc", "evaluation", "python", "slow_step", "copies")
"""Spans that no change is about: they take as long by chance. A collection of garbage takes as long
as there is garbage."""


def gain(before: Truth, after: Truth, rule: str) -> float:
    """The part of the time of a batch that the change of a rule has saved, at best.

    Afterwards a batch takes what all do on average, or what the usual one does: what starts a
    pipeline that reads ahead is paid once, and matters as little in a run of usual length as what
    else the machine did meanwhile. Without spans that no change is about, so it is before.
    """
    but = _ALIKE if _CHANGES[rule] is _not_changing else (*_ALIKE, "changed")
    least = min(_per_batch(after, but=but), _usual(after))
    saved = [(_per_batch(before, but=but) - least) / _per_batch(before)]
    if not sum(map(len, map(before.ms, but))):
        saved.append(1 - _usual(after) / _usual(before))
    return max(saved)


def _usual(truth: Truth) -> float:
    together: int = truth.fact("batches_per_step", 1)
    return statistics.median(truth.periods_ms) / together


def keeps(promised: float, got: float) -> bool:
    """Whether at least half of what was promised has been saved."""
    return got >= 0.5 * promised - NOISE


def _per_batch(truth: Truth, *, but: tuple[str, ...] = ()) -> float:
    together: int = truth.fact("batches_per_step", 1)
    left_out = sum(sum(truth.ms(span)) for span in but) / truth.n_steps
    return (truth.whole_ms - left_out) / together


def _with_prefetch(term: Term, claim: Claim) -> Term | None:
    return replace(term, input=replace(term.input, prefetch=True))


def _faster_input(term: Term, claim: Claim) -> Term | None:
    given = term.input
    if "let one iterator serve" in claim.text:
        return replace(term, input=replace(given, anew=0))
    if "Set num_parallel_calls" in claim.text and given.cost in MAPS:
        return replace(term, input=replace(given, parallel=4, prefetch=True))
    if "TFRecord files instead" in claim.text and given.cost == "generator":
        return replace(term, input=replace(given, cost="none"))
    return None


def _as_python_is_advised(term: Term, claim: Claim) -> Term | None:
    if "The program waits there" not in claim.text:
        return _in_one_function(term, claim)
    if term.input.kind != "thread":
        return None
    return replace(term, input=replace(term.input, sleep_ms=term.input.sleep_ms / 8))


def _in_one_function(term: Term, claim: Claim) -> Term | None:
    if term.framework == "eager":
        body = "products" if term.body == "products" else "tiny"
        others = tuple(one for one in term.disturbances if one != "tiny_ops")  # they are in it, too
        return replace(term, framework="tf", body=body, disturbances=others)
    if term.framework == "jax" and term.body == "tiny" and "jax.jit" in claim.text:
        return replace(term, body="tiny_jit")
    if term.framework == "keras" and term.together == 1 and "steps_per_execution" in claim.text:
        return replace(term, together=4)
    return None


def _not_changing(term: Term, claim: Claim) -> Term | None:
    return replace(term, disturbances=tuple(d for d in term.disturbances if d != "recompile"))


def _compiled(term: Term, claim: Claim) -> Term | None:
    return replace(term, body="compiled") if term.body == "products" else None


_CHANGES: dict[str, Callable[[Term, Claim], Term | None]] = {
    "input-pipeline/prefetch": _with_prefetch,
    "input-pipeline/bound": _faster_input,
    "python/unexplained": _as_python_is_advised,
    "tf-function/eager": _in_one_function,
    "tf-function/retracing": _not_changing,
    "compilation/share": _not_changing,
    "ops/small": _compiled,
}
