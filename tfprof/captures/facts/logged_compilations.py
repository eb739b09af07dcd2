"""Compilations of a capture together with JAX's own log of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfprof.captures.facts import program_differences as differences
from tfprof.captures.facts.compilations import FIRST, HIT, UNKNOWN, Compilation
from tfprof.captures.facts.program_differences import Difference
from tfprof.captures.read.jax_log import LoggedCompilation, log_key

MISS = "miss"

_PS = 1e12
_LEAST_S = 0.003
_COMPILED_WITHIN, _LOWERED_WITHIN = 0.15, 0.5
"""How far the times of the log may be from those of events, as a part: they begin elsewhere."""

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
    fitting = [
        start
        for start in starts
        if all(_fits(found[place], logged[start + n]) for n, place in enumerate(own))
    ]
    if len(fitting) != 1:
        what = "several times" if fitting else "but not for as long as in the capture"
        return Joined(tuple(found), 0, f"it has these functions in this order, {what}")
    joined = list(found)
    for n, place in enumerate(own):
        joined[place] = _together(found[place], logged[fitting[0] + n])
    return Joined(tuple(joined), len(own))


def _fits(one: Compilation, logged: LoggedCompilation) -> bool:
    """Whether both take about as long."""
    pairs = (
        (one.compile_ps, logged.compile_s, _COMPILED_WITHIN),
        (one.lower_ps, logged.lower_s, _LOWERED_WITHIN),
    )
    return all(
        abs(took_ps / _PS - said_s) <= max(_LEAST_S, within * said_s)
        for took_ps, said_s, within in pairs
        if took_ps is not None and said_s is not None
    )


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
