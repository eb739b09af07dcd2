"""Metrics of a program that do not depend on the machine: float operations, parameters, ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfprof.core.text.units import some
from tfprof.graphs.interpreter.phases import STEP
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.reports.flops import params
from tfprof.insight.budgets.frames import line_of
from tfprof.insight.budgets.measurement import Contributor, Measured, Measurement, Missing, largest
from tfprof.profiles.accounting.accounting import only_at_run_time

if TYPE_CHECKING:
    from tfprof.insight.budgets.subject import Subject

_NO_GRAPH = "needs the graph, which this capture or run does not hold; give its file, too"


def float_operations(subject: Subject) -> Measurement:
    """Float operations of one step."""
    if not _has_graph(subject):
        return Missing(_NO_GRAPH)
    report = subject.report
    total = report.flops
    if isinstance(total, Symbolic):
        names = ", ".join(sorted(total.symbols))
        return Missing(
            f"is a formula, {total}, as sizes ({names}) are open; set batch under [settings], or "
            "check a run, which has them"
        )
    uncounted = report.uncounted
    remark = f"not counted: {some(list(uncounted), 3)}" if uncounted else ""
    parts = [
        Contributor(op.name, float(op.flops))
        for op in report.ops
        if op.phase in STEP and not isinstance(op.flops, Symbolic)
    ]
    return Measured((float(total),), False, remark, bool(uncounted), _with_lines(subject, parts))


def parameters(subject: Subject) -> Measurement:
    """Elements of all variables."""
    if not _has_graph(subject):
        return Missing(_NO_GRAPH)
    report = params(subject.counted)
    unknown = report.uncounted
    remark = f"of unknown shape: {some(list(unknown), 3)}" if unknown else ""
    parts = [Contributor(row.name, float(row.params)) for row in report.rows if row.params]
    total = float(report.total)
    return Measured((total,), False, remark, bool(unknown), _with_lines(subject, parts))


def _with_lines(subject: Subject, parts: Sequence[Contributor]) -> tuple[Contributor, ...]:
    """The largest parts, each with the line that made it."""
    return tuple(replace(one, frame=line_of(subject.profiler, one.name)) for one in largest(parts))


def n_ops(subject: Subject) -> Measurement:
    """Ops of the program and of its functions."""
    if not _has_graph(subject):
        return Missing(_NO_GRAPH)
    report = subject.report
    counts: Counter[str] = Counter()
    for part in (report.op_counts.counted, report.op_counts.free, report.op_counts.uncounted):
        counts.update(part)
    parts = [Contributor(op_type, float(number)) for op_type, number in counts.items()]
    return Measured((float(report.op_counts.n_ops),), contributors=largest(parts))


def _has_graph(subject: Subject) -> bool:
    """Whether there is more than the names of ops that ran."""
    from tfprof.inputs.profiler import Profiler, session_of

    if not isinstance(subject.counted, Profiler):
        return True
    ops = session_of(subject.profiler).complete().ops
    return not only_at_run_time(ops).all()
