"""Stacks for KCachegrind and QCachegrind, in Callgrind's format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.columns.stacks import Stacks
from tfprof.core.text.characters import escaped
from tfprof.core.version import __version__

_CALLS = ("events", "runs", "calls")
"""Types of numbers that count calls."""


def callgrind_chunks(stacks: Stacks) -> Iterator[bytes]:
    """Costs of each function itself, and of its calls, as callgrind's viewers add them up.

    Calls are counted where one of the numbers does; else each place of the tree is a call.

    Args:
        stacks: The stacks.
    """
    kinds = [stacks.default, *(k for k in range(len(stacks.types)) if k != stacks.default)]
    names = [_event(stacks.types[kind].name) for kind in kinds]
    yield b"# callgrind format\nversion: 1\n"
    yield f"creator: tfprof {__version__}\npositions: line\n".encode()
    for name, kind in zip(names, kinds, strict=True):
        told = stacks.types[kind]
        yield f"event: {name} : {_text(told.name)} ({_text(told.unit)})\n".encode()
    yield f"events: {' '.join(names)}\n\n".encode()
    own = np.array(
        [sums_by(stacks.frame_of, stacks.own(kind), len(stacks.frames)) for kind in kinds]
    )
    calls = _Calls(stacks, kinds)
    files = _Numbered("fl")
    functions = _Numbered("fn")
    for number, frame in enumerate(stacks.frames):
        lines = [files.line("fl", frame.file or "???"), functions.line("fn", frame.name)]
        lines.append(f"{frame.line} {_numbers(own[:, number])}")
        for callee, count, costs in calls.of(number):
            called = stacks.frames[callee]
            lines.append(files.line("cfi", called.file or "???"))
            lines.append(functions.line("cfn", called.name))
            lines.append(f"calls={count} {called.line}")
            lines.append(f"{frame.line} {costs}")
        yield ("\n".join(lines) + "\n\n").encode("utf-8", "replace")
    total = [int(stacks.values[kind].sum()) for kind in kinds]
    yield f"totals: {' '.join(map(str, total))}\n".encode()


class _Calls:
    """Caller and callee of each call, its count and its costs."""

    def __init__(self, stacks: Stacks, kinds: Sequence[int]) -> None:
        inner = np.flatnonzero(stacks.parents >= 0)
        callers = stacks.frame_of[stacks.parents[inner]]
        keys = callers * len(stacks.frames) + stacks.frame_of[inner]
        distinct, at = np.unique(keys, return_inverse=True)
        totals = [stacks.totals(kind)[inner] for kind in kinds]
        self._costs = np.array([sums_by(at, total, len(distinct)) for total in totals])
        counts = [kind for kind in kinds if stacks.types[kind].name in _CALLS]
        once = np.bincount(at, minlength=len(distinct))
        runs = sums_by(at, stacks.own(counts[0])[inner], len(distinct)) if counts else once
        self._counts = np.maximum(runs, 1)
        self._callees = distinct % max(len(stacks.frames), 1)
        self._first = np.searchsorted(
            distinct // max(len(stacks.frames), 1), np.arange(len(stacks.frames) + 1)
        )

    def of(self, caller: int) -> Iterator[tuple[int, int, str]]:
        for row in range(int(self._first[caller]), int(self._first[caller + 1])):
            yield int(self._callees[row]), int(self._counts[row]), _numbers(self._costs[:, row])


class _Numbered:
    """Names that are written once, and then referred to by number."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}

    def line(self, key: str, name: str) -> str:
        known = self._numbers.get(name)
        if known is not None:
            return f"{key}=({known})"
        number = self._numbers[name] = len(self._numbers) + 1
        return f"{key}=({number}) {_text(name)}"


def _numbers(values: Int64Array) -> str:
    return " ".join(map(str, values.tolist()))


def _event(name: str) -> str:
    """The name of an event: one word."""
    return re.sub(r"\W+", "_", name) or "cost"


def _text(name: str) -> str:
    return escaped(name).strip() or "?"
