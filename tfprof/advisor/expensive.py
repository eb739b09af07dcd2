"""ExpensiveOperationChecker: the op types, scopes and lines that take the most time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import WORTH, Finding
from tfprof.core.columns.frames import Frame
from tfprof.core.text.wording import line_names, listing, quoted, share_text, time_text

TOP = 3
"""Number of op types, scopes and lines to name, as in the original."""

_SAYS_NOTHING = 0.95
"""A scope or line with this share of the time is the whole program: naming it does not help."""

_RULE = "ExpensiveOperationChecker"
_LINK = "https://www.tensorflow.org/guide/profiler"


def check_expensive_operations(context: CheckContext) -> list[Finding]:
    """Find the op types, scopes and lines to look at first."""
    total = float(context.micros.sum())
    if total <= 0:
        return []
    return [*_op_types(context, total), *_scopes(context, total), *_lines(context, total)]


def _op_types(context: CheckContext, total: float) -> list[Finding]:
    type_ids = context.facts.type_ids
    sums = np.bincount(type_ids, context.micros, minlength=len(context.facts.strings))
    largest = np.argsort(-sums, kind="stable")[:TOP].tolist()
    shares = [(context.facts.strings[i], float(sums[i])) for i in largest]
    rows = np.flatnonzero(type_ids == largest[0])
    line = context.heaviest_line(rows, context.micros[rows])
    if line is not None and line == _whole_program(context, total):
        line = None
    return _findings("the op types", shares, total, line)


def _scopes(context: CheckContext, total: float) -> list[Finding]:
    names = context.profile.ops.names
    ops = [
        (names[name_id], micros)
        for name_id, micros in zip(
            context.profile.ops.name_ids.array.tolist(), context.micros.tolist(), strict=True
        )
        if micros > 0
    ]
    largest = _branches(ops, total)[:TOP]
    return _findings("the scopes and ops", largest, total)


def _branches(ops: Sequence[tuple[str, float]], total: float) -> list[tuple[str, float]]:
    """The outermost scopes and ops that share the time, with their times, the largest first.

    The contents of a scope replace it if it has nearly all of the time.
    """
    inside = ""
    while True:
        sums: dict[str, float] = {}
        has_inner: set[str] = set()
        for name, micros in ops:
            if name.startswith(inside):
                part, slash, _ = name[len(inside) :].partition("/")
                sums[inside + part] = sums.get(inside + part, 0.0) + micros
                if slash:
                    has_inner.add(inside + part)
        largest = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
        name, micros = largest[0]
        if micros < _SAYS_NOTHING * total or name not in has_inner:
            return largest
        inside = f"{name}/"


def _lines(context: CheckContext, total: float) -> list[Finding]:
    rows = np.flatnonzero(context.micros > 0)
    lines = context.lines_by(rows, context.micros[rows])
    if not lines or lines[0][0] == _whole_program(context, total):
        return []
    names = line_names([line for line, _ in lines[:TOP]])
    shares = [(name, cost) for name, (_, cost) in zip(names, lines[:TOP], strict=True)]
    return _findings("ops made by the lines", shares, total, lines[0][0])


def _whole_program(context: CheckContext, total: float) -> Frame | None:
    """The line with nearly all of the time, such as ``model.fit``, or None.

    Also None if lines of libraries are shown, where such a line is useful.
    """
    if context.show_library_frames:
        return None
    rows = np.flatnonzero(context.micros > 0)
    lines = context.lines_by(rows, context.micros[rows])
    is_whole = len(rows) > 1 and bool(lines) and lines[0][1] >= _SAYS_NOTHING * total
    return lines[0][0] if is_whole else None


def _findings(
    what: str, largest: Sequence[tuple[str, float]], total: float, line: Frame | None = None
) -> list[Finding]:
    """One finding that names the largest; none if all are too small."""
    shares = [(name, micros) for name, micros in largest if micros >= WORTH * total]
    if not shares:
        return []
    parts = [
        f"{quoted(name)} ({time_text(micros)}, {share_text(micros / total)})"
        for name, micros in shares
    ]
    is_most = sum(micros for _, micros in shares) >= total / 2
    start = (
        f"Most time goes to {what}" if is_most else f"The largest part of the time goes to {what}"
    )
    evidence = {f"{name}:time_micros": micros for name, micros in shares}
    evidence |= {f"{name}:time_share": micros / total for name, micros in shares}
    evidence["total_micros"] = total
    message = f"{start} {listing(parts)}. Look there first."
    return [Finding(_RULE, "info", message, evidence, line, link=_LINK)]
