"""Compilations of a capture together with JAX's own log of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from statistics import median

from tfprof.captures.facts import program_differences as differences
from tfprof.captures.facts.compilations import HIT, Compilation
from tfprof.captures.facts.compiled_programs import FIRST, UNKNOWN
from tfprof.captures.facts.program_differences import Difference
from tfprof.captures.read.jax_log import LoggedCompilation, log_key

MISS = "miss"

_PS = 1e12
_ALIKE = 2.0
"""Up to this factor, times of the log and of events may differ: they begin elsewhere, and threads
of other programs come between."""

_CLEARLY = 3.0
_LEAST_ERROR = 0.1
"""Of several places in the log, the best one has to be better than others by this factor, and
others differ at least by this part."""

_UNEXPLAINED = {
    UNKNOWN, differences.CONSTANT, differences.INSTRUCTIONS, differences.ALIKE,
}  # fmt: skip
"""Differences that JAX explains better than programs do."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Compilations with what the log says of them.

    Attributes:
        found: The compilations, in order of time.
        n_joined: Number of those that the log has, too.
        problem: Why the log does not belong to the capture; empty if it does.
    """

    found: tuple[Compilation, ...]
    n_joined: int = 0
    problem: str = ""


def with_log(found: Sequence[Compilation], logged: Sequence[LoggedCompilation]) -> Joined:
    """Join the compilations of a host with those of its log.

    A log has more than the capture, in the same order. So the functions of the capture are in a row
    in the log, and take about as long there.

    Args:
        found: The compilations of a host, in order of time.
        logged: Those of the log.
    """
    own = [place for place, one in enumerate(found) if one.lower_ps or one.compile_ps]
    if not own:
        return Joined(tuple(found))
    names = [log_key(found[place].name) if found[place].is_function else "" for place in own]
    wanted = [log_key(one.name) for one in logged]
    starts = [
        start
        for start in range(len(wanted) - len(names) + 1)
        if all(name in ("", wanted[start + n]) for n, name in enumerate(names))
    ]
    if not starts:
        return Joined(tuple(found), 0, "it has no such functions in this order")
    errors = {
        start: _error([(found[p], logged[start + n]) for n, p in enumerate(own)])
        for start in starts
    }
    best, *others = sorted(starts, key=lambda start: (errors[start], start))
    if errors[best] > log(_ALIKE):
        return Joined(tuple(found), 0, "it has these functions in this order, with other times")
    if others and errors[others[0]] < max(_CLEARLY * errors[best], _LEAST_ERROR):
        return Joined(tuple(found), 0, "it has these functions in this order more than once")
    joined = list(found)
    for n, place in enumerate(own):
        joined[place] = _together(found[place], logged[best + n])
    return Joined(tuple(joined), len(own))


def _error(pairs: Sequence[tuple[Compilation, LoggedCompilation]]) -> float:
    """How far the times of compilations are from those of the log, as the logarithm of a factor."""
    apart = []
    for one, logged in pairs:
        if one.compile_ps and logged.compile_s:
            apart.append(abs(log(one.compile_ps / _PS / logged.compile_s)))
        elif one.lower_ps and logged.lower_s:
            apart.append(abs(log(one.lower_ps / _PS / logged.lower_s)))
    return median(apart) if apart else 0.0


def _together(one: Compilation, logged: LoggedCompilation) -> Compilation:
    differs = one.differs
    if logged.kind and differs.kind in _UNEXPLAINED:
        differs = Difference(logged.kind, logged.reason)
    elif logged.kind and differs.kind == FIRST:
        differs = Difference(FIRST, f"{differs.text}; JAX: {logged.reason}")
    return one._replace(
        name=one.name if one.is_function else logged.name,
        is_function=True,
        is_traced=logged.trace_s is not None,
        trace_ps=None if logged.trace_s is None else round(logged.trace_s * _PS),
        cache={"hit": HIT, "miss": MISS}.get(logged.cache, one.cache),
        differs=differs,
        called_at=logged.called_at or one.called_at,
    )
