"""Practices for collectives: those that computation could hide, and small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.result import Advice


def collective_rule(rule: str) -> Callable[[Evidence], Iterator[Advice]]:
    """A practice that gives the advice of one rule of the tool for collectives."""

    def given(evidence: Evidence) -> Iterator[Advice]:
        return (one for one in evidence.collectives.advice if one.rule == rule)

    return given
