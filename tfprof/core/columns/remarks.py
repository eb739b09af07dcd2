"""Notices about a result: partial data, dropped records, repaired values."""

from __future__ import annotations

import logging
from dataclasses import dataclass

_log = logging.getLogger("tfprof")


@dataclass(frozen=True, slots=True)
class Notice:
    """One remark on a profile; ``Note`` is one on an answer of a tool (ADR 0028).

    Attributes:
        code: Stable short name, for programs.
        text: What happened and what it means.
        count: How many times it happened.
    """

    code: str
    text: str
    count: int = 1

    def __str__(self) -> str:
        return self.text if self.count <= 1 else f"{self.text} ({self.count:,} times)"


class Notices:
    """Notices by code, in order of first appearance; repeated ones add up."""

    __slots__ = ("_by_code",)

    def __init__(self) -> None:
        self._by_code: dict[str, Notice] = {}

    def add(self, code: str, text: str, count: int = 1) -> None:
        """Record a notice ``count`` times; 0 records nothing. The first text stays."""
        if count <= 0:
            return
        old = self._by_code.get(code)
        if old is None:
            _log.info("%s (%d)", text, count)
            self._by_code[code] = Notice(code, text, count)
        else:
            self._by_code[code] = Notice(code, old.text, old.count + count)

    def set(self, code: str, text: str, count: int) -> None:
        """Record a state: it replaces the notice before, and 0 removes it."""
        if count <= 0:
            self._by_code.pop(code, None)
        elif code in self._by_code:
            self._by_code[code] = Notice(code, text, count)
        else:
            self.add(code, text, count)

    def as_tuple(self) -> tuple[Notice, ...]:
        """All notices so far."""
        return tuple(self._by_code.values())
