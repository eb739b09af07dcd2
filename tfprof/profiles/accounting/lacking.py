"""What a profile does not hold of its ops, and why: an unknown number is not 0.

Each function gives the reason, empty if the number is known.
"""

from __future__ import annotations

import re

import numpy as np

from tfprof.core.columns.columns import BoolArray
from tfprof.graphs.model.variable_names import VARIABLE_OPS
from tfprof.profiles.accounting.what_ran import only_at_run_time
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import TRAINABLE_VARIABLES
from tfprof.profiles.model.steps import MEASURES, StepTable

NO_MEMORY = "no execution has memory statistics: the run was traced without them"

_NO_GRAPH = "there is no graph, only runs"
_UNDECLARED = "the graph uses variables and declares none; tfprof.trace(model) records a model's"
_UNMARKED = "which variables are trained stands in an op log, and there is none"
_OF_VARIABLES = re.compile(
    r"(Read|Assign(Add|Sub)?)VariableOp$|Resource(Sparse)?Apply|Resource(Gather|Scatter)"
)
"""Op types that use a variable."""
_MEMORY = [place for place, name in enumerate(MEASURES) if name.endswith("_bytes")]


def why_no_memory(steps: StepTable) -> str:
    """Why the memory of ops is unknown, if there are steps."""
    records = steps.records.values()
    return "" if any(each.values[_MEMORY].any() for each in records) else NO_MEMORY


def why_no_variables(ops: OpTable) -> str:
    """Why the variables of the program, and their parameters, are unknown."""
    if only_at_run_time(ops).all():
        return _NO_GRAPH
    if declares_variable(ops).any():
        return ""
    types = [ops.strings[type_id] for type_id in np.unique(ops.op_ids.array).tolist()]
    return _UNDECLARED if any(map(_OF_VARIABLES.match, types)) else ""


def why_no_trainable(ops: OpTable) -> str:
    """Why it is unknown which variables are trained."""
    if reason := why_no_variables(ops):
        return reason
    return _UNMARKED if declares_variable(ops).any() and not is_trainable(ops).any() else ""


def declares_variable(ops: OpTable) -> BoolArray:
    """Ops that declare a variable, shape (n,)."""
    wanted = np.array([text in VARIABLE_OPS for text in ops.strings.values], np.bool_)
    declares: BoolArray = wanted[ops.op_ids.array]
    return declares


def is_trainable(ops: OpTable) -> BoolArray:
    """Ops that hold a trainable variable, shape (n,)."""
    type_id = ops.strings.ids.get(TRAINABLE_VARIABLES, -1)
    has_type = np.zeros(len(ops), np.bool_)
    has_type[[row for row, ids in ops.added_types.items() if type_id in ids]] = True
    return declares_variable(ops) & has_type
