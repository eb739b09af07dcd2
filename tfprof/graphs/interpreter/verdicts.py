"""Whether an op can be counted, and its cost."""

from __future__ import annotations

from collections.abc import Mapping

from tfprof.graphs.flops.formulas import Cost, Formula
from tfprof.graphs.interpreter.analysis import Status, Verdict
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.program import GIVEN_FLOPS
from tfprof.graphs.shapes.infer import MISFITS

NO_FORMULA = "there is no formula for this op type; add one with tfprof.register_flops"

_GIVEN = Formula(
    "as registered",
    "Given by an op log, or by a formula that the program has registered with TensorFlow.",
    "OpLogProto, ops.RegisterStatistics",
    lambda op: Cost(0, op.integer(GIVEN_FLOPS)),
)


def judged(op: OpCall, formulas: Mapping[str, Formula], free: Mapping[str, str]) -> Verdict:
    """The verdict on an op, from formulas and reasons for being free by op type."""
    formula = _GIVEN if GIVEN_FLOPS in op.attrs else formulas.get(op.type)
    if formula is not None:
        return _counted(op, formula)
    if op.type in free:
        return Verdict(Status.FREE, reason=free[op.type])
    return Verdict(Status.UNCOUNTED, reason=NO_FORMULA)


def _counted(op: OpCall, formula: Formula) -> Verdict:
    try:
        cost = formula.cost(op)
    except UnknownError as error:
        reason = str(error)
    except MISFITS as error:
        reason = f"its inputs do not fit the formula ({type(error).__name__}: {error})"
    else:
        if not any(isinstance(count, int) and count < 0 for count in cost[:2]):
            return Verdict(Status.COUNTED, cost, formula)
        reason = "the formula gives a negative number: its shapes contradict each other"
    return Verdict(Status.UNCOUNTED, formula=formula, reason=reason)
