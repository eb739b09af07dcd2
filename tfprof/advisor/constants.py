"""RecomputedConstantChecker: constant results that every step computes anew."""

from __future__ import annotations

import re

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.columns import BoolArray
from tfprof.core.columns.findings import Finding, Gain
from tfprof.core.text.wording import plural, quoted, share_text, time_text

WARNING_SHARE = 0.01
"""Part of the time of all ops. It is low because constants are easy to move out of the step."""

MIN_MICROS = 100
"""Per step; less is noise."""

_NOT_A_FUNCTION_OF_ITS_INPUTS = re.compile(
    r"Random|Multinomial|TruncatedNormal|Shuffle|Dropout|Placeholder|Variable|VarHandle|Assign"
    r"|Iterator|Dataset|Queue|Reader|ReadFile|WriteFile|MatchingFiles|Restore|Save|Table|Lookup"
    r"|TensorArray|TensorList|Stack(?:V2|Push|Pop|Close)|Barrier|Mutex|Stage|Timestamp|Print"
    r"|Assert|PyFunc|Summary|Collective|Call$|^If$|^While$|^Case$|Stateless(?:If|While|Case)"
    r"|^(?:Ref)?(?:Enter|Exit|Switch|Merge|NextIteration)$|LoopCond|Send|Recv|Host|^_|NoOp"
    r"|TPU|Xla|Generator|Checkpoint|Resource|Handle|ShardedFilename|Const$"
)
"""Types with state, with side effects, or with a value that differs by run or iteration."""

_RULE = "RecomputedConstantChecker"
_LINK = "https://www.tensorflow.org/guide/graph_optimization"


def check_recomputed_constants(context: CheckContext) -> list[Finding]:
    """Ops that depend only on constants, but run in the steps."""
    total = float(context.micros.sum())
    rows = np.flatnonzero(_depends_on_constants(context) & (context.micros > 0))
    micros = context.micros[rows]
    spent = float(micros.sum())
    if spent < MIN_MICROS or spent < WARNING_SHARE * total:
        return []
    costliest = int(rows[int(micros.argmax())])
    message = (
        f"Nothing but constants goes into {plural(len(rows), 'op')}, yet every step computes the "
        f"results anew: {time_text(spent)} "
        f"({share_text(spent / total)} of all ops), most of it in "
        f"{quoted(context.profile.ops.name(costliest))} ({quoted(context.type_of(costliest))}). "
        "Compute the values once, with NumPy or into a variable; Grappler's constant folding does "
        "so by itself for results of moderate size, unless it is switched off."
    )
    evidence = {
        "op_count": len(rows), "op_micros": spent, "op_share": spent / total,
        "total_micros": total,
    }  # fmt: skip
    line = context.heaviest_line(rows, micros)
    gain = Gain(spent, "micros", "all time of these ops")
    return [Finding(_RULE, "warning", message, evidence, line, gain, _LINK)]


def _depends_on_constants(context: CheckContext) -> BoolArray:
    """Ops whose data inputs all come from constants, through stateless ops, shape (n ops,)."""
    ops = context.profile.ops
    strings = context.facts.strings
    stateless = np.array(
        [not _NOT_A_FUNCTION_OF_ITS_INPUTS.search(text) for text in strings], np.bool_
    )
    type_ids = context.facts.type_ids
    producers = ops.input_rows()
    is_data = ops.input_ports >= 0
    readers = np.repeat(np.arange(len(ops)), np.diff(ops.input_offsets()))[is_data]
    producers = producers[is_data]
    waiting = np.bincount(readers, minlength=len(ops))
    can_fold = stateless[type_ids] & (waiting > 0)

    known = producers >= 0
    order = np.argsort(producers[known], kind="stable")
    edges = readers[known][order].tolist()
    first = np.searchsorted(producers[known][order], np.arange(len(ops) + 1)).tolist()
    counts, foldable = waiting.tolist(), can_fold.tolist()
    constant = np.zeros(len(ops), np.bool_)
    pending = np.flatnonzero(context.is_type({"Const"})).tolist()
    while pending:  # visits only what follows from constants, a small part of a graph
        source = pending.pop()
        for reader in edges[first[source] : first[source + 1]]:
            counts[reader] -= 1
            if counts[reader] == 0 and foldable[reader]:
                constant[reader] = True
                pending.append(reader)
    return constant
