"""InputBoundChecker: steps that wait for their input."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import listing, quoted, share_text, time_text

INPUT_TYPES = frozenset(
    {
        *("IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional"),
        *("MultiDeviceIteratorGetNextFromShard", "OneShotIterator", "DatasetToSingleElement"),
        *("QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo"),
        *("QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"),
        *("ReaderRead", "ReaderReadV2", "ReaderReadUpTo", "ReaderReadUpToV2", "Unstage"),
        *("ReadFile", "DecodeJpeg", "DecodePng", "DecodeImage", "DecodeRaw", "DecodeCSV"),
        *("ParseExample", "ParseExampleV2", "ParseSingleExample"),
    }
)
"""Ops that fetch, read or decode input."""

WARNING_SHARE, CRITICAL_SHARE = 0.05, 0.2
"""TensorFlow's input-pipeline analysis rates a program as moderately or highly bound from here."""

MIN_WAIT_MICROS = 100
"""Scheduling alone takes up to this time."""

_RULE = "InputBoundChecker"
_LINK = "https://www.tensorflow.org/guide/data_performance"


def check_input(context: CheckContext) -> list[Finding]:
    """Find the time in which only input ops run.

    Input costs nothing while other ops compute, so that time does not count.
    """
    is_input = context.is_type(INPUT_TYPES)
    nanos = 0
    for times in context.times:
        reads = context.is_of(times, is_input)
        others = ~reads & (context.works_in(times) | (times.rows < 0))
        nanos += times.alone_nanos(reads, others)
    wait = nanos / 1000 / max(context.n_steps, 1)
    step = context.window_micros
    if wait < MIN_WAIT_MICROS or wait < WARNING_SHARE * step:
        return []
    rows = np.flatnonzero(is_input & (context.micros > 0))
    types = sorted({context.type_of(row) for row in rows.tolist()})
    message = (
        f"{share_text(wait / step)} of the step ({time_text(wait)} of {time_text(step)}) is spent "
        f"waiting for input: nothing runs but {listing([quoted(name) for name in types])}. "
        "Prepare batches ahead with Dataset.prefetch, and read and map elements in parallel "
        "(interleave, map with num_parallel_calls=tf.data.AUTOTUNE)."
    )
    severity: Severity = "critical" if wait >= CRITICAL_SHARE * step else "warning"
    evidence = {"wait_share": wait / step, "wait_micros": wait, "step_micros": step}
    line = context.heaviest_line(rows, context.micros[rows])
    gain = Gain(wait, "micros", "the time in which only input ops run")
    return [Finding(_RULE, severity, message, evidence, line, gain, _LINK)]
