"""Metrics of a program that do not depend on the machine: float operations, parameters, ops."""

from __future__ import annotations

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
        Contributor(op.name, float(op.flops), line_of(subject.profiler, op.name))
        for op in sorted(
            (op for op in report.ops if not isinstance(op.flops, Symbolic) and op.phase in STEP),
            key=lambda op: (-op.flops, op.name),
        )[:10]
    ]
    return Measured((float(total),), False, remark, bool(uncounted), largest(parts))


def parameters(subject: Subject) -> Measurement:
    """Elements of all variables."""
    if not _has_graph(subject):
        return Missing(_NO_GRAPH)
    report = params(subject.counted)
    unknown = report.uncounted
    remark = f"of unknown shape: {some(list(unknown), 3)}" if unknown else ""
    rows = sorted(report.rows, key=lambda row: (-(row.params or 0), row.name))[:10]
    parts = [
        Contributor(row.name, float(row.params or 0), line_of(subject.profiler, row.name))
        for row in rows
    ]
    return Measured((float(report.total),), False, remark, bool(unknown), largest(parts))


def n_ops(subject: Subject) -> Measurement:
    """Ops of the program and of its functions."""
    if not _has_graph(subject):
        return Missing(_NO_GRAPH)
    report = subject.report
    counts: dict[str, int] = {}
    for part in (report.op_counts.counted, report.op_counts.free, report.op_counts.uncounted):
        for op_type, number in part.items():
            counts[op_type] = counts.get(op_type, 0) + number
    parts = [Contributor(op_type, float(number)) for op_type, number in counts.items()]
    return Measured((float(report.op_counts.n_ops),), contributors=largest(parts))


def _has_graph(subject: Subject) -> bool:
    """Whether there is more than the names of ops that ran."""
    from tfprof.inputs.profiler import Profiler, session_of

    if not isinstance(subject.counted, Profiler):
        return True
    ops = session_of(subject.profiler).complete().ops
    return not only_at_run_time(ops).all()
