"""SmallOperationChecker: steps with very many very short ops."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import listing, quoted, share_text, time_text
from tfprof.profiles.accounting.accounting import Float64Array
from tfprof.profiles.model.executions import HOST

SMALL_OP_NANOS = 10_000
"""Below this, the executor's own work for an op, some microseconds, is significant."""

MIN_EXECUTIONS = 200
"""Per step; fewer small ops cost little."""

WARNING_SHARE, CRITICAL_SHARE = 0.4, 0.7
"""Part of the step in which only small ops run, or the executor between them."""

_RULE = "SmallOperationChecker"
_LINK = "https://www.tensorflow.org/guide/function"


def check_small_operations(context: CheckContext) -> list[Finding]:
    """Find many short ops on CPUs; on GPUs, KernelLaunchChecker finds short kernels."""
    if context.uses_gpu or not context.n_steps:
        return []
    nanos = 0
    n_small = 0
    by_op, counts = np.zeros((2, len(context.profile.ops)))
    for times in context.times:
        nanos_of_each = times.end_nanos - times.start_nanos
        small = (nanos_of_each < SMALL_OP_NANOS) & (times.kinds == HOST) & context.works_in(times)
        nanos += times.window_nanos - times.busy_nanos(~small)
        n_small += int(small.sum())
        rows = times.rows[small]
        by_op += np.bincount(rows, nanos_of_each[small] / 1000, minlength=len(by_op))
        counts += np.bincount(rows, minlength=len(by_op))
    step = context.window_micros
    micros, count = nanos / 1000 / context.n_steps, round(n_small / context.n_steps)
    if count < MIN_EXECUTIONS or micros < WARNING_SHARE * step:
        return []
    share = micros / step
    message = (
        f"{count} executions per step take less than {time_text(SMALL_OP_NANOS / 1000)} each; "
        f"during {share_text(share)} of the step ({time_text(micros)} of {time_text(step)}) "
        f"nothing larger runs. Most of them: {listing(_most_types(context, counts))}. Put the "
        "step into one compiled function (tf.function(jit_compile=True), XLA), process more "
        "elements per op, or use ops that do the work of several."
    )
    evidence = {
        "small_execution_count": count,
        "limit_micros": SMALL_OP_NANOS / 1000,
        "small_op_share": share,
        "small_op_micros": micros,
        "step_micros": step,
    }
    severity: Severity = "critical" if share >= CRITICAL_SHARE else "warning"
    line = context.heaviest_line(np.arange(len(by_op)), by_op)
    gain = Gain(micros, "micros", "the time of a step in which no larger op runs")
    return [Finding(_RULE, severity, message, evidence, line, gain, _LINK)]


def _most_types(context: CheckContext, counts: Float64Array) -> list[str]:
    """The op types that run most often."""
    sums = np.bincount(context.facts.type_ids, counts, minlength=len(context.facts.strings))
    largest = np.argsort(-sums, kind="stable")[:3].tolist()
    return [quoted(context.facts.strings[i]) for i in largest if sums[i] > 0]
